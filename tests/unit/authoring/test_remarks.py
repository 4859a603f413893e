"""What a single try says of a case."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_plugin_eval.authoring.remarks import remarks
from pytest_plugin_eval.scoring.model import RunReport
from tests.support.results import case, case_info, lost, plan, run, verdict

ONCE = case_info(runs=plan(1, 1))


def _said(*runs: RunReport, should_trigger: bool = True) -> tuple[str, ...]:
    return remarks(case(ONCE, *runs), should_trigger=should_trigger)


def test_difference_made_by_the_plugin_is_not_remarked_on() -> None:
    assert _said(run("with-1", "P", case=ONCE), run("without-1", "F", case=ONCE)) == ()


def test_grader_that_fails_is_told_with_its_reason() -> None:
    failed = verdict("F", "flag\x1b[2J", explanation="no x\nanywhere")

    said = _said(run("with-1", (failed,), case=ONCE), run("without-1", "F", case=ONCE))

    assert said[0] == r"grader 'flag\x1b[2J' failed: no x anywhere"


def test_grader_that_passes_in_both_arms_is_told_and_so_is_the_case() -> None:
    assert _said(run("with-1", "PP", case=ONCE), run("without-1", "PP", case=ONCE)) == (
        "grader 'g1' passes without the plugin too, and tells nothing here",
        "grader 'g2' passes without the plugin too, and tells nothing here",
        "without the plugin it is as good: WITH 1.00, W/OUT 1.00",
    )


def test_grader_that_does_not_count_is_not_held_against_the_case() -> None:
    fired = verdict("P", "fired", scored=False)

    said = _said(run("with-1", (fired, verdict("P")), case=ONCE), run("without-1", "F", case=ONCE))

    assert said == ()


def test_case_for_staying_out_is_to_be_as_good_without_the_plugin() -> None:
    runs = (run("with-1", "P", case=ONCE), run("without-1", "P", case=ONCE))

    assert _said(*runs, should_trigger=False) == ()


def test_case_for_staying_out_that_did_not_is_told() -> None:
    called = verdict("F", "skill-stayed-out", explanation="Skill called 1x (expected 0..0)")

    said = _said(run("with-1", (called,), case=ONCE), should_trigger=False)

    assert said == ("grader 'skill-stayed-out' failed: Skill called 1x (expected 0..0)",)


@pytest.mark.parametrize(("name", "arm"), [("with-1", "WITH"), ("without-1", "W/OUT")])
def test_run_that_was_lost_is_told(name: str, arm: str) -> None:
    said = _said(lost(name, case=ONCE))

    assert said == (f"{arm} run not measured: API Error: 529 overloaded",)


def test_what_is_known_without_a_run_is_told_too() -> None:
    info = replace(ONCE, advisories=("grader 'x' needs Write",), hints=("grader 'y' cannot fail",))

    said = remarks(case(info, run("with-1", "P", case=info)), should_trigger=True)

    assert said == (
        "grader that cannot pass: grader 'x' needs Write",
        "hint: grader 'y' cannot fail",
    )
