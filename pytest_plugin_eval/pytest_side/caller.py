"""How the reader started the session, for commands that they can copy."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import pytest

from pytest_plugin_eval.pytest_side.option_table import OPTIONS, Option
from pytest_plugin_eval.pytest_side.stash import settings_key, workbench_key
from pytest_plugin_eval.reports.next_steps import Caller
from pytest_plugin_eval.settings import Mode

__all__ = ["caller_of", "told_options"]

_OF_ONE_SESSION = frozenset(
    {
        "--eval-concurrency",
        "--eval-depth",
        "--eval-html",
        "--eval-json",
        "--eval-max-cost-usd",
        "--eval-min-composite",
        "--eval-plugin-id",
        "--eval-report-only",
        "--eval-results-dir",
        "--eval-resume",
        "--eval-root",
        "--eval-runs",
        "--eval-score",
        "--eval-shard",
        "--evals",
    }
)
"""What a further session of one run or case has no use for."""
_OF_PYTEST = ("-c", "--config-file", "--rootdir", "-o", "--override-ini")
"""Options of pytest's own that decide what is found or set; each takes one value."""


def caller_of(config: pytest.Config, case: str) -> Caller:
    """Return how the session was started, seen from the case of that node id."""
    settings = config.stash[settings_key]
    remote = config.stash[workbench_key].remote
    here = config.invocation_params.dir if remote is None else remote.here
    rootdir = config.rootpath if remote is None else remote.rootdir
    root = None
    if settings.root is not None:
        root = settings.plugin_id or os.path.relpath(settings.root, here)
    return Caller(
        case_path=os.path.relpath(rootdir / case, here),
        root=root,
        told=tuple(told_options(config.invocation_params.args)),
        is_replay=settings.mode is Mode.REPLAY,
        here=str(here),
    )


def told_options(arguments: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    """Yield the options that a further session needs too, as ``--name=value`` or a flag."""
    words = list(map(str, arguments))
    by_name = {option.name: option for option in OPTIONS}
    for position, word in enumerate(words):
        if word == "--":
            return
        name, separator, _ = word.partition("=")
        if name in _OF_PYTEST:
            yield from _pytest_option(word, words[position + 1 : position + 2], bool(separator))
        elif name in by_name and name not in _OF_ONE_SESSION:
            yield from _own_option(by_name[name], word, words[position + 1 :], bool(separator))


def _own_option(option: Option, word: str, rest: Sequence[str], is_whole: bool) -> Iterator[str]:
    if option.convert is None or is_whole:
        yield word
        return
    for value in rest[: None if option.many else 1]:
        if value.startswith("-"):
            return
        yield f"{word}={value}"


def _pytest_option(word: str, rest: Sequence[str], is_whole: bool) -> Iterator[str]:
    if is_whole:
        yield word
    elif rest and word.startswith("--"):
        yield f"{word}={rest[0]}"
    elif rest:
        yield from (word, rest[0])
