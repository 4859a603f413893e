"""What graded runs together suggest that no single verdict says; no score depends on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_plugin_eval.cases.case import PAID_TYPES
from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.scoring.model import RunReport, Verdict, VerdictStatus
from pytest_plugin_eval.text import plural, shown

__all__ = ["judge_hints"]

# Of the runs that did all else right; a judge that fails fewer of them may have seen a difference.
LARGE_SHARE = 0.5


def judge_hints(runs: Iterable[RunReport]) -> tuple[str, ...]:
    """Return which judge graders mostly fail runs that used the skill and passed all else.

    A small judge is known to fail right answers for their form. Votes that are split or cannot be
    read have other reasons, and are told of elsewhere. One text for each such grader of a case, in
    the order of the runs.
    """
    failed: dict[tuple[str, str], int] = {}
    unclear: set[tuple[str, str]] = set()
    good: dict[tuple[str, str], int] = {}
    for run in runs:
        if run.key.arm is not Arm.WITH or not _did_all_else(run):
            continue
        for verdict in run.verdicts:
            if verdict.type in PAID_TYPES and verdict.votes:
                name = (run.key.case, verdict.grader)
                good[name] = good.get(name, 0) + 1
                failed[name] = failed.get(name, 0) + (verdict.status is VerdictStatus.FAILED)
                if len(set(verdict.votes)) > 1 or verdict.unreadable_votes:
                    unclear.add(name)
    return tuple(
        _text(case, grader, count, good[case, grader])
        for (case, grader), count in failed.items()
        if count and count >= LARGE_SHARE * good[case, grader] and (case, grader) not in unclear
    )


def _text(case: str, grader: str, count: int, good: int) -> str:
    return (
        f"{case}: grader {shown(grader)} failed {count} of {plural(good, 'run')} that used the "
        "skill and passed all that needs no judge; read these answers before you change the "
        "skill, since a small judge may fail a right one for its form: plugin-eval rescore with "
        "--judge-model asks another"
    )


def _did_all_else(run: RunReport) -> bool:
    """Say whether a grader saw the skill used, and every grader without a judge passed."""
    plain = [verdict for verdict in run.verdicts if verdict.type not in PAID_TYPES]
    skill = {str(grader["name"]) for grader in run.case.graders if _wants_skill(grader)}
    return any(verdict.grader in skill for verdict in plain) and all(map(_passed, plain))


def _passed(verdict: Verdict) -> bool:
    return verdict.status is VerdictStatus.PASSED


def _wants_skill(grader: Mapping[str, object]) -> bool:
    config = grader.get("config")
    return (
        grader.get("type") == "tool_used"
        and isinstance(config, Mapping)
        and config.get("tool") == "Skill"
        and config.get("min") != 0
    )
