"""xdist's own hooks, on the controller; registered only where xdist is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

    from pytest_plugin_eval.pytest_side.controller import EvalController

__all__ = ["EvalNodes"]


class EvalNodes:
    """Tells workers what they need and learns what they expect and what they left."""

    def __init__(self, controller: EvalController, *, ascii_only: bool) -> None:
        self._controller = controller
        self._ascii_only = ascii_only

    def pytest_configure_node(self, node: WorkerController) -> None:
        """Hand the session's name to a worker."""
        is_here = bool(node.gateway.spec.popen)
        self._controller.has_remote_workers |= not is_here
        node.workerinput["plugin_eval"] = {
            "session_id": self._controller.session_id,
            "ascii_only": self._ascii_only,
            # A worker on another machine has other processes and another disk.
            "processes": str(self._controller.place.path) if is_here else None,
            "money": str(self._controller.place.money()) if is_here else None,
        }

    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Learn which runs are expected."""
        self._controller.expect(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_testnodedown(self, node: WorkerController) -> None:
        """Take in what the worker found while collecting; a crashed one left nothing."""
        parcel = getattr(node, "workeroutput", {}).get("plugin_eval")
        self._controller.has_dead_workers |= parcel is None
        if parcel is not None:
            self._controller.take_state(parcel)
