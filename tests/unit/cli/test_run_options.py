"""The command line of `plugin-eval run`."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pytest_plugin_eval.cli import run_command
from pytest_plugin_eval.cli.run_options import STDOUT, RunOptions, spread_lists


class _Seen:
    """Stands for the run itself: keeps what the command line came to."""

    def __init__(self) -> None:
        self.target = ""
        self.options = RunOptions()

    def __call__(self, target: str, options: RunOptions) -> int:
        self.target, self.options = target, options
        return 0


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> _Seen:
    seen = _Seen()
    monkeypatch.setattr(run_command, "run_evals", seen)
    return seen


def invoke(*arguments: str) -> str:
    """Return what the command said of its options; empty if nothing was wrong with them."""
    result = CliRunner().invoke(run_command.run, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.output.strip()


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("--runs", "4", 4),
        ("--runs", "1.5", 1),
        ("--runs", "2abc", 2),
        ("--runs", "1e1", 10),
        ("--runs", " 2 ", 2),
        ("--runs", "", None),
        ("--runs", "99", 99),
        ("-j", "8", 8),
        ("--concurrency", "1", 1),
        ("--threshold", ".5", 0.5),
        ("--threshold", "1e-1", 0.1),
        ("--threshold", "0", 0.0),
        ("--threshold", "", None),
        ("--max-cost-usd", "0", 0.0),
        ("--max-cost-usd", "2.5", 2.5),
        ("--max-cost-usd", "", None),
        ("--ablation", "none", "none"),
        ("--ablation", "with-without", "with-without"),
        ("--model", "haiku", "haiku"),
        ("--model", "", None),
        ("--judge-model", "haiku", "haiku"),
        ("--case", "", ""),
        ("--case", "a*", "a*"),
        ("--eval-dir", "./qa//x/", "qa/x"),
        ("--output-dir", "/out", Path("/out")),
        ("--json", "a/b.json", "a/b.json"),
    ],
)
def test_value(seen: _Seen, option: str, text: str, value: object) -> None:
    said = invoke(option, text)

    name = {"-j": "concurrency"}.get(option, option.removeprefix("--").replace("-", "_"))
    assert (said, getattr(seen.options, name)) == ("", value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--runs", "0"], "--runs: expected a whole number above 0, got '0'"),
        (["--runs", "-1"], "--runs: expected a whole number above 0, got '-1'"),
        (["--runs", "abc"], "--runs: expected a whole number above 0, got 'abc'"),
        (["--runs", "0x2"], "--runs: expected a whole number above 0, got '0x2'"),
        (["-j", "0"], "--concurrency: expected a whole number from 1 to 8, got '0'"),
        (["-j", "9"], "--concurrency: expected a whole number from 1 to 8, got '9'"),
        (["-j", "2.5"], "--concurrency: expected a whole number from 1 to 8, got '2.5'"),
        (["--threshold", "1.5"], "--threshold: expected a number from 0 to 1, got '1.5'"),
        (["--threshold", "-0.1"], "--threshold: expected a number from 0 to 1, got '-0.1'"),
        (["--threshold", "50%"], "--threshold: expected a number from 0 to 1, got '50%'"),
        (["--threshold", "NaN"], "--threshold: expected a number from 0 to 1, got 'NaN'"),
        (["--max-cost-usd", "-1"], "--max-cost-usd: expected a number of at least 0, got '-1'"),
        (["--max-cost-usd", "x"], "--max-cost-usd: expected a number of at least 0, got 'x'"),
        (["--ablation", ""], "--ablation: expected none or with-without, got ''"),
        (
            ["--ablation", "with-witout"],
            "--ablation: expected none or with-without, got 'with-witout', "
            "did you mean 'with-without'?",
        ),
        (["--mocks", "on"], "--mocks: expected record or off, got 'on'"),
        (["--report", "."], "--report: '.' is a directory, expected a file"),
        (
            ["--publish-report"],
            "--publish-report: publishing to claude.ai is not possible with this command",
        ),
        (
            ["--json", "evals"],
            "--json: the path must end in .json, got 'evals'; a target goes before --json, "
            "not after it",
        ),
        (
            ["--eval-dir", "../x"],
            "--eval-dir: '../x' leaves the plugin's root",
        ),
    ],
)
def test_refused(seen: _Seen, arguments: list[str], message: str) -> None:
    assert invoke(*arguments) == f"Error: {message}"
    assert seen.target == ""


def test_accepted_for_nothing(seen: _Seen) -> None:
    said = invoke("--no-publish", "--no-scaffold", "--mocks", "record", "--verbose")

    assert (said, seen.target) == ("", ".")


@pytest.mark.parametrize(
    ("arguments", "scaffold"),
    [
        (["--scaffold"], True),
        (["--scaffold", "--no-scaffold"], False),
        (["--no-scaffold", "--scaffold"], True),
        ([], False),
    ],
)
def test_last_word_on_scaffold_counts(seen: _Seen, arguments: list[str], scaffold: bool) -> None:
    assert invoke(*arguments) == ""
    assert seen.options.scaffold is scaffold
    assert ("--eval-scaffold" in seen.options.pytest_arguments()) is scaffold


def test_target_and_lists(seen: _Seen) -> None:
    invoke("plugin", "second", "--tag", "a", "b c", "--tag", "d", "--allow-tools", "Write", "Edit")

    assert seen.target == "plugin"
    assert (seen.options.tag, seen.options.allow_tools) == (("a", "b c", "d"), ("Write", "Edit"))


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        ("Write,Edit", ("Write", "Edit")),
        ("Write, Edit  Agent", ("Write", "Edit", "Agent")),
        ("Write(in/**),mcp__x__*", ("Write(in/**)", "mcp__x__*")),
        ("Bash(git log, a b),Read", ("Bash(git log, a b)", "Read")),
        ("Bash((", ("Bash((",)),
        (",", ()),
    ],
)
def test_tools_are_split(seen: _Seen, text: str, tools: tuple[str, ...]) -> None:
    invoke("--allow-tools", text, "--disallow-tools", text)

    assert seen.options.allow_tools == seen.options.disallow_tools == tools


def test_json_without_a_path(seen: _Seen) -> None:
    invoke("plugin", "--json", "--runs", "1")

    assert (seen.options.json, seen.options.runs) == (STDOUT, 1)


def test_last_case_wins(seen: _Seen) -> None:
    invoke("--case", "a", "--case", "b")

    assert seen.options.case == "b"


@pytest.mark.parametrize(
    ("given", "spread"),
    [
        ("run --tag a b", "run --tag a --tag b"),
        ("--tag a -j 2 b", "--tag a -j 2 b"),
        ("--tag=a b", "--tag=a b"),
        (
            "--allow-tools A --disallow-tools B C",
            "--allow-tools A --disallow-tools B --disallow-tools C",
        ),
        ("--tag a -- b c", "--tag a -- b c"),
        ("--tag a - b", "--tag a --tag - --tag b"),
        ("--tag", "--tag"),
    ],
)
def test_spread_lists(given: str, spread: str) -> None:
    assert spread_lists(given.split()) == spread.split()


def test_pytest_arguments() -> None:
    options = RunOptions(
        runs=2, ablation="none", threshold=0.5, model="m", max_cost_usd=0.0, concurrency=4,
        case="", tag=("-x", "b c"), allow_tools=("Write",), trust_plugin=True, keep_temp=True,
        verbose=True, json=STDOUT,
    )  # fmt: skip

    assert options.pytest_arguments() == [
        "--eval-runs=2", "--eval-ablation=none", "--eval-threshold=0.5", "--eval-model=m",
        "--eval-max-cost-usd=0.0", "--eval-tag=-x", "--eval-tag=b c", "--eval-allow-tools=Write",
        "--eval-case=", "--eval-concurrency=4", "--trust-plugin", "--eval-keep-temp", "-v",
    ]  # fmt: skip


def test_every_option_of_the_reference_is_known() -> None:
    known = {
        name for option in run_command.run.params for name in (*option.opts, *option.secondary_opts)
    }

    assert known >= {
        "--ablation", "--allow-real-servers", "--allow-tools", "--case", "-j", "--concurrency",
        "--disallow-tools", "--eval-dir", "--json", "--judge-model", "--keep-temp",
        "--max-cost-usd", "--mocks", "--model", "--no-publish", "--no-scaffold", "--output-dir",
        "--publish-report", "--report", "--runs", "--scaffold", "--tag", "--threshold",
        "--trust-plugin", "--verbose",
    }  # fmt: skip
    assert isinstance(run_command.run, click.Command)
