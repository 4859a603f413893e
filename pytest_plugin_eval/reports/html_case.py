"""A case as a card: its numbers, the strip of its graders by run, and what there is to know."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pytest_plugin_eval.records.model import RunKey
from pytest_plugin_eval.reports.causes import case_cause_text
from pytest_plugin_eval.reports.columns import signed
from pytest_plugin_eval.reports.html_anchors import Anchors, case_anchor
from pytest_plugin_eval.reports.html_model import CaseView, Fact, GraderView, StripRow
from pytest_plugin_eval.reports.html_runs import run_view, seconds_text, verdict_note
from pytest_plugin_eval.reports.money import money
from pytest_plugin_eval.reports.run_lines import run_name
from pytest_plugin_eval.reports.table import case_reasons
from pytest_plugin_eval.scoring.causes import case_causes
from pytest_plugin_eval.scoring.costs import runs_cost
from pytest_plugin_eval.scoring.hints import judge_hints
from pytest_plugin_eval.scoring.model import CaseResult, RunReport, Verdict, VerdictStatus
from pytest_plugin_eval.text import cut, decimals, plural

__all__ = ["ABSENT", "NAME_LENGTH", "TAG_LENGTH", "case_view", "direction", "measured"]

ABSENT = "—"
NAME_LENGTH = 200
TAG_LENGTH = 100
PROMPT_LENGTH = 4_000
CRITERIA_LENGTH = 4_000
REMARK_LENGTH = 300
MOST_REMARKS = 12
FEW_REMARKS = 4
"""On the card itself."""
_REACHED = {VerdictStatus.PASSED, VerdictStatus.FAILED}


def case_view(
    case: CaseResult,
    anchors: Anchors,
    *,
    threshold: float,
    is_short: bool = False,
    side_page: str = "",
) -> CaseView:
    """Return the card of a case.

    With *is_short* the details of its runs are left out; *side_page* is where they are.
    """
    info = case.info
    verdicts = {run.key: {v.grader: v for v in run.verdicts} for run in case.runs}
    names = _graders(case)
    strip = tuple(_strip_row(name, case, verdicts, anchors) for name in names)
    remarks = _remarks(case.with_runs) if is_short or not case.passed else []
    return CaseView(
        anchor=case_anchor(info.id),
        name=cut(info.name, NAME_LENGTH),
        id=info.id,
        passed=case.passed,
        score=_number(case.score),
        without=_number(case.score_without),
        delta=ABSENT if case.delta is None else signed(case.delta),
        direction=direction(case),
        summary=_summary(case),
        kinds=" ".join(_kinds(case, strip)),
        tags=tuple(cut(tag, TAG_LENGTH) for tag in info.tags),
        reasons=tuple(_reasons(case, threshold)),
        warnings=(*info.warnings, *info.advisories, *_not_granted(info.not_granted)),
        hints=(*info.hints, *judge_hints(case.runs)),
        with_names=_names(case.with_runs, anchors),
        without_names=_names(case.without_runs, anchors),
        strip=strip,
        scores=tuple("n/m" if run.score is None else decimals(run.score) for run in case.runs),
        prompt=cut(info.prompt, PROMPT_LENGTH),
        source=info.source_file,
        graders=() if is_short else tuple(_grader(name, case, anchors) for name in names),
        is_short=is_short,
        side_page=side_page,
        runs=tuple(run_view(run, anchors) for run in case.runs) if is_short else (),
        remarks=tuple(remarks[:FEW_REMARKS]),
        more=max(len(remarks) - FEW_REMARKS, 0),
    )


def direction(case: CaseResult) -> str:
    """Return ``up``, ``down`` or ``level``; empty when there is no Δ."""
    if case.delta is None:
        return ""
    shown = signed(case.delta)
    return {"+": "up", "-": "down"}.get(shown[0], "level")


def measured(case: CaseResult) -> str:
    """Return how many runs were measured, and of how many planned when not all were."""
    count = sum(run.measured for run in case.runs)
    planned = case.info.plan.with_runs + case.info.plan.without_runs
    return plural(count, "run") if count == planned else f"{count} of {plural(planned, 'run')}"


def _summary(case: CaseResult) -> str:
    seconds = sum(run.outcome.duration_s for run in case.runs)
    return f"{measured(case)} · {money(runs_cost(case.runs))} · {seconds_text(seconds)}"


def _number(value: float | None) -> str:
    return ABSENT if value is None else decimals(value)


def _reasons(case: CaseResult, threshold: float) -> Iterator[str]:
    yield from (case_cause_text(cause, case) for cause in case_causes(case, threshold))
    start = f"{case.info.name}: "
    yield from (reason.removeprefix(start) for reason in case_reasons(case, threshold))
    if case.withheld and case.without_runs:
        yield f"Δ withheld: {case.withheld}"


def _not_granted(tools: Sequence[str]) -> Iterator[str]:
    if tools:
        yield f"not granted: {', '.join(tools)}"


def _kinds(case: CaseResult, strip: Iterable[StripRow]) -> Iterator[str]:
    if not case.passed:
        yield "failed"
    if case.delta is not None and case.delta < 0:
        yield "negative"
    if any(row.flips for row in strip):
        yield "flaky"
    planned = case.info.plan.with_runs + case.info.plan.without_runs
    if sum(run.measured for run in case.runs) < planned:
        yield "unmeasured"


def _names(runs: Iterable[RunReport], anchors: Anchors) -> tuple[tuple[str, str], ...]:
    return tuple((str(run.key.number), anchors.run(run)) for run in runs)


def _graders(case: CaseResult) -> tuple[str, ...]:
    """Return the names of the graders, those that only verdicts tell of last."""
    defined = (str(grader.get("name")) for grader in case.info.graders)
    judged = (verdict.grader for run in case.runs for verdict in run.verdicts)
    return tuple(dict.fromkeys((*defined, *judged)))


def _strip_row(
    name: str,
    case: CaseResult,
    verdicts: Mapping[RunKey, Mapping[str, Verdict]],
    anchors: Anchors,
) -> StripRow:
    first = next((v for run in case.runs if (v := verdicts[run.key].get(name))), None)
    cells = tuple(
        verdict.status.value if (verdict := verdicts[run.key].get(name)) else "none"
        for run in case.runs
    )
    count = len(case.with_runs)
    arms = (("with", cells[:count]), ("without", cells[count:]))
    flips = [f"{arm}-runs" for arm, listed in arms if len(_REACHED.intersection(listed)) > 1]
    return StripRow(
        grader=cut(name, NAME_LENGTH),
        anchor=anchors.grader(case.info.id, name),
        note="" if first is None else verdict_note(first),
        cells=cells,
        flips=" and ".join(flips),
    )


def _remarks(runs: Iterable[RunReport]) -> list[Fact]:
    return [
        Fact(
            name=f"{run_name(run)} {verdict.grader} {verdict.status.value}",
            value=cut(verdict.explanation, REMARK_LENGTH),
        )
        for run in runs
        for verdict in run.verdicts
        if verdict.status is not VerdictStatus.PASSED
    ]


def _grader(name: str, case: CaseResult, anchors: Anchors) -> GraderView:
    definition = next((one for one in case.info.graders if one.get("name") == name), {})
    remarks = [
        (run, verdict)
        for run in case.runs
        for verdict in run.verdicts
        if verdict.grader == name and verdict.status is not VerdictStatus.PASSED
    ]
    config = definition.get("config")
    criteria = str(definition.get("graderMarkdown") or "")
    weight = definition.get("weight", 1)
    note = "" if weight == 1 else f"weight {weight}"
    if definition.get("arm"):
        note += f"{', ' if note else ''}arm {definition['arm']}"
    return GraderView(
        name=name,
        anchor=anchors.grader(case.info.id, name),
        type=str(definition.get("type") or ""),
        note=note,
        config=tuple(_config(config)) if isinstance(config, Mapping) else (),
        criteria=cut(criteria, CRITERIA_LENGTH),
        remarks=tuple(
            Fact(
                name=f"{run_name(run)} {verdict.status.value}",
                value=cut(verdict.explanation, REMARK_LENGTH),
            )
            for run, verdict in remarks[:MOST_REMARKS]
        ),
        more=max(len(remarks) - MOST_REMARKS, 0),
    )


def _config(config: Mapping[str, object]) -> Iterator[Fact]:
    for name, value in config.items():
        if name == "criteria":  # shown as a text of its own
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if text:
            yield Fact(name=name, value=cut(text, CRITERIA_LENGTH))
