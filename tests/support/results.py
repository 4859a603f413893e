"""Short ways to build verdicts, runs, cases and suites for tests of scoring and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunOutcome
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import (
    CaseInfo,
    CaseResult,
    NotStarted,
    Plan,
    RunReport,
    SuiteInfo,
    SuiteResult,
    Verdict,
    VerdictStatus,
)
from pytest_plugin_eval.scoring.runs import run_report

LETTERS = {
    "P": VerdictStatus.PASSED,
    "F": VerdictStatus.FAILED,
    "E": VerdictStatus.ERRORED,
    "S": VerdictStatus.SKIPPED,
}


def plan(with_runs: int = 3, without_runs: int = 3) -> Plan:
    """Return a plan; in two arms unless there are no without-runs."""
    return Plan(with_runs=with_runs, without_runs=without_runs, two_arms=without_runs > 0)


def case_info(
    name: str = "first-case",
    *,
    runs: Plan | None = None,
    grader_advisories: Mapping[str, str] | None = None,
) -> CaseInfo:
    """Return a case of that name below `evals`."""
    return CaseInfo(
        id=f"evals/{name}",
        name=name,
        source="prose",
        prompt="Say hällo",
        graders=(),
        root="/plugin",
        eval_dir="/plugin/evals",
        plan=runs or plan(),
        grader_advisories=grader_advisories or {},
    )


def verdict(status: str, name: str = "flag", *, weight: float = 1, **fields: object) -> Verdict:
    """Return a verdict; *status* is one of `P F E S`."""
    values: dict[str, object] = {"explanation": "matched x" if status == "P" else "no x", **fields}
    return Verdict(grader=name, type="regex", status=LETTERS[status], weight=weight, **values)  # type: ignore[arg-type]  # fields of a test's choice


def verdicts(letters: str) -> tuple[Verdict, ...]:
    """Return a verdict for each letter, named `g1 g2 ...`; a skipped one is not scored."""
    return tuple(
        verdict(letter, f"g{number}", scored=letter != "S")
        for number, letter in enumerate(letters, 1)
    )


def run(
    name: str,
    graded: str | tuple[Verdict, ...] = "P",
    *,
    case: CaseInfo | None = None,
    ending: Ending = Ending.COMPLETED,
    error: str | None = None,
    cost_usd: float | None = 0.01,
    judge_cost_usd: float | None = 0.0,
) -> RunReport:
    """Return the run of that name (`with-1`), graded with the letters or verdicts given."""
    case = case or case_info()
    arm, number = name.rsplit("-", 1)
    return run_report(
        key=RunKey(case=case.id, arm=Arm(arm), number=int(number)),
        case=case,
        outcome=RunOutcome(
            ending=ending,
            error=error,
            cost_usd=cost_usd,
            turns=2,
            duration_s=1.5,
            started_at="2026-01-31T09:05:00.123Z",
        ),
        verdicts=verdicts(graded) if isinstance(graded, str) else graded,
        record_path=f"evals/results/2026/runs/{case.id}/{name}.jsonl",
        provenance={"model": "claude-haiku-4-5"},
        last_message="I looked.\nNothing found.",
        judge_cost_usd=judge_cost_usd,
    )


def lost(name: str, *, case: CaseInfo | None = None) -> RunReport:
    """Return a run that ended on an error of the infrastructure."""
    return run(name, "", case=case, ending=Ending.AGENT_ERROR, error="API Error: 529 overloaded")


def aborted(name: str) -> RunReport:
    """Return a run that a mock broke off."""
    report = run(name, "", ending=Ending.ABORTED)
    return replace(report, aborted={"server": "tracker", "tool": "find", "reason": "x is bad"})


def attempted(report: RunReport, attempts: int) -> RunReport:
    """Return the run as one that took so many attempts."""
    return replace(report, outcome=replace(report.outcome, attempts=attempts))


def case(
    info: CaseInfo | None = None,
    *runs: RunReport,
    threshold: float = 1.0,
    min_delta: float | None = None,
) -> CaseResult:
    """Return the result of a case; its runs are moved to it."""
    return case_result(info or case_info(), runs, threshold=threshold, min_delta=min_delta)


def suite_info(**fields: object) -> SuiteInfo:
    """Return a suite's information with fixed values, save the fields given."""
    values: dict[str, object] = {
        "root": "/plugin",
        "eval_dir": "/plugin/evals",
        "ablation": "with-without",
        "threshold": 1.0,
        "concurrency": 1,
        "mode": "live",
        "plugins": ({"name": "demo", "version": "1.2.0", "path": "/plugin"},),
        "claude_version": "2.1.332",
        "started_at": "2026-01-31T09:05:00.123Z",
        "duration_s": 12.3,
        **fields,
    }
    return SuiteInfo(**values)  # type: ignore[arg-type]  # fields of a test's choice


