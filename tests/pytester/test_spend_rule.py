"""Money is spent only where it was asked for. Contract: product, 4."""

from __future__ import annotations

import pytest

from tests.pytester.conftest import StandInAgent, Suite


@pytest.fixture
def both(suite: Suite, agent: StandInAgent) -> Suite:
    """Return a suite with one case and, beside it, an ordinary test."""
    suite.case("first", front="runs: 1")
    suite.case("group/second", front="runs: 1")
    suite.pytester.makepyfile("def test_other(): pass")
    return suite


@pytest.mark.parametrize(
    ("arguments", "runs"),
    [
        ([], 0),
        (["."], 0),
        (["{root}"], 0),
        (["test_spends.py", "."], 0),
        (["--evals"], 4),
        ([".", "--evals"], 4),
        (["-o", "plugin_eval_auto=true"], 4),
        (["-o", "testpaths=evals ."], 0),
        (["-o", "testpaths=evals .", "--evals"], 4),
        (["evals"], 4),
        (["evals/group"], 2),
        (["evals/first"], 2),
        (["evals/first/prompt.md"], 2),
        (["evals/first::run[with-1]"], 1),
        ([".", "evals/first"], 2),
        (["{root}/evals"], 4),
    ],
    ids=lambda value: " ".join(value) or "nothing" if isinstance(value, list) else str(value),
)
def test_only_named_evals_run(
    both: Suite, agent: StandInAgent, arguments: list[str], runs: int
) -> None:
    both.pytester.makepyfile(test_spends="def test_spends(): pass")

    result = both.pytester.runpytest(*(one.format(root=both.root) for one in arguments))

    assert len(agent.requests) == runs
    assert result.ret == pytest.ExitCode.OK


def test_eval_directory_inside_a_named_one_is_named(both: Suite, agent: StandInAgent) -> None:
    both.case("group/evals/third", front="runs: 1")

    both.pytester.runpytest("evals", "-k", "third")

    assert len(agent.requests) == 2


def test_what_is_said_to_run_an_eval_directory_names_it(suite: Suite, agent: StandInAgent) -> None:
    suite.case("evals/grp/evals/first", front="runs: 1")
    told = "*run them with: pytest evals/evals/grp/evals *"

    result = suite.pytester.runpytest()

    result.stdout.fnmatch_lines([told])
    suite.pytester.runpytest("evals/evals/grp/evals")
    assert len(agent.requests) == 2


def test_how_to_run_them_is_said_for_where_the_reader_stands(
    both: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = both.pytester.mkdir("here")
    monkeypatch.chdir(here)

    result = both.pytester.runpytest("..", "--rootdir", str(both.root))

    result.stdout.fnmatch_lines(["run them with: pytest ../evals *"])


def test_standing_in_the_eval_directory_names_it_by_a_dot(
    both: Suite, agent: StandInAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(both.evals)

    both.pytester.runpytest(".", "--rootdir", str(both.root))

    assert len(agent.requests) == 4


def test_standing_in_the_eval_directory_without_argument_names_nothing(
    both: Suite, agent: StandInAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(both.evals)

    both.pytester.runpytest("--rootdir", str(both.root))

    assert agent.requests == []


@pytest.mark.parametrize("workers", ["0", "1"])
def test_summary_says_how_to_run_what_was_left_out(both: Suite, workers: str) -> None:
    result = both.pytester.runpytest("-n", workers)

    result.assert_outcomes(passed=1, deselected=4 if workers == "0" else 0)
    result.stdout.fnmatch_lines(
        ["2 eval cases not run: *money*", "run them with: pytest evals  (or add --evals)"]
    )


def test_replay_runs_without_being_named(both: Suite, agent: StandInAgent) -> None:
    both.records("first", "h", "g")
    both.records("group/second", "h", "g")

    both.replay().assert_outcomes(passed=5)

    assert agent.requests == []


def test_collect_only_starts_nothing(both: Suite, agent: StandInAgent) -> None:
    both.pytester.runpytest("evals", "--collect-only")

    assert agent.requests == []
    assert not (both.evals / "results").exists()
