"""When a service that refused a request takes requests again, by the headers of its answer."""

from __future__ import annotations

import datetime
import email.utils
import math
from collections.abc import Iterator, Mapping

__all__ = ["asked_pause_s", "slow_down_until"]

REFUSALS = (429, 503, 529)
"""Statuses of a service that is too busy, for us or for everybody."""
DEFAULT_PAUSE_S = 10.0
"""Where the service asks for a pause and names no time."""

_LIMIT_PREFIX = "anthropic-ratelimit-"
_RESET_SUFFIX = "-reset"


def slow_down_until(status: int | None, headers: Mapping[str, str], now: float) -> float | None:
    """Return the time in seconds since the epoch; ``None`` where no pause is asked for.

    *headers* have lower-case names. ``retry-after-ms`` and ``retry-after`` come first, then the
    latest reset among the limits that are used up.
    """
    if status not in REFUSALS:
        return None
    pause_s = asked_pause_s(headers, now)
    if pause_s is not None:
        return now + pause_s
    return max((reset for reset in _resets(headers) if reset > now), default=now + DEFAULT_PAUSE_S)


def asked_pause_s(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that the ``retry-after`` headers name; ``None`` without a usable one."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "")
    seconds = _number(text)
    if seconds is not None:
        return seconds
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - now)


def _resets(headers: Mapping[str, str]) -> Iterator[float]:
    for name, value in headers.items():
        if not (name.startswith(_LIMIT_PREFIX) and name.endswith(_RESET_SUFFIX)):
            continue
        remaining = _number(headers.get(name.removesuffix(_RESET_SUFFIX) + "-remaining", ""))
        reset = _moment(value)
        if reset is not None and not remaining:
            yield reset


def _moment(text: str) -> float | None:
    seconds = _number(text)
    if seconds is not None:
        return seconds
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return moment.timestamp()


def _number(text: str) -> float | None:
    """Return a finite number of at least 0."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
