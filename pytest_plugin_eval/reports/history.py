"""A trend as text: a line a session, and a small line of bars a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_plugin_eval.reports.columns import cell, display_width, hanging, padded, signed
from pytest_plugin_eval.scoring.trend import CaseTrend, Point, Session, Trend, conditions_changed
from pytest_plugin_eval.text import decimals, dollars, plural

__all__ = [
    "breaks",
    "changed_cases",
    "history_lines",
    "last_seen",
    "left_out_text",
    "moment",
]

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
    if trend.sessions:
        lines += [*_session_lines(trend.sessions, width), ""]
        lines += [*_case_lines(trend, width, ascii_only=ascii_only), ""]
    lines += list(_notes(trend))
    clean = (cell(line, ascii_only=ascii_only) for line in lines)
    return [part for line in clean for part in hanging(line, width)]


def _session_lines(sessions: Sequence[Session], width: int) -> Iterator[str]:
    if len(sessions) > SHOWN:
        yield f"the newest {SHOWN}; the page has all"
    columns = _COLUMNS if width >= _NARROW else _COLUMNS[:-1]
    rows = [columns, *(_row(session)[: len(columns)] for session in sessions[-SHOWN:])]
    yield from _aligned([[cell(text) for text in row] for row in rows])


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


def _case_lines(trend: Trend, width: int, *, ascii_only: bool) -> Iterator[str]:
    """Yield a line a case: bars of WITH, the newest last, then the newest numbers."""
    if not trend.cases:
        return
    names = [cell(case.name) for case in trend.cases]
    room = max(min(max(map(display_width, names)), width // 3), 8)
    count = min(len(trend.sessions), max(width - room - 40, 8))
    yield f"WITH of each case, oldest to newest ({_scale(ascii_only=ascii_only)})"
    for name, case in zip(names, trend.cases, strict=True):
        bars = "".join(_bar(point, ascii_only=ascii_only) for point in case.points[-count:])
        is_long = display_width(name) > room
        if is_long:
            yield name
        first = padded("" if is_long else name, room)
        yield f"{first}  {bars}  {_newest(case, trend.sessions)}".rstrip()


def _scale(*, ascii_only: bool) -> str:
    return f"{DIGITS[0]} to {DIGITS[-1]}" if ascii_only else f"{BARS[0]} 0 to {BARS[-1]} 1"


def _bar(point: Point | None, *, ascii_only: bool) -> str:
    if point is None or point.with_score is None:
        return "." if ascii_only else GAP
    signs = DIGITS if ascii_only else BARS
    return signs[min(int(point.with_score * len(signs)), len(signs) - 1)]


def last_seen(case: CaseTrend) -> tuple[int, Point] | None:
    """Return the newest point of a case with its position, ``None`` where it never had one."""
    seen = [(number, point) for number, point in enumerate(case.points) if point is not None]
    return seen[-1] if seen else None


def _newest(case: CaseTrend, sessions: Sequence[Session]) -> str:
    seen = last_seen(case)
    if seen is None or seen[1].with_score is None:
        return "never measured"
    number, point = seen
    delta = "" if point.delta is None else f", Δ {signed(point.delta)}"
    verdict = "passed" if point.passed else "failed"
    when = "" if number == len(sessions) - 1 else f", on {moment(sessions[number].started_at)}"
    return f"{decimals(seen[1].with_score)} (n={point.runs}){delta}, {verdict}{when}"


def _notes(trend: Trend) -> Iterator[str]:
    if any(session.delta is not None for session in trend.sessions):
        yield "W/OUT and Δ of a session are means over the cases that have them"
    text = left_out_text(trend)
    if text:
        yield f"left out: {text}"
    yield from _changes(trend)


def _changes(trend: Trend) -> Iterator[str]:
    """Yield what else than the plugin changed from one of the sessions shown to the next."""
    first = max(len(trend.sessions) - SHOWN, 0)
    cases = changed_cases(trend)
    for number in range(first + 1, len(trend.sessions)):
        before, after = trend.sessions[number - 1], trend.sessions[number]
        when = moment(after.started_at)
        for one in conditions_changed(before, after):
            yield f"{when}: {one.what} changed, {one.old} -> {one.new}"
        if names := cases.get(number):
            yield f"{when}: prompt or graders changed, no trend across it: {', '.join(names)}"


def changed_cases(trend: Trend) -> dict[int, list[str]]:
    """Return by position of the session which cases had another prompt or other graders before."""
    found: dict[int, list[str]] = {}
    for case in trend.cases:
        for number in breaks(case):
            found.setdefault(number, []).append(case.name)
    return found


def breaks(case: CaseTrend) -> Iterator[int]:
    """Yield the positions from which on a case is another than it was when last seen."""
    earlier: Point | None = None
    for number, point in enumerate(case.points):
        if point is None:
            continue
        if earlier is not None and earlier.version != point.version:
            yield number
        earlier = point
