"""`--lf`, `--ff` and `--sw` with runs and verdicts."""

from __future__ import annotations

import json

import pytest

from tests.pytester.conftest import Suite


@pytest.fixture
def two(suite: Suite) -> Suite:
    """Return a suite whose case `a` passes and whose case `b` fails by its verdict alone."""
    suite.case("a")
    suite.records("a", "hh", "g")
    suite.case("b")
    suite.records("b", "gg", "g")
    return suite


HALF = ("--eval-threshold", "0.5")


@pytest.mark.parametrize("workers", ["0", "2"])
def test_lf_after_failed_verdict_reruns_that_case(two: Suite, workers: str) -> None:
    two.replay("evals", "-n", workers, *HALF).assert_outcomes(passed=3, failed=1)

    again = two.replay("evals", "--lf", "-v", *HALF)

    output = again.stdout.str()
    assert "evals/b::run[with-1]" in output
    assert "evals/b::run[without-1]" in output
    assert "evals/a::" not in output


def test_lf_after_a_failed_run_reruns_that_run(two: Suite) -> None:
    two.replay("evals", "-k", "with-1", "--deselect", "evals/b::run[with-2]")

    again = two.replay("evals", "--lf", "-v")

    ids = {line.split()[0] for line in again.outlines if line.startswith("evals/b::run")}
    assert "evals/b::run[with-1]" in ids
    assert "evals/a::run" not in again.stdout.str()


def test_lf_selects_exactly_the_failed_run_of_a_case(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "hgh")
    suite.replay("evals", "--eval-report-only")
    cache = suite.root / ".pytest_cache" / "v" / "cache" / "lastfailed"
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text(json.dumps({"evals/first::run[with-2]": True}), encoding="utf-8")

    again = suite.replay("evals", "--lf", "-v")

    assert "evals/first::run[with-2] FAILED" in again.stdout.str()
    assert "evals/first::run[with-1]" not in again.stdout.str()


def test_ff_runs_the_failed_case_first(two: Suite) -> None:
    two.replay("evals", *HALF)

    again = two.replay("evals", "--ff", "-v", *HALF)

    runs = [line.split()[0] for line in again.outlines if "::run[" in line]
    assert runs[0].startswith("evals/b::")


def test_sw_continues_at_the_case_whose_verdict_failed(two: Suite) -> None:
    first = two.replay("evals", "--sw", "-v", *HALF)
    assert "evals/b::score FAILED" in first.stdout.str()

    again = two.replay("evals", "--sw", "-v", *HALF)

    assert "evals/a::" not in again.stdout.str()
    assert "evals/b::run[with-1]" in again.stdout.str()


def test_cache_of_a_session_without_evals_is_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_score(): assert False")
    pytester.runpytest()

    pytester.runpytest("--lf").assert_outcomes(failed=1)
