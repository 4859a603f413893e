"""The top of the page: the verdict, the tiles, the picture of all cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from pytest_plugin_eval import __version__
from pytest_plugin_eval.quality.model import QualityReport
from pytest_plugin_eval.reports.columns import signed
from pytest_plugin_eval.reports.composite import known_quality_cost
from pytest_plugin_eval.reports.html_anchors import case_anchor
from pytest_plugin_eval.reports.html_case import (
    ABSENT,
    NAME_LENGTH,
    TAG_LENGTH,
    direction,
    measured,
)
from pytest_plugin_eval.reports.html_model import OverviewRow, QualityView, SuiteView, Tile
from pytest_plugin_eval.reports.money import money, short_money
from pytest_plugin_eval.reports.quality_markdown import place
from pytest_plugin_eval.reports.quality_numbers import badge_name, gain, points, share, title
from pytest_plugin_eval.reports.summary import summary_lines
from pytest_plugin_eval.reports.verdict import Conclusion, Standing
from pytest_plugin_eval.scoring.costs import costs_of, runs_cost
from pytest_plugin_eval.scoring.model import CaseResult, RunReport, SuiteResult
from pytest_plugin_eval.scoring.provenance import provenance_of, words
from pytest_plugin_eval.scoring.runs import mean
from pytest_plugin_eval.text import cut, decimals, plural

__all__ = ["suite_view"]

SHOWN_FINDINGS = 5
_MINUTE, _HOUR = 60, 3600


def suite_view(
    suite: SuiteResult,
    conclusion: Conclusion,
    *,
    quality: Sequence[QualityReport] = (),
    is_status_known: bool = True,
    is_split: bool = False,
    files: str = "",
    written_by: str = "",
) -> SuiteView:
    """Return what stands above the cards."""
    info = suite.info
    two_arms = any(case.without_runs for case in suite.cases)
    return SuiteView(
        title=_title(suite),
        subtitle=info.root,
        standing=conclusion.standing.value,
        verdict=conclusion.text,
        exit_status=conclusion.status if is_status_known else None,
        tiles=tuple(_tiles(suite, conclusion, quality, two_arms=two_arms)),
        notes=tuple(summary_lines(suite, quality_usd=known_quality_cost(quality))[1:]),
        load_errors=suite.load_errors,
        two_arms=two_arms,
        threshold=decimals(info.threshold),
        threshold_at=_place(info.threshold),
        overview=tuple(map(_row, sorted(suite.cases, key=_by_delta))),
        tags=_tags(suite),
        quality=tuple(map(_quality, quality)),
        is_split=is_split,
        files=files,
        written_by=written_by,
        footer=f"pytest-plugin-eval {__version__}",
    )


def _tags(suite: SuiteResult) -> tuple[str, ...]:
    tags = {cut(tag, TAG_LENGTH) for case in suite.cases for tag in case.info.tags}
    return tuple(sorted(tags))


def _title(suite: SuiteResult) -> str:
    plugins = [
        f"{plugin.get('name', 'unnamed')} {plugin.get('version', '')}".rstrip()
        for plugin in suite.info.plugins
    ]
    return ", ".join(plugins) or PurePath(suite.info.root).name


def _tiles(
    suite: SuiteResult,
    conclusion: Conclusion,
    quality: Iterable[QualityReport],
    *,
    two_arms: bool,
) -> Iterator[Tile]:
    info = suite.info
    runs = [run for case in suite.cases for run in case.runs]
    total = len(suite.cases)
    kinds = {Standing.PASSED: "passed", Standing.FAILED: "failed"}
    yield Tile(
        label="Cases passed",
        value=f"{suite.cases_passed} of {total}",
        note=f"threshold {decimals(info.threshold)}",
        kind=kinds.get(conclusion.standing, ""),
    )
    yield from _rates(suite, two_arms=two_arms)
    count = sum(run.measured for run in runs)
    yield Tile(label="Runs measured", value=f"{count} of {len(runs)}")
    yield _cost_tile(suite, runs)
    yield Tile(label="Time", value=_time(info.duration_s), note=_moment(info.started_at))
    yield Tile(label="Mode", value=info.mode)
    yield Tile(
        label="Model",
        value=info.model or _models(runs) or "unknown",
        note=f"Claude Code {info.claude_version or 'unknown'}",
    )
    for report in quality:
        composite = report.composite
        yield Tile(
            label=f"Composite score, {report.name}",
            value=points(composite.score),
            note=f"of 100; {badge_name(composite.badge)}, {composite.confidence_label}",
        )


def _rates(suite: SuiteResult, *, two_arms: bool) -> Iterator[Tile]:
    scored = [case for case in suite.cases if case.score is not None]
    yield Tile(
        label="WITH" if two_arms else "Score",
        value=_number(suite.overall_score if scored else None),
        note=_over(len(scored), (run for case in scored for run in case.with_runs)),
    )
    if not two_arms:
        return
    compared = [case for case in suite.cases if case.score_without is not None]
    yield Tile(
        label="W/OUT",
        value=_number(mean(one for case in compared if (one := case.score_without) is not None)),
        note=_over(len(compared), (run for case in compared for run in case.without_runs)),
    )
    paired = [case for case in suite.cases if case.delta is not None]
    yield Tile(
        label="Δ",
        value=ABSENT if suite.mean_delta is None else signed(suite.mean_delta),
        note=_over(len(paired), (run for case in paired for run in case.runs)),
    )


def _over(cases: int, runs: Iterable[RunReport]) -> str:
    measured_runs = sum(run.measured for run in runs)
    return f"mean over {plural(cases, 'case')}, {plural(measured_runs, 'run')}"


def _cost_tile(suite: SuiteResult, runs: Sequence[RunReport]) -> Tile:
    is_replay = suite.info.mode == "replay"
    return Tile(
        label="Cost", value=money(costs_of(runs).total), note="when recorded" if is_replay else ""
    )


def _models(runs: Iterable[RunReport]) -> str:
    return words(provenance_of(runs, "model"))


def _number(value: float | None) -> str:
    return ABSENT if value is None else decimals(value)


def _time(seconds: float) -> str:
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{decimals(seconds, 1)} s"
    hours, rest = divmod(whole, _HOUR)
    minutes, left = divmod(rest, _MINUTE)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {left} s"


def _moment(iso: str) -> str:
    """Return the minute of a moment such as ``2026-01-31T09:05:00.123Z``."""
    day, _, time = iso.partition("T")
    return f"{day} {time[:5]} UTC" if time else iso


def _by_delta(case: CaseResult) -> tuple[bool, float, bool, float, str]:
    """Sort the worst first; cases without Δ last, by score."""
    return (
        case.delta is None,
        case.delta or 0.0,
        case.score is None,
        case.score or 0.0,
        case.info.id,
    )


def _row(case: CaseResult) -> OverviewRow:
    return OverviewRow(
        anchor=case_anchor(case.info.id),
        name=cut(case.info.name, NAME_LENGTH),
        passed=case.passed,
        score=_number(case.score),
        without=_number(case.score_without),
        delta=ABSENT if case.delta is None else signed(case.delta),
        direction=direction(case),
        score_at=None if case.score is None else _place(case.score),
        without_at=None if case.score_without is None else _place(case.score_without),
        runs=measured(case).removesuffix("s").removesuffix(" run"),
        cost=short_money(runs_cost(case.runs)),
    )


def _place(value: float) -> str:
    """Return where a score is on the axis, which leaves room for half a mark at its ends."""
    return f"{decimals(4 + 92 * min(max(value, 0.0), 1.0), 1)}%"


def _quality(report: QualityReport) -> QualityView:
    composite = report.composite
    return QualityView(
        name=report.name,
        score=points(composite.score),
        badge=badge_name(composite.badge),
        label=composite.confidence_label,
        rows=tuple(
            (
                title(one.dimension.value),
                share(one.score) if one.measured else "not measured",
                one.grade,
            )
            for one in composite.dimensions
        ),
        findings=tuple(
            f"{place(one)}: {gain(one.points)} points: {one.text}; {one.remedy}"
            for one in report.findings[:SHOWN_FINDINGS]
        ),
    )
