"""The command to try next: right for the cause, the session and a shell."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from pytest_plugin_eval.pytest_side.caller import told_options
from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.reports.next_steps import Caller, case_step, run_step
from pytest_plugin_eval.scoring.causes import CauseKind, run_causes
from pytest_plugin_eval.scoring.model import RunReport
from tests.support.results import aborted, case_info, judged, lost, run, unjudged, verdict

PYTEST = Caller(case_path="evals/first-case", here="/plugin")
RUN = replace(PYTEST, root=".")
REPLAY = replace(PYTEST, is_replay=True, told=("--eval-mode=replay",))
NODE = "pytest 'evals/first-case::run[with-2]'"
RESCORE = "plugin-eval rescore evals/results/2026 --case=first-case"
SKILL = {"name": "used", "type": "tool_used", "config": {"tool": "Skill"}}
INFO = replace(
    case_info(grader_advisories={"g1": "no Write"}),
    grader_grants={"g1": "Write"},
    source_file="/plugin/evals/first-case/prompt.md",
    plugins=({"name": "demo", "path": "/plugin"},),
)
SKILLED = replace(INFO, graders=(SKILL,), grader_advisories={})


def _made(*graded: object, ending: Ending = Ending.COMPLETED, **fields: object) -> RunReport:
    report = run("with-2", graded, ending=ending, case=fields.pop("case", SKILLED))  # type: ignore[arg-type]  # verdicts, and a case
    return replace(report, **fields)  # type: ignore[arg-type]  # fields of a test's choice


UNTRIGGERED = _made(verdict("F", "used"), skills_called=())
WRONG = _made(verdict("F"), skills_called=("x",))


@pytest.mark.parametrize(
    ("report", "caller", "command"),
    [
        (UNTRIGGERED, PYTEST, "pytest evals/first-case --eval-runs=10"),
        (UNTRIGGERED, RUN, "plugin-eval run . --case=first-case --runs=10"),
        (UNTRIGGERED, REPLAY, "pytest evals/first-case --eval-runs=10 --eval-mode=live"),
        (WRONG, PYTEST, f"{NODE} --eval-keep-temp"),
        (WRONG, RUN, "plugin-eval run . --case=first-case --keep-temp"),
        (WRONG, REPLAY, f"{NODE} --eval-keep-temp --eval-mode=live"),
        (_made(ending=Ending.NOT_LOADED), PYTEST, "plugin-eval score ."),
        (_made(judged("F", "PFF")), PYTEST, f"{RESCORE} --votes=7"),
        (_made(judged("F", "F??")), PYTEST, f"{RESCORE} --judge-model=sonnet"),
        (_made(unjudged("E", "529")), PYTEST, RESCORE),
        (_made(verdict("E", "slow")), PYTEST, f"{RESCORE} --no-judge"),
        (_made(unjudged("S", "ceiling")), PYTEST, RESCORE),
        (_made(verdict("F"), ending=Ending.TURN_LIMIT), PYTEST, NODE),
        (_made(verdict("F"), ending=Ending.TIMED_OUT), PYTEST, NODE),
        (_made(verdict("F"), ending=Ending.STOPPED), PYTEST, NODE),
        (aborted("with-2"), PYTEST, f"{NODE} --eval-keep-temp"),
        (lost("with-2"), PYTEST, NODE),
        (lost("with-2"), REPLAY, "pytest evals/first-case --eval-mode=record"),
        (
            _made(verdict("F", "g1"), case=INFO),
            PYTEST,
            "pytest evals/first-case --eval-allow-tools=Write",
        ),
        (
            _made(verdict("F", "g1"), case=INFO),
            RUN,
            "plugin-eval run . --case=first-case --allow-tools=Write",
        ),
        (_made(verdict("F", "g1"), case=replace(INFO, grader_grants={})), PYTEST, NODE),
    ],
)
def test_command_of_a_run_fits_cause_and_session(
    report: RunReport, caller: Caller, command: str
) -> None:
    step = run_step(run_causes(report)[0], report, caller)

    assert step is not None
    assert step.command == command


def test_every_cause_has_a_step() -> None:
    of_cases = {CauseKind.WORSE, CauseKind.NO_GAIN, CauseKind.SMALL_GAIN, CauseKind.NOT_MADE}

    assert all(case_step(kind, INFO, PYTEST) for kind in of_cases)
    assert not any(case_step(kind, INFO, PYTEST) for kind in set(CauseKind) - of_cases)


@pytest.mark.parametrize("name", ["it's", "a b", "$(rm -rf x)", "x;y", "Δ", "-dash"])
def test_names_are_quoted_for_a_shell(name: str) -> None:
    caller = replace(PYTEST, case_path=f"evals/{name}", root=None)

    step = run_step(run_causes(WRONG)[0], WRONG, caller)

    assert step is not None
    words = shlex.split(step.command)
    assert words == ["pytest", f"evals/{name}::run[with-2]", "--eval-keep-temp"]


def test_trial_with_more_runs_is_not_recorded() -> None:
    caller = replace(PYTEST, told=("--eval-mode=record", "--trust-plugin"))

    step = case_step(CauseKind.WORSE, INFO, caller)

    assert step is not None
    assert step.command == "pytest evals/first-case --trust-plugin --eval-runs=10"


def test_grader_that_contradicts_itself_is_mended_by_its_author() -> None:
    grader = {"name": "g1", "type": "tool_used", "config": {"tool": "Skill", "max": 0}}
    info = replace(INFO, graders=(grader,), grader_advisories={}, grader_grants={})
    report = _made(verdict("F", "g1"), case=info)

    step = run_step(run_causes(report)[0], report, PYTEST)

    assert step is not None
    assert step.why.startswith("write a min that is no more than max")


def test_cap_is_named_with_the_file_that_sets_it() -> None:
    report = _made(verdict("F"), ending=Ending.TURN_LIMIT)

    step = run_step(run_causes(report)[0], report, PYTEST)

    assert step is not None
    assert step.why == "raise max_turns, now 10, in evals/first-case/prompt.md, then"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("evals --trust-plugin -v", ["--trust-plugin"]),
        ("evals --eval-threshold 0.5 -x", ["--eval-threshold=0.5"]),
        (
            "evals --eval-allow-tools Read Write -q --eval-model=haiku",
            ["--eval-allow-tools=Read", "--eval-allow-tools=Write", "--eval-model=haiku"],
        ),
        ("evals --eval-runs 3 --eval-json=x.json --evals", []),
        ("-c other.ini -o a=b --rootdir=x", ["-c", "other.ini", "-o", "a=b", "--rootdir=x"]),
        ("evals -- --trust-plugin", []),
        ("evals --eval-model", []),
    ],
)
def test_options_of_the_session_are_kept(words: str, told: list[str]) -> None:
    assert list(told_options(words.split())) == told
