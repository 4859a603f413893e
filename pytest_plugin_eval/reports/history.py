"""A trend as text: a line a session, and a small line of bars a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_plugin_eval.reports.columns import cell, display_width, hanging, padded, signed
from pytest_plugin_eval.scoring.trend import CaseTrend, Point, Session, Trend
from pytest_plugin_eval.text import decimals, dollars, plural

__all__ = ["history_lines", "left_out_text", "moment"]

SHOWN = 20
"""The newest sessions in the table; the page has all."""
BARS = "▁▂▃▄▅▆▇█"
DIGITS = "0123456789"
GAP = "·"
ABSENT = "—"
_COLUMNS = ("STARTED", "PASSED", "WITH", "W/OUT", "Δ", "COST", "MODEL", "PLUGIN")
_NARROW = 100


def history_lines(trend: Trend, *, width: int, ascii_only: bool = False) -> list[str]:
    """Return a trend for a terminal of *width* columns."""
    lines = [f"{trend.suite}: {plural(len(trend.sessions), 'session')}", ""]
    shown = trend.sessions[-SHOWN:]
    if len(trend.sessions) > SHOWN:
        lines.append(f"the newest {SHOWN}; the page has all")
    columns = _COLUMNS if width >= _NARROW else _COLUMNS[:-1]
    rows = [columns, *(_row(session)[: len(columns)] for session in shown)]
    lines += _aligned([[cell(text) for text in row] for row in rows])
    lines += ["", *_case_lines(trend.cases, width, ascii_only=ascii_only), ""]
    lines += list(_notes(trend))
    clean = (cell(line, ascii_only=ascii_only) for line in lines)
    return [part for line in clean for part in hanging(line, width)]


def left_out_text(trend: Trend) -> str:
    """Return what does not count, in words; empty when all does."""
    parts = [f"{plural(count, 'session')} {why}" for why, count in sorted(trend.left_out.items())]
    if trend.unmeasured:
        parts.append(f"{plural(trend.unmeasured, 'run')} not measured")
    return ", ".join(parts)


def moment(started_at: str) -> str:
    """Return when a session started, to the minute, UTC."""
    return started_at[:16].replace("T", " ") or "unknown"


def _row(session: Session) -> tuple[str, ...]:
    return (
        moment(session.started_at),
        f"{session.cases_passed}/{session.cases}",
        _score(session.with_score),
        _score(session.without_score),
        ABSENT if session.delta is None else signed(session.delta),
        "?" if session.cost_usd is None else dollars(session.cost_usd),
        session.model or ABSENT,
        session.plugin or ABSENT,
    )


def _score(value: float | None) -> str:
    return ABSENT if value is None else decimals(value)


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(display_width(row[n]) for row in rows) for n in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(padded(text, size) for text, size in zip(row, widths, strict=True)).rstrip()


def _case_lines(cases: Sequence[CaseTrend], width: int, *, ascii_only: bool) -> Iterator[str]:
    """Yield a line a case: bars of WITH, the newest last, then the newest numbers."""
    if not cases:
        return
    names = [cell(case.name) for case in cases]
    room = max(min(max(map(display_width, names)), width // 3), 8)
    count = min(max(len(case.points) for case in cases), max(width - room - 40, 8))
    yield f"WITH of each case, oldest to newest ({_scale(ascii_only=ascii_only)})"
    for name, case in zip(names, cases, strict=True):
        bars = "".join(_bar(point, ascii_only=ascii_only) for point in case.points[-count:])
        newest = next((point for point in reversed(case.points) if point is not None), None)
        text = f"{padded('', room)}  {bars}  {_newest(newest)}"
        if display_width(name) > room:
            yield name
        else:
            text = f"{padded(name, room)}  {bars}  {_newest(newest)}"
        yield text.rstrip()


def _scale(*, ascii_only: bool) -> str:
    return f"{DIGITS[0]} to {DIGITS[-1]}" if ascii_only else f"{BARS[0]} 0 to {BARS[-1]} 1"


def _bar(point: Point | None, *, ascii_only: bool) -> str:
    if point is None or point.with_score is None:
        return "." if ascii_only else GAP
    signs = DIGITS if ascii_only else BARS
    return signs[min(int(point.with_score * len(signs)), len(signs) - 1)]


def _newest(point: Point | None) -> str:
    if point is None or point.with_score is None:
        return "never measured"
    delta = "" if point.delta is None else f", Δ {signed(point.delta)}"
    verdict = "passed" if point.passed else "failed"
    return f"{decimals(point.with_score)} (n={point.runs}){delta}, {verdict}"


def _notes(trend: Trend) -> Iterator[str]:
    if any(session.delta is not None for session in trend.sessions):
        yield "W/OUT and Δ of a session are means over the cases that have them"
    text = left_out_text(trend)
    if text:
        yield f"left out: {text}"
    for before, after in zip(trend.sessions, trend.sessions[1:], strict=False):
        for what, old, new in (
            ("model", before.model, after.model),
            ("Claude Code", before.claude_version, after.claude_version),
        ):
            if old and new and old != new:
                yield f"{moment(after.started_at)}: {what} changed, {old} -> {new}"
