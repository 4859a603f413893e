"""The summary table and the failure texts. Spec: behaviour-evals, 8.2."""

from __future__ import annotations

import re

import pytest

from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.reports.columns import cell, display_width, signed, wrapped
from pytest_plugin_eval.reports.table import table_lines, verdict_text
from pytest_plugin_eval.scoring.aggregate import suite_result
from pytest_plugin_eval.scoring.model import CaseResult, Plan, RunReport, SuiteResult
from tests.support.golden import check_golden
from tests.support.results import (
    aborted,
    attempted,
    case,
    case_info,
    judged_suite,
    lost,
    mixed_suite,
    plan,
    run,
    suite_info,
    verdict,
)


def _suite(*cases: CaseResult, partial: str | None = None, **fields: object) -> SuiteResult:
    return suite_result(suite_info(**fields), cases, partial_reason=partial)


def _row(lines: list[str], name: str) -> str:
    return next(line for line in lines if line.startswith(name))


def _note(*runs: RunReport, advisory: str = "") -> str:
    """Return the note of a case with these runs, planned as they are."""
    with_runs = sum(report.key.arm == "with" for report in runs)
    info = case_info(
        runs=plan(with_runs, len(runs) - with_runs),
        grader_advisories={"g1": advisory} if advisory else {},
    )
    lines = table_lines(_suite(case(info, *runs)), width=1000)
    return re.split(r"\$\d\.\d\d\s*", _row(lines, "first-case"), maxsplit=1)[1]


@pytest.mark.parametrize("width", [80, 120])
def test_table_of_two_arms(width: int) -> None:
    lines = table_lines(mixed_suite(), width=width, heading=True)

    assert max(map(display_width, lines)) <= width
    check_golden(f"table-{width}.txt", "\n".join(lines) + "\n")


def test_table_without_unicode() -> None:
    suite = mixed_suite(mode="replay", recorded="recorded 2026-01-31 with haiku", free_only=True)

    text = "\n".join(table_lines(suite, width=80, ascii_only=True)) + "\n"

    assert text.isascii()
    check_golden("table-80-ascii.txt", text)


@pytest.mark.parametrize("width", [80, 120])
def test_table_of_judged_runs(width: int) -> None:
    lines = table_lines(judged_suite(), width=width)

    assert max(map(display_width, lines)) <= width
    check_golden(f"judged-{width}.txt", "\n".join(lines) + "\n")


def test_table_of_judged_runs_without_unicode() -> None:
    text = "\n".join(table_lines(judged_suite(), width=80, ascii_only=True)) + "\n"

    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 80
    check_golden("judged-80-ascii.txt", text)


def test_table_of_one_arm() -> None:
    info = case_info(runs=plan(3, 0))
    runs = [run("with-1"), run("with-2", "PF"), run("with-3")]

    lines = table_lines(_suite(case(info, *runs)), width=80)

    assert lines == [
        "CASE        SCORE PASS% RUNS COST    NOTES",
        "first-case  0.83  67%   3    $0.03   g2: no x",
        "",
        "1 case · 0 passed · 12s · $0.03",
    ]


def test_table_without_cases() -> None:
    assert table_lines(_suite(partial="cost_ceiling"), width=80) == [
        "CASE  SCORE PASS% RUNS COST    NOTES",
        "",
        "0 cases · 12s · $0.00",
        "⚠ partial: cost ceiling reached, the rest was not started",
    ]


@pytest.mark.parametrize(
    ("runs", "note"),
    [
        ([run("with-1"), run("with-2")], ""),
        ([run("with-1"), run("with-2", "PF")], "g2: no x"),
        ([run("with-1", "PF"), run("with-2", "FF")], "g2: no x"),
        ([run("with-1", "FF")], "g1: no x"),
        ([run("with-1", (verdict("F", "a"), verdict("F", "b", weight=2)))], "b: no x"),
        (
            [run("with-1", (verdict("P", "a"), verdict("F", "b", with_only=True, scored=False)))],
            "b: no x",
        ),
        (
            [run("with-1", "F"), run("with-2", "P", ending=Ending.TIMED_OUT, error="too late")],
            "with-2: too late",
        ),
        ([run("with-1"), run("without-1", "F")], ""),
        (
            [run("with-1"), lost("without-1")],
            "1 of 2 runs not measured; Δ withheld: asymmetric loss: 1 of 1 without-runs not "
            "measured; without-1: API Error: 529 overloaded",
        ),
    ],
)
def test_note_is_the_first_error_or_the_heaviest_failure(runs: list[RunReport], note: str) -> None:
    assert _note(*runs) == note


def test_note_of_a_grader_that_could_not_pass_is_its_advisory() -> None:
    assert _note(run("with-1", "F"), advisory="grant Write") == "grant Write"


def test_control_characters_become_spaces() -> None:
    assert _note(run("with-1", (verdict("F", "a\x1b[2J", explanation="x\ny"),))) == "a [2J: x y"


