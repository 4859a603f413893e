"""Failure texts of ours as pytest's reports carry them: their first line is the message."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import pytest

from pytest_plugin_eval.pytest_side.ids import is_run_id

__all__ = ["EvalFailures", "FailureText"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Crash:
    """What pytest asks of the place and the message of a failure."""

    path: str
    lineno: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _NoTraceback:
    """What plugins ask of a traceback; there is none."""

    reprentries: tuple[object, ...] = ()


class FailureText(str):
    """A failure's whole text, which also has the short message that pytest looks for.

    With it JUnit's ``message`` attribute and pytest's short summary hold the cause; without, the
    attribute is the whole text and the summary says nothing.
    """

    reprcrash: _Crash
    reprtraceback: _NoTraceback

    @classmethod
    def at(cls, text: str, location: tuple[str, int | None, str]) -> FailureText:
        """Return the text of a failure at a report's location."""
        told = cls(text)
        path, line, _ = location
        message = text.partition("\n")[0]
        told.reprcrash = _Crash(path=path, lineno=(line or 0) + 1, message=message)
        told.reprtraceback = _NoTraceback()
        return told

    def fitted(self, width: int) -> FailureText:
        """Return the same failure with its text wrapped; its message stays as it is."""
        from pytest_plugin_eval.reports.run_lines import fitted

        told = FailureText(fitted(self, width))
        told.reprcrash, told.reprtraceback = self.reprcrash, self.reprtraceback
        return told


class EvalFailures:
    """Gives failing runs, verdicts and skills their message, in the controller.

    Not where the report is made: xdist's workers can send plain text alone.
    """

    # Around pytest's own, which prints the failures first of all. By now whoever keeps the texts in
    # a file has taken them, with lines of any length.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> Generator[None]:
        """Have the texts fit the terminal."""
        width = config.get_terminal_writer().fullwidth
        stats = terminalreporter.stats
        for report in [*stats.get("failed", ()), *stats.get("error", ())]:
            if isinstance(report.longrepr, FailureText):
                report.longrepr = report.longrepr.fitted(width)
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        """Give a report its message before anybody reads it."""
        text = report.longrepr
        if report.failed and type(text) is str and _is_ours(report):
            report.longrepr = FailureText.at(text, report.location)
        return (yield)


def _is_ours(report: pytest.TestReport) -> bool:
    return is_run_id(report.nodeid) or hasattr(report, "eval_verdict")
