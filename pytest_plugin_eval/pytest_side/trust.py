"""Trust is asked for where somebody can answer, and nowhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.pytest_side.stash import settings_key
from pytest_plugin_eval.settings import Mode
from pytest_plugin_eval.storage.trust import remember, trust_file, trust_root, untrusted
from pytest_plugin_eval.text import one_line, without_surrogates

__all__ = ["check_trust", "ci_variable"]

# What CI services set; nobody sits at the terminal that some of them have.
_CI = ("CI", "BUILD_NUMBER", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD")
_YES = ("y", "yes")


def check_trust(config: pytest.Config, directories: Iterable[Path]) -> None:
    """Go on when the user trusts the plugins in *directories*; ask when that is possible.

    Raises `SettingsError`, naming the directory and the option to pass, when it is not, or when the
    answer is no. A replay runs nothing of a plugin's.
    """
    settings = config.stash[settings_key]
    # Whoever installed a plugin trusts it; named by path, its directory is one like any other.
    if settings.trust or settings.plugin_id is not None or settings.mode is Mode.REPLAY:
        return
    file = trust_file(os.environ)
    plugins = tuple(directories)
    missing = untrusted(plugins, file)
    if not missing:
        return
    questions = {root: _question(root, plugins) for root in missing}
    given = () if hasattr(config, "workerinput") else tuple(_asked(config, questions))
    for root in missing:
        if root not in given:
            raise SettingsError(
                f"{_shown(root)} is not a trusted plugin directory, and its hooks, servers and"
                f" scripts would run as you; pass --trust-plugin{_other_way(config)}"
            )
    try:
        remember(given, file)
    except OSError as error:
        raise SettingsError(
            f"{file}: cannot be written: {error.strerror}; pass --trust-plugin"
        ) from error


def _other_way(config: pytest.Config) -> str:
    """Return what else there is than the option, for the end of a refusal."""
    if config.stash[settings_key].root is not None:
        return ""  # of `plugin-eval run`, which scripts start
    name = ci_variable()
    return (
        ", or start pytest in a terminal and answer"
        if name is None
        else f": nobody is asked where the variable {name} is set, as CI services do"
    )


def ci_variable() -> str | None:
    """Return the variable by which a CI service is known, ``None`` where a person may answer."""
    return next((name for name in _CI if os.environ.get(name)), None)


def _question(root: Path, plugins: Iterable[Path]) -> str:
    """Return what is asked about a root, naming the plugins where it is a whole repository."""
    if not (root / ".git").exists():
        return (
            f"{_shown(root)}\n  is not a trusted plugin directory. Hooks, servers and scripts"
            " of the plugin run as you.\n  Trust it and remember that? [y/N] "
        )
    from pytest_plugin_eval.cases.manifest import manifest_of

    names = sorted(
        {manifest_of(str(one)).plugin.name for one in plugins if trust_root(one) == root}
    )
    whose = "the plugin" if len(names) == 1 else "the plugins"
    return (
        f"{_shown(root)}\n  is not a trusted repository. Hooks, servers and scripts of {whose}"
        f" {_clean(', '.join(names))} in it run as you.\n"
        "  Trust the whole repository, with every plugin in it, and remember that? [y/N] "
    )


def _asked(config: pytest.Config, questions: Mapping[Path, str]) -> Iterator[Path]:
    """Yield the roots that the user says to trust; stop at the first that is not."""
    if ci_variable() is not None:
        return
    with _terminal(config) as is_there:
        for root, question in questions.items() if is_there else ():
            # What pytest says of the collection has no end yet.
            sys.__stdout__.write(f"\n{question}")  # type: ignore[union-attr]  # it is a terminal
            sys.__stdout__.flush()  # type: ignore[union-attr]  # as above
            answer = sys.__stdin__.readline()  # type: ignore[union-attr]  # as above
            if answer.strip().lower() not in _YES:
                return
            yield root


def _shown(root: Path) -> str:
    # The name is the plugin's author's choice, and must not write over the question.
    return _clean(str(root))


def _clean(text: str) -> str:
    return without_surrogates(one_line(text))


@contextmanager
def _terminal(config: pytest.Config) -> Iterator[bool]:
    """Give pytest's hold of input and output up for a while; tell whether a person is there."""
    capture = config.pluginmanager.get_plugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)
    try:
        streams = (sys.__stdin__, sys.__stdout__)
        yield all(stream is not None and stream.isatty() for stream in streams)
    finally:
        if capture is not None:
            capture.resume_global_capture()
