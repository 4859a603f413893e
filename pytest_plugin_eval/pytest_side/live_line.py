"""Draws the live line below pytest's progress, on a terminal only."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.pytest_side.ids import is_run_id
from pytest_plugin_eval.pytest_side.progress import run_by_id
from pytest_plugin_eval.pytest_side.stash import settings_key, workbench_key
from pytest_plugin_eval.settings import Mode, Settings

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.controller import EvalController

__all__ = ["EvalLiveLine", "can_show"]

TICK_S = 1.0
"""Between drawings while nothing happens."""
LEAST_S = 0.2
"""Between drawings while much happens: thousands of replayed runs must not wait for a terminal."""
NARROW = 20
Wrapper = Generator[None, object, object]


def can_show(config: pytest.Config, env: Mapping[str, str], *, platform: str) -> bool:
    """Return whether a line can be rewritten in place without harm to other output.

    Not in a pipe, not on a terminal that knows no control sequences, and not where tests, a
    debugger or the live log write to the terminal as well.
    """
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not reporter.isatty or env.get("TERM", "") in ("dumb", "unknown"):
        return False
    if platform == "win32" and "WT_SESSION" not in env:
        return False
    # `plugin-eval run` captures nothing, and no test of the user's runs in it.
    is_shared = config.getoption("capture") == "no" and config.stash[settings_key].root is None
    writes = config.getoption("usepdb") or config.getoption("trace") or config.getini("log_cli")
    return not (is_shared or writes or config.getoption("log_cli_level", None))


class EvalLiveLine:
    """One line below the line that pytest writes, erased before anybody else writes.

    A thread redraws it each second; it runs while the session's loop does. Bytes go to a duplicate
    of the terminal's descriptor, since pytest puts a file in its place while a test runs.
    """

    def __init__(self, config: pytest.Config, controller: EvalController) -> None:
        self._config = config
        self._controller = controller
        self._settings: Settings = config.stash[settings_key]
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._terminal: int | None = None
        self._encoding = "utf-8"
        self._is_shown = False
        self._is_free = False
        """Whether the terminal is at rest: nobody but this object writes now."""
        self._column = 1
        self._drawn_at = 0.0
        self._begun: dict[str, float] = {}
        """The runs in flight, as far as reports tell, and when each began."""
        self._taken_s = 0.0
        self._counted = 0
        """Runs whose durations are in the sum."""
        self._workers = 0

    # Around everything that happens while runs are made

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Wrapper:
        """Keep the thread for as long as the loop runs."""
        is_wanted = bool(self._controller.cases) or self._controller.is_distributed
        if not is_wanted or not can_show(self._config, os.environ, platform=sys.platform):
            return (yield)
        try:
            self._terminal = os.dup(sys.stdout.fileno())
        except (OSError, ValueError, AttributeError):
            return (yield)
        self._encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        ticker = threading.Thread(target=self._tick, name="eval-live-line", daemon=True)
        ticker.start()
        try:
            return (yield)
        finally:
            self._over.set()
            ticker.join()
            self._hide()
            terminal, self._terminal = self._terminal, None
            with contextlib.suppress(OSError):
                os.close(terminal)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> Wrapper:
        """Count a run as begun."""
        self._hide()
        outcome = yield
        if is_run_id(nodeid):
            self._begun[nodeid] = time.monotonic()
            self._free()
        return outcome

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self) -> Wrapper:
        """Make place for a letter."""
        self._hide()
        outcome = yield
        self._free()
        return outcome

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> Wrapper:
        """Count a run as done."""
        self._hide()
        outcome = yield
        began = self._begun.pop(nodeid, None)
        if began is not None:
            self._count(nodeid, time.monotonic() - began)
        self._free()
        return outcome

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self) -> None:
        """Count a worker of xdist's."""
        self._workers += 1

    @pytest.hookimpl(wrapper=True, tryfirst=True, optionalhook=True)
    def pytest_testnodedown(self) -> Wrapper:
        """Make place for what xdist says of a worker."""
        self._workers -= 1
        self._hide()
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self) -> None:
        """Make place for a traceback."""
        self._hide()

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Make place for what pytest says."""
        self._hide()

    # Counting

    def _count(self, nodeid: str, taken_s: float) -> None:
        run = run_by_id(self._controller.cases, nodeid)
        if run is None:
            return
        if self._settings.concurrency > 1 and self._settings.mode is not Mode.REPLAY:
            taken_s = run.outcome.duration_s  # its item only waited for what was left of it
        self._taken_s += taken_s
        self._counted += 1

    def _text(self, width: int) -> str:
        from pytest_plugin_eval.reports.live_line import Progress, live_text, rest_s

        cases = list(self._controller.cases.values())
        planned, done = (sum(len(p.expected) for p in cases), sum(len(p.finished) for p in cases))
        bench = self._config.stash[workbench_key]
        running = max(len(self._begun), bench.running)
        left_s = None
        if self._counted:
            now = time.monotonic()
            left_s = rest_s(
                planned=planned,
                done=done,
                lanes=max(self._workers, self._settings.concurrency),
                mean_s=self._taken_s / self._counted,
                begun_s=tuple(now - began for began in list(self._begun.values())),
            )
        progress = Progress(
            planned=planned,
            done=done,
            running=running,
            spent_usd=self._controller.spent_usd,
            ceiling_usd=self._settings.max_cost_usd,
            left_s=left_s,
        )
        return live_text(progress, width=width, ascii_only=bench.ascii_only)

    # Drawing

    def _tick(self) -> None:
        while not self._over.wait(TICK_S):
            with self._lock:
                if self._is_free:
                    self._draw()

    def _free(self) -> None:
        """Let the line be drawn: what the others had to write is written."""
        if self._terminal is None or not self._begun:
            return
        writer = self._config.get_terminal_writer()
        with self._lock:
            self._is_free = True
            width = self._width()
            self._column = writer.width_of_current_line % width + 1
            # After the last column the cursor is on neither of two lines.
            if self._column == 1 and writer.width_of_current_line:
                self._is_free = False
            elif time.monotonic() - self._drawn_at >= LEAST_S:
                writer.flush()
                self._draw()

    def _width(self) -> int:
        """Return the columns that there are; pytest takes fewer than 40 for a mistake."""
        assert self._terminal is not None
        with contextlib.suppress(OSError):
            if columns := os.get_terminal_size(self._terminal).columns:
                return columns
        return self._config.get_terminal_writer().fullwidth

    def _draw(self) -> None:
        width = self._width()
        if width < NARROW:
            return
        text = self._text(width - 1)
        # A line feed makes a line where the terminal ends; then back to where pytest writes on.
        self._write(f"\n\r\x1b[2K{text}\x1b[A\x1b[{self._column}G")
        self._is_shown = True
        self._drawn_at = time.monotonic()

    def _hide(self) -> None:
        if self._terminal is None:
            return
        with self._lock:
            self._is_free = False
            if self._is_shown:
                self._write(f"\x1b[B\r\x1b[2K\x1b[A\x1b[{self._column}G")
                self._is_shown = False

    def _write(self, text: str) -> None:
        data = text.encode(self._encoding, errors="replace")
        with contextlib.suppress(OSError):  # a terminal that was closed
            while data and self._terminal is not None:
                data = data[os.write(self._terminal, data) :]
