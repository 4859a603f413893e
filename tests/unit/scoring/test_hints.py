"""What graded runs together suggest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_plugin_eval.scoring.hints import judge_hints
from pytest_plugin_eval.scoring.model import RunReport
from tests.support.results import case_info, run, verdict

SKILL: dict[str, object] = {"name": "fired", "type": "tool_used", "config": {"tool": "Skill"}}


def _run(
    letters: str, number: int, *, arm: str = "with", skill: dict[str, object] | None = None
) -> RunReport:
    """Return a run: a letter for the skill's grader, a plain one and the judge's."""
    fired, plain, judged = tuple(letters)
    votes = None if judged == "E" else (judged == "P",) * 3
    verdicts = (
        replace(verdict(fired, "fired"), type="tool_used", with_only=True, scored=False),
        verdict(plain, "plain"),
        replace(verdict(judged, "nice"), type="llm", votes=votes),
    )
    info = replace(case_info(), graders=(skill or SKILL,))
    return run(f"{arm}-{number}", verdicts, case=info)


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ("PPF", "1 of 1 run"),
        ("PPF PPF PPP", "2 of 3 runs"),
        ("PPF PPP", "1 of 2 runs"),
        ("PPF FPF PFF", "1 of 1 run"),
    ],
)
def test_judge_that_fails_what_all_others_pass_is_told(runs: str, said: str) -> None:
    [text] = judge_hints(_run(letters, number) for number, letters in enumerate(runs.split(), 1))

    assert text.startswith(f"evals/first-case: grader 'nice' failed {said} that used the skill")


@pytest.mark.parametrize("runs", ["PPP", "PPF PPP PPP", "FPF", "PFF", "PPE", ""])
def test_judge_that_may_be_right_is_not_told(runs: str) -> None:
    graded = [_run(letters, number) for number, letters in enumerate(runs.split(), 1)]

    assert judge_hints(graded) == ()


@pytest.mark.parametrize(
    ("votes", "unreadable"),
    [((False, False, True), 0), ((False, False, False), 1)],
    ids=["split", "unreadable"],
)
def test_votes_that_say_little_of_the_answer_are_no_reason(
    votes: tuple[bool, ...], unreadable: int
) -> None:
    doubtful = _run("PPF", 1)
    *plain, judged = doubtful.verdicts
    judged = replace(judged, votes=votes, unreadable_votes=unreadable)
    doubtful = replace(doubtful, verdicts=(*plain, judged))

    assert judge_hints([doubtful, _run("PPF", 2)]) == ()


def test_runs_without_the_plugin_do_not_count() -> None:
    assert judge_hints([_run("PPF", 1, arm="without")]) == ()


@pytest.mark.parametrize(
    "skill",
    [
        {**SKILL, "config": {"tool": "Skill", "min": 0, "max": 0}},
        {**SKILL, "config": {"tool": "Read"}},
        {**SKILL, "type": "regex", "config": {"pattern": "x"}},
        {**SKILL, "name": "another"},
    ],
)
def test_run_needs_a_grader_that_saw_the_skill(skill: dict[str, object]) -> None:
    assert judge_hints([_run("PPF", 1, skill=skill)]) == ()