def mixed_suite(**fields: object) -> SuiteResult:
    """Return a suite of four: all good, a lost run, a long name, a run that ended early."""
    good, wide = case_info("first-case"), case_info("日本語")
    long = case_info("a-very-long-name-that-says-all-about-the-case-and-then-goes-on-and-on")
    early = case_info("early", grader_advisories={"g2": "grader 'g2' cannot pass: no Write"})
    cases = [
        case(
            good,
            *(
                run(f"{arm}-{n}", "PP" if arm == "with" else "PF", case=good)
                for arm in ("with", "without")
                for n in (1, 2, 3)
            ),
        ),
        case(
            wide,
            *(run(f"with-{n}", "PF", case=wide) for n in (1, 2, 3)),
            run("without-1", "PF", case=wide),
            run("without-2", "FF", case=wide),
            lost("without-3", case=wide),
        ),
        case(
            long,
            *(
                run(f"{arm}-{n}", "PPFP", case=long, cost_usd=None)
                for arm in ("with", "without")
                for n in (1, 2)
            ),
        ),
        case(
            early,
            run("with-1", "PPS", case=early),
            run(
                "with-2", "PF", case=early, ending=Ending.TURN_LIMIT, error="turn cap of 10 reached"
            ),
            run("with-3", "PF", case=early),
            *(run(f"without-{n}", "PP", case=early) for n in (1, 2, 3)),
        ),
    ]
    return suite_result(suite_info(**fields), cases, partial_reason=None, load_errors=("evals/x",))


def judged(letter: str, votes: str, name: str = "tone", **fields: object) -> Verdict:
    """Return the verdict of an `llm` grader with votes such as `PFF`; `?` is an unreadable one."""
    words = " ".join("PASS" if vote == "P" else "FAIL" for vote in votes)
    values: dict[str, object] = {
        "explanation": f"judge votes: {words}",
        "evidence": "I looked.\nNothing found.",
        "judge_model": "claude-haiku-4-5",
        **fields,
    }
    return replace(
        verdict(letter, name, weight=1, votes=tuple(vote == "P" for vote in votes), **values),
        type="llm",
        unreadable_votes=votes.count("?"),
    )


def unjudged(status: str, explanation: str, name: str = "tone") -> Verdict:
    """Return the verdict of a scored `llm` grader that came to none: `E` or `S` (D2, D4)."""
    return replace(verdict(status, name, explanation=explanation), type="llm")


def judged_suite(**fields: object) -> SuiteResult:
    """Return a suite with judges: good, of unknown price, cut at the ceiling, judge failed."""
    good, dear = case_info("good"), case_info("dear", runs=plan(2, 1))
    cut, down = case_info("cut"), case_info("down", runs=plan(1, 1))
    ceiling = unjudged("S", "cost ceiling $0.12 reached")
    failed = unjudged("E", "the judge gave no answer: 529 overloaded")
    again = run("with-2", (judged("P", "PPF"),), case=good, cost_usd=0.02, judge_cost_usd=0.003)
    cases = [
        case(
            good,
            run("with-1", (judged("P", "PPP"),), case=good, judge_cost_usd=0.003),
            attempted(again, 2),
            run("with-3", (judged("P", "PP?"),), case=good, judge_cost_usd=0.004),
            *(
                run(f"without-{n}", (judged("F", "F?P"),), case=good, judge_cost_usd=0.003)
                for n in (1, 2, 3)
            ),
        ),
        case(
            dear,
            run(
                "with-1",
                (judged("F", "PFF", judge_model="local-1"),),
                case=dear,
                judge_cost_usd=None,
            ),
            run("with-2", (judged("P", "PPP"),), case=dear, cost_usd=None, judge_cost_usd=0.003),
            run("without-1", "P", case=dear, cost_usd=None, judge_cost_usd=None),
        ),
        case(
            cut,
            run("with-1", (verdict("P"), judged("P", "PPP")), case=cut, judge_cost_usd=0.003),
            run("without-1", (verdict("P"), ceiling), case=cut),
        ),
        case(
            down,
            run("with-1", (failed,), case=down),
            run("without-1", (failed,), case=down),
        ),
    ]
    reason = "cost ceiling $0.12 reached"
    values: dict[str, object] = {
        "ceiling_usd": 0.12,
        "spent_usd": 0.12,
        "resumed": 4,
        "not_started": ("evals/never",),
        "runs_not_started": (
            NotStarted(
                case="evals/cut",
                runs=("with-2", "with-3", "without-2", "without-3"),
                reason=reason,
            ),
            NotStarted(case="evals/never", runs=("with-1", "without-1"), reason=reason),
        ),
        **fields,
    }
    return suite_result(suite_info(**values), cases, partial_reason=None)
