"""Trends as a page: a table of sessions, and two small lines a case."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pytest_plugin_eval.reports.columns import cell, signed
from pytest_plugin_eval.reports.history import (
    breaks,
    changed_cases,
    last_seen,
    left_out_text,
    moment,
)
from pytest_plugin_eval.reports.rendering import rendered
from pytest_plugin_eval.scoring.trend import CaseTrend, Point, Session, Trend, conditions_changed
from pytest_plugin_eval.text import decimals, dollars

__all__ = ["history_html"]

WIDTH, HEIGHT, MARGIN = 240.0, 48.0, 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dot:
    x: str
    y: str
    passed: bool
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    name: str
    with_path: str
    without_path: str
    dots: tuple[_Dot, ...]
    newest: str
    delta: str
    sentence: str
    """The line in words, for those who do not see it."""


def history_html(trends: Sequence[Trend]) -> str:
    """Return one page for all trends: no script, no request."""
    return rendered(
        "history.html.j2",
        trends=[
            {
                "suite": cell(trend.suite),
                "sessions": list(_sessions(trend)),
                "lines": [_line(case, trend.sessions) for case in trend.cases],
                "left_out": left_out_text(trend),
                "has_composite": any(one.composite is not None for one in trend.sessions),
            }
            for trend in trends
        ],
        width=WIDTH,
        height=HEIGHT,
    )


def _sessions(trend: Trend) -> Iterator[dict[str, object]]:
    """Yield the sessions, each with what is not as it was in the one before."""
    cases = changed_cases(trend)
    before: Session | None = None
    for number, session in enumerate(trend.sessions):
        changed = conditions_changed(before, session) if before is not None else ()
        told = [f"{one.what} changed, {one.old} -> {one.new}" for one in changed]
        if names := cases.get(number):
            told.append(f"prompt or graders changed: {', '.join(names)}")
        yield {**_session(session), "changed": cell("; ".join(told))}
        before = session


def _session(session: Session) -> dict[str, object]:
    return {
        "started": moment(session.started_at),
        "passed": f"{session.cases_passed}/{session.cases}",
        "with_score": _score(session.with_score),
        "without_score": _score(session.without_score),
        "delta": "—" if session.delta is None else signed(session.delta),
        "cost": "?" if session.cost_usd is None else dollars(session.cost_usd),
        "unmeasured": session.unmeasured or "",
        "composite": "" if session.composite is None else decimals(session.composite, 1),
        "model": cell(session.model) or "—",
        "version": cell(session.claude_version) or "—",
        "plugin": cell(session.plugin) or "—",
    }


def _score(value: float | None) -> str:
    return "—" if value is None else decimals(value)


def _line(case: CaseTrend, sessions: Sequence[Session]) -> _Line:
    points = case.points
    present = [(n, point) for n, point in enumerate(points) if point is not None]
    newest = present[-1][1] if present else None
    broken = frozenset(breaks(case))
    return _Line(
        name=cell(case.name),
        with_path=_path([None if one is None else one.with_score for one in points], broken),
        without_path=_path([None if one is None else one.without_score for one in points], broken),
        dots=tuple(
            _Dot(
                x=_x(n, len(points)),
                y=_y(point.with_score or 0.0),
                passed=point.passed,
                label=_label(point, sessions[n]),
            )
            for n, point in present
        ),
        newest=_newest(case, sessions),
        delta="—" if newest is None or newest.delta is None else signed(newest.delta),
        sentence="; ".join(_label(point, sessions[n]) for n, point in present) or "never measured",
    )


def _newest(case: CaseTrend, sessions: Sequence[Session]) -> str:
    seen = last_seen(case)
    if seen is None:
        return "never"
    number, point = seen
    when = "" if number == len(sessions) - 1 else f", on {moment(sessions[number].started_at)}"
    return f"{_score(point.with_score)} (n={point.runs}){when}"


def _label(point: Point, session: Session) -> str:
    without = "" if point.without_score is None else f", W/OUT {decimals(point.without_score)}"
    verdict = "passed" if point.passed else "failed"
    score = _score(point.with_score)
    return f"{moment(session.started_at)}: WITH {score} (n={point.runs}){without}, {verdict}"


def _path(values: Sequence[float | None], broken: Collection[int]) -> str:
    """Return the path of a line, broken where a value is missing; a point alone is a dash.

    It is broken before the positions *broken* as well: there the case became another.
    """
    parts = []
    is_down = False
    for n, value in enumerate(values):
        if value is not None:
            place = f"{_x(n, len(values))} {_y(value)}"
            goes_on = is_down and n not in broken
            parts.append(f"L{place}" if goes_on else f"M{place} h0.1")
        is_down = value is not None
    return " ".join(parts)


def _x(position: int, count: int) -> str:
    room = WIDTH - 2 * MARGIN
    return f"{MARGIN + (room * position / (count - 1) if count > 1 else room / 2):.1f}"


def _y(value: float) -> str:
    return f"{HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * min(max(value, 0.0), 1.0):.1f}"
