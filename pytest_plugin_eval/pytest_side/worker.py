"""What an xdist worker sends home besides its runs' reports."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import threading
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.pytest_side.ids import case_of
from pytest_plugin_eval.pytest_side.session_place import (
    FACTS,
    forget_process,
    leave_facts,
    leave_process,
)
from pytest_plugin_eval.pytest_side.signals import SessionSignals
from pytest_plugin_eval.pytest_side.stash import collection_key, workbench_key
from pytest_plugin_eval.pytest_side.state import CollectionState
from pytest_plugin_eval.reports.plan import CasePlan

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.remote_worker import RemoteWorker

__all__ = ["EvalWorker", "received_state"]


LOOK_S = 1.0
"""Between looks at whether the session is still there."""


class EvalWorker:
    """Sends the plan, the deselected cases and the load warnings at the worker's end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @property
    def _remote(self) -> RemoteWorker | None:
        return self._config.stash[workbench_key].remote

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # around what sends the report
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        """Send the files of a run along, where the controller cannot find them."""
        payload, remote = getattr(report, "eval_run", None), self._remote
        if payload is None or remote is None:
            return (yield)
        payload["files"], notes = remote.parcel()
        payload["run"]["notes"] += notes
        yield
        remote.forget()
        return None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Leave what an interrupted worker cannot send, once results can be written."""
        place, bench = self._place, self._config.stash[workbench_key]
        if place is not None and bench.results and not (place / FACTS).exists():
            leave_facts(
                place,
                self._as_read(
                    {
                        "parcel": self._parcel(),
                        "results": {str(root): str(path) for root, path in bench.results.items()},
                        "cases": _selected_cases(session.items),
                    }
                ),
            )

    # Around what ends the runs in flight, so that a further signal does not end that.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Have the controller's signal end the run in hand in order, its agent included."""
        has_runs = bool(self._config.stash[collection_key].plans)
        place = self._place if has_runs else None
        if place is not None:
            leave_process(place)
        with (
            SessionSignals(once=True),
            _ended_with_parent() if has_runs else contextlib.nullcontext(),
        ):
            try:
                return (yield)
            finally:
                if place is not None:
                    forget_process(place)

    def pytest_sessionfinish(self) -> None:
        """Put what collection found into xdist's own parcel (decisions, 22)."""
        output: dict[str, object] = self._config.workeroutput  # type: ignore[attr-defined]  # xdist's
        output["plugin_eval"] = self._as_read(self._parcel())

    @property
    def _place(self) -> Path | None:
        """Where the processes of the session meet; ``None`` on another machine."""
        place = self._config.workerinput["plugin_eval"]["processes"]  # type: ignore[attr-defined]
        return None if place is None else Path(place)

    def _as_read(self, plain: dict[str, object]) -> dict[str, object]:
        """Return plain data by the paths of the controller."""
        read = plain if self._remote is None else self._remote.plain_as_read(plain)
        assert isinstance(read, dict)
        return read

    def _parcel(self) -> dict[str, object]:
        state = self._config.stash[collection_key]
        bench = self._config.stash[workbench_key]
        agent = [f"agent: {bench.backend_note}"] if bench.backend_note else []
        return {
            "plans": [dataclasses.asdict(plan) for plan in state.plans],
            "broken": {nodeid: list(texts) for nodeid, texts in state.broken.items()},
            "loose": list(state.loose),
            "advice": {text: list(cases) for text, cases in state.advice.items()},
            "unnamed": list(state.unnamed),
            "shard_cases": dict(state.shard_cases),
            "notes": [*state.notes, *agent, *bench.notes],
        }


def _selected_cases(items: Iterable[pytest.Item]) -> dict[str, object]:
    """Return what reports say of each case that has runs to make, by the case's node id."""
    from pytest_plugin_eval.pytest_side.collector import EvalRun
    from pytest_plugin_eval.pytest_side.payload import plain_case

    runs = (item for item in items if isinstance(item, EvalRun))
    planned = {case_of(run.nodeid): run.planned for run in runs}
    return {
        nodeid: plain_case(one.info) for nodeid, one in planned.items() if one.skip_reason is None
    }


@contextlib.contextmanager
def _ended_with_parent() -> Iterator[None]:
    """End this process in order when the one that started it has gone.

    xdist has a worker make the runs that it was given although the session was killed: nobody would
    see them, and a session that goes on in the same directory would pay for them as well.
    """
    over, parent = threading.Event(), os.getppid()

    def look() -> None:
        while not over.wait(LOOK_S):
            if os.getppid() != parent:
                os.kill(os.getpid(), signal.SIGTERM)
                return

    watch = threading.Thread(target=look, name="eval-parent", daemon=True)
    watch.start()
    try:
        yield
    finally:
        over.set()
        watch.join()


def received_state(parcel: dict[str, object]) -> CollectionState:
    """Return the collection state that a worker sent."""
    plans = parcel["plans"]
    broken = parcel["broken"]
    assert isinstance(plans, list)
    advice = parcel["advice"]
    assert isinstance(broken, dict)
    assert isinstance(advice, dict)
    shard_cases = parcel["shard_cases"]
    assert isinstance(shard_cases, dict)
    lists = {name: parcel[name] for name in ("loose", "unnamed", "notes")}
    return CollectionState(
        plans=[CasePlan(**plan) for plan in plans],
        advice=advice,
        shard_cases=shard_cases,
        broken={str(nodeid): tuple(texts) for nodeid, texts in broken.items()},
        **lists,  # type: ignore[arg-type]  # lists of strings, as sent above
    )
