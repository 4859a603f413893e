"""A plugin for one half of a benchmark: a session that scores no plugin under test."""

from __future__ import annotations

from pytest_plugin_eval.pytest_side.quality import SessionQuality

__all__: list[str] = []


def pytest_configure() -> None:
    """Leave the scores out, and with them what is imported for them."""
    setattr(SessionQuality, "finish", lambda _: None)  # noqa: B010  # no option leaves them out
