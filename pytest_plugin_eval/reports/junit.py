"""Properties for JUnit XML: of a run, of a verdict and of a suite."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from pytest_plugin_eval.quality.model import QualityReport
from pytest_plugin_eval.reports.composite import composite_properties
from pytest_plugin_eval.reports.judging import judge_models, unreadable_votes
from pytest_plugin_eval.scoring.costs import costs_of, is_judged, run_cost, runs_cost
from pytest_plugin_eval.scoring.model import CaseResult, RunReport, SuiteResult
from pytest_plugin_eval.settings import Depth

__all__ = ["run_properties", "skill_properties", "suite_properties", "verdict_properties"]

Properties = list[tuple[str, str]]

NOT_MEASURED = "not measured"
# What XML 1.0 does not allow, escaped or not.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def run_properties(report: RunReport, *, threshold: float) -> Properties:
    """Return ``arm run score threshold cost_usd`` of a run; the score may be ``not measured``.

    ``judge_cost_usd`` stands with judged runs, ``attempts`` where there was more than one. A cost
    that is not known is left out.
    """
    return _properties(
        {
            "arm": report.key.arm.value,
            "run": report.key.number,
            "score": NOT_MEASURED if report.score is None else report.score,
            "threshold": threshold,
            "cost_usd": run_cost(report),
            "judge_cost_usd": _judge_cost([report]),
            "attempts": report.outcome.attempts if report.outcome.attempts > 1 else None,
        }
    )


def verdict_properties(case: CaseResult, *, threshold: float) -> Properties:
    """Return ``with without delta threshold cost_usd`` of a case.

    ``with`` may be ``not measured``; ``without`` and ``delta`` are left out where there is none,
    and ``withheld`` then says why. ``runs_measured`` is the n of the rates, over both arms.
    """
    runs = case.runs
    return _properties(
        {
            "with": NOT_MEASURED if case.score is None else case.score,
            "without": case.score_without,
            "delta": case.delta,
            "withheld": case.withheld,
            "runs_measured": sum(run.measured for run in runs),
            "runs": len(runs),
            "threshold": threshold,
            "cost_usd": runs_cost(runs).usd,
            "judge_cost_usd": _judge_cost(runs),
        }
    )


def suite_properties(suite: SuiteResult, *, quality: Sequence[QualityReport] = ()) -> Properties:
    """Return the suite's aggregates, each name with the prefix ``plugin_eval_``.

    *quality*: the scores of the plugins under test; the first one's composite is told.

    The prefix keeps them apart from properties that a project's own tests add to the same suite.
    """
    info = suite.info
    runs = [run for case in suite.cases for run in case.runs]
    values: Mapping[str, object] = {
        "root": info.root,
        "mode": info.mode,
        "claude_version": info.claude_version or None,
        "recorded": info.recorded or None,
        "cases_total": len(suite.cases),
        "cases_passed": suite.cases_passed,
        "overall_score": suite.overall_score,
        "overall_pass_rate": suite.overall_pass_rate,
        "mean_delta": suite.mean_delta,
        "threshold": info.threshold,
        "free_only": info.free_only,
        "load_errors": len(suite.load_errors),
        "partial": suite.partial_reason is not None,
        "partial_reason": suite.partial_reason,
        "cases_not_started": len(info.not_started) or None,
        "runs": len(runs),
        "runs_not_started": sum(len(entry.runs) for entry in info.runs_not_started) or None,
        "runs_taken_over": info.resumed or None,
        "judge_models": ", ".join(judge_models(suite)) or None,
        "unreadable_votes": unreadable_votes(suite) or None,
        "cost_usd": suite.cost_usd,
        "judge_cost_usd": _judge_cost(runs),
        "spent_usd": info.spent_usd,
        **composite_properties(quality),
    }
    return _properties({f"plugin_eval_{name}": value for name, value in values.items()})


def skill_properties(report: QualityReport, *, limit: float) -> Properties:
    """Return ``composite composite_badge composite_label limit`` of a skill.

    ``cost_usd`` stands where models were asked, and is left out when it is not known.
    """
    is_asked = report.depth is not Depth.QUICK
    values = {"limit": limit, "cost_usd": report.cost_usd if is_asked else None}
    return _properties({**composite_properties((report,)), **values})


def _judge_cost(runs: Sequence[RunReport]) -> float | None:
    """Return what judges cost; ``None`` where none voted or the cost is not known."""
    return costs_of(runs).judge.usd if any(map(is_judged, runs)) else None


def _properties(values: Mapping[str, object]) -> Properties:
    return [_property(name, _text(value)) for name, value in values.items() if value is not None]


@lru_cache(maxsize=1024)
def _property(name: str, text: str) -> tuple[str, str]:
    """Return the pair: one object where many runs have the same, as pytest keeps all of them."""
    return name, text


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value) if isinstance(value, int) else _NOT_XML.sub("\ufffd", str(value))
