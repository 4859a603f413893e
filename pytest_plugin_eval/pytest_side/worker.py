"""What an xdist worker sends home besides its runs' reports."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from pytest_plugin_eval.pytest_side.signals import SessionSignals
from pytest_plugin_eval.pytest_side.stash import collection_key, workbench_key
from pytest_plugin_eval.pytest_side.state import CollectionState
from pytest_plugin_eval.reports.plan import CasePlan

__all__ = ["EvalWorker", "received_state"]


class EvalWorker:
    """Sends the plan, the deselected cases and the load warnings at the worker's end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Have the controller's signal end the run in hand in order, its agent included."""
        self._leave_process_id()
        with SessionSignals():
            return (yield)

    def _leave_process_id(self) -> None:
        place = self._config.workerinput["plugin_eval"]["processes"]  # type: ignore[attr-defined]
        if place is not None and self._config.stash[collection_key].plans:
            with contextlib.suppress(FileExistsError):
                Path(place).mkdir(mode=0o700)
            Path(place, str(os.getpid())).touch()

    def pytest_sessionfinish(self) -> None:
        """Put what collection found into xdist's own parcel (decisions, 22)."""
        state = self._config.stash[collection_key]
        bench = self._config.stash[workbench_key]
        agent = [f"agent: {bench.backend_note}"] if bench.backend_note else []
        output: dict[str, object] = self._config.workeroutput  # type: ignore[attr-defined]  # xdist's
        output["plugin_eval"] = {
            "plans": [dataclasses.asdict(plan) for plan in state.plans],
            "broken": {nodeid: list(texts) for nodeid, texts in state.broken.items()},
            "loose": list(state.loose),
            "advice": {text: list(cases) for text, cases in state.advice.items()},
            "unnamed": list(state.unnamed),
            "notes": [*state.notes, *agent, *bench.notes],
        }


def received_state(parcel: dict[str, object]) -> CollectionState:
    """Return the collection state that a worker sent."""
    plans = parcel["plans"]
    broken = parcel["broken"]
    assert isinstance(plans, list)
    advice = parcel["advice"]
    assert isinstance(broken, dict)
    assert isinstance(advice, dict)
    lists = {name: parcel[name] for name in ("loose", "unnamed", "notes")}
    return CollectionState(
        plans=[CasePlan(**plan) for plan in plans],
        advice=advice,
        broken={str(nodeid): tuple(texts) for nodeid, texts in broken.items()},
        **lists,  # type: ignore[arg-type]  # lists of strings, as sent above
    )
