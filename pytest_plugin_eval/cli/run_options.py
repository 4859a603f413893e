"""The options of `plugin-eval run`: their parsing, and the pytest options they become.

Names and accepted values are those of `claude plugin eval`. Spec: behaviour-evals, 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click

from pytest_plugin_eval.cases.discovery import normalised_eval_dir
from pytest_plugin_eval.cli import run_values
from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.text import did_you_mean, shown

__all__ = ["STDOUT", "RunOptions", "check_json_path", "checked", "converted", "spread_lists"]

STDOUT = "-"
"""What `--json` holds when no path follows it."""

_LISTS = ("--tag", "--allow-tools", "--disallow-tools")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What was asked for; ``None`` and empty mean: not given."""

    runs: int | None = None
    ablation: str | None = None
    threshold: float | None = None
    model: str | None = None
    judge_model: str | None = None
    max_cost_usd: float | None = None
    concurrency: int = 1
    case: str | None = None
    """An empty glob filters nothing, but stands in the document."""
    tag: tuple[str, ...] = ()
    allow_tools: tuple[str, ...] = ()
    disallow_tools: tuple[str, ...] = ()
    eval_dir: str | None = None
    trust_plugin: bool = False
    keep_temp: bool = False
    scaffold: bool = False
    mocks: str | None = None
    allow_real_servers: bool = False
    verbose: bool = False
    json: str | None = None
    output_dir: Path | None = None
    report: Path | None = None

    def pytest_arguments(self) -> list[str]:
        """Return the options in pytest's words, results directory and eval directory excepted."""
        words: list[str] = []
        for name in (
            "runs", "ablation", "threshold", "model", "judge_model", "max_cost_usd", "mocks",
        ):  # fmt: skip
            value = getattr(self, name)
            if value is not None:
                words.append(f"--eval-{name.replace('_', '-')}={value}")
        for name in ("tag", "allow_tools", "disallow_tools"):
            words += [f"--eval-{name.replace('_', '-')}={one}" for one in getattr(self, name)]
        if self.case is not None:
            words.append(f"--eval-case={self.case}")
        if self.report is not None:
            words.append(f"--eval-report={self.report}")
        words.append(f"--eval-concurrency={self.concurrency}")
        flags = {
            "--trust-plugin": self.trust_plugin,
            "--eval-keep-temp": self.keep_temp,
            "--eval-scaffold": self.scaffold,
            "--eval-allow-real-servers": self.allow_real_servers,
            "-v": self.verbose,
        }
        return words + [flag for flag, is_set in flags.items() if is_set]


def spread_lists(arguments: Sequence[str]) -> list[str]:
    """Write ``--tag a b`` as ``--tag a --tag b``, which is what click can read.

    As in the reference a list takes every word up to the next option.
    """
    spread: list[str] = []
    current: str | None = None
    for position, word in enumerate(arguments):
        if word == "--":
            return [*spread, *arguments[position:]]
        if word.startswith("-") and word != "-":
            current = None
        elif current is not None and spread[-1] != current:
            spread.append(current)
        spread.append(word)
        if word in _LISTS:
            current = word
    return spread


def checked(given: dict[str, object]) -> RunOptions:
    """Return the checked options, or raise `click.ClickException` naming the first bad one."""
    texts = {name: value for name, value in given.items() if isinstance(value, str)}
    _refuse(given)
    numbers: dict[str, object] = {
        "runs": converted("--runs", texts.get("runs"), run_values.runs),
        "threshold": converted("--threshold", texts.get("threshold"), run_values.share),
        "max_cost_usd": converted("--max-cost-usd", texts.get("max_cost_usd"), run_values.amount),
        "concurrency": converted("--concurrency", texts.get("concurrency"), run_values.at_once)
        or 1,
    }
    _choose("--ablation", texts.get("ablation"), ("none", "with-without"))
    _choose("--mocks", texts.get("mocks"), ("record", "off"))
    check_json_path(texts.get("json"))
    rest = {name: value for name, value in given.items() if name in RunOptions.__dataclass_fields__}
    rest |= {name: texts.get(name) or None for name in ("model", "judge_model")}
    for name in ("output_dir", "report"):
        rest[name] = Path(texts[name]).absolute() if texts.get(name) else None
    if texts.get("report") and Path(texts["report"]).is_dir():  # before anything is spent
        raise click.ClickException(
            f"--report: {shown(texts['report'])} is a directory, expected a file"
        )
    if rest["eval_dir"] is not None:
        rest["eval_dir"] = converted("--eval-dir", texts["eval_dir"], normalised_eval_dir, "")
    rest |= {name: run_values.tools(rest[name]) for name in ("allow_tools", "disallow_tools")}
    return RunOptions(**(rest | numbers))  # type: ignore[arg-type]  # click gives each its type


def _refuse(given: dict[str, object]) -> None:
    """Refuse what this project cannot do."""
    if given["publish_report"]:
        raise click.ClickException(
            "--publish-report: publishing to claude.ai is not possible with this command"
            + (", and --no-publish asks for the opposite" if given["no_publish"] else "")
        )


def check_json_path(path: str | None) -> None:
    """Refuse a path of ``--json`` that cannot be a document, or would replace something else."""
    if path in {None, STDOUT}:
        return
    if not str(path).endswith(".json"):
        raise click.ClickException(
            f"--json: the path must end in .json, got {shown(path)}; "
            "a target goes before --json, not after it"
        )
    if Path(str(path)).is_dir():  # before anything is spent
        raise click.ClickException(f"--json: {shown(path)} is a directory, expected a file")


def _choose(option: str, text: str | None, words: Sequence[str]) -> None:
    if text is not None and text not in words:
        expected = " or ".join(words)
        raise click.ClickException(
            f"{option}: expected {expected}, got {shown(text)}{did_you_mean(text, words)}"
        )


def converted(
    option: str, text: str | None, convert: Callable[[str], T], unset: str | None = None
) -> T | None:
    """Return the value of an option, or ``None`` when it was not given.

    Raises `click.ClickException`, naming the option, for what *convert* refuses.
    """
    # An empty value is an option not given, where *unset* does not say otherwise.
    if text is None or (unset is None and not text):
        return None
    try:
        return convert(text)
    except SettingsError as error:
        raise click.ClickException(f"{option}: {error}") from None