def test_missing_runs_are_counted() -> None:
    result = case(None, run("with-1"), run("without-1"))

    row = _row(table_lines(_suite(result), width=120), "first-case")

    assert row == "first-case  1.00  1.00  0.00   2/6  $0.02   4 planned runs not made"


@pytest.mark.parametrize(
    ("partial", "words"),
    [
        ("interrupted", "interrupted"),
        ("auth_failed", "credentials refused"),
        ("cost_ceiling", "cost ceiling"),
    ],
)
def test_partial_results_say_why(partial: str, words: str) -> None:
    lines = table_lines(_suite(case(None, run("with-1")), partial=partial), width=80)

    assert any(line.startswith("⚠ partial: ") and words in line for line in lines)


def test_lost_runs_make_the_results_partial() -> None:
    lines = table_lines(_suite(case(None, run("with-1"), lost("with-2"))), width=120)

    assert (
        "⚠ partial: 1 of 2 runs not measured: left out of every mean, and their cases cannot pass"
        in lines
    )


def test_verdict_gives_the_row_and_the_failing_graders() -> None:
    runs = [run("with-1"), run("with-2", "PF"), lost("with-3"), run("without-1", "F")]

    text = verdict_text(case(None, *runs), threshold=1.0, selected=4, planned=6)

    check_golden("verdict.txt", text + "\n")


def test_verdict_tells_runs_that_took_several_attempts() -> None:
    runs = [attempted(run("with-1", "F"), 2), attempted(lost("with-2"), 3)]

    text = verdict_text(case(None, *runs), threshold=1.0, selected=6, planned=6)

    assert "with-1  score 0.00 (2 attempts): wrong" in text.splitlines()
    assert "with-2  not measured (3 attempts): API Error: 529 overloaded" in text.splitlines()


def test_verdict_of_too_small_a_difference_says_so_above_the_row() -> None:
    info = case_info(runs=plan(1, 1))
    result = case(info, run("with-1"), run("without-1"), min_delta=0.5)

    text = verdict_text(result, threshold=1.0, selected=2, planned=2)

    assert text == (
        "the base model does it already: WITH 1.00, W/OUT 1.00, so it is as good without the "
        "plugin\n"
        "first-case: Δ 0.00 is below --eval-min-delta 0.50\n\n"
        "CASE        WITH  W/OUT Δ      RUNS COST    NOTES\n"
        "first-case  1.00  1.00  0.00   2    $0.02"
    )


@pytest.mark.parametrize(
    ("runs", "graded", "why"),
    [
        (plan(1, 0), ["with-1"], "the case was run in one arm"),
        (plan(1, 1), ["with-1"], "no without-run was made"),
    ],
)
def test_verdict_without_a_difference_says_that_it_is_not_known(
    runs: Plan, graded: list[str], why: str
) -> None:
    result = case(case_info(runs=runs), *map(run, graded), min_delta=0.5)

    text = verdict_text(result, threshold=1.0, selected=1, planned=1)

    assert f"Δ is not known ({why}), and --eval-min-delta asks for 0.5" in text


def test_verdict_tells_a_score_just_below_the_threshold_from_it() -> None:
    graded = (verdict("P", "a", weight=999), verdict("F", "b", weight=1))
    result = case(case_info(runs=plan(1, 0)), run("with-1", graded))

    text = verdict_text(result, threshold=1.0, selected=1, planned=1)

    assert text.splitlines()[1] == "first-case: WITH 0.999 is below the threshold 1.000 (1 run)"


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("日本語", 6), ("e\u0301", 1), ("👍", 2), ("a\u200bb", 2)]
)
def test_width_is_that_of_the_terminal(text: str, width: int) -> None:
    assert display_width(text) == width


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "+0.50"), (-0.5, "-0.50"), (0.0, "0.00"), (-0.001, "0.00")]
)
def test_difference_has_a_sign_unless_it_is_zero(value: float, text: str) -> None:
    assert signed(value) == text


def test_word_longer_than_a_line_is_broken() -> None:
    lines = wrapped("x" * 45 + " 日本", 24, "  ")

    assert lines == ["  " + "x" * 22, "  " + "x" * 22, "  x 日本"]


def test_cell_escapes_what_ascii_lacks() -> None:
    assert cell("Δ é ✓", ascii_only=True) == r"delta \xe9 +"


def test_aborted_run_is_told_as_its_reason() -> None:
    told = "aborted by mock tracker/find: x is bad"

    text = verdict_text(
        case(case_info(runs=plan(2, 0)), run("with-1"), aborted("with-2")),
        threshold=1.0,
        selected=2,
        planned=2,
    )

    assert text.splitlines()[:2] == [
        "aborted by a mock in 1 of 2 runs: tracker/find: x is bad",
        "first-case: WITH 0.50 is below the threshold 1.00 (2 runs)",
    ]
    assert f"with-2  score 0.00: {told}" in text.splitlines()
    assert _note(run("with-1"), aborted("with-2")) == f"with-2: {told}"
