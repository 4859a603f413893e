"""xdist's own hooks, on the controller; registered only where xdist is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.pytest_side.ids import is_run_id
from pytest_plugin_eval.pytest_side.stash import picked_key, settings_key

if TYPE_CHECKING:
    import execnet
    from xdist.workermanage import WorkerController

    from pytest_plugin_eval.pytest_side.controller import EvalController

__all__ = ["EvalNodes"]

HOW = "see the documentation, 'Run on several machines'"


class EvalNodes:
    """Tells workers what they need and learns what they expect and what they left."""

    def __init__(
        self, config: pytest.Config, controller: EvalController, *, ascii_only: bool
    ) -> None:
        self._config = config
        self._controller = controller
        self._ascii_only = ascii_only

    def pytest_xdist_setupnodes(self, specs: Sequence[execnet.XSpec]) -> None:
        """Refuse, in one line, evals that workers elsewhere could not be told of."""
        settings = self._config.stash[settings_key]
        picked = self._config.stash[picked_key]
        evals = [*picked.inside, *picked.shown]
        if not any(map(_is_elsewhere, specs)):
            if evals or settings.evals:
                self._check_tx()
            return
        if settings.resume_dir is not None:
            raise pytest.UsageError(
                f"--eval-resume {settings.resume_dir}: workers elsewhere have no part of these "
                "results; go on without --tx, here or by -n"
            )
        if evals:
            self._check_arguments()

    def pytest_configure_node(self, node: WorkerController) -> None:
        """Hand the session's name to a worker."""
        spec, place = node.gateway.spec, self._controller.place
        is_here = bool(spec.popen)
        self._controller.has_remote_workers |= not is_here
        elsewhere = None
        if _is_elsewhere(spec):
            elsewhere = {
                "rootdir": str(self._config.rootpath),
                "here": str(self._config.invocation_params.dir),
                "spool": str((place.remote if is_here else place.away) / node.gateway.id),
            }
        node.workerinput["plugin_eval"] = {
            "session_id": self._controller.session_id,
            "ascii_only": self._ascii_only,
            # A worker on another machine has other processes and another disk.
            "processes": str(place.path) if is_here else None,
            "money": str(place.money()) if is_here else None,
            "elsewhere": elsewhere,
        }

    def pytest_xdist_node_collection_finished(
        self, node: WorkerController, ids: Sequence[str]
    ) -> None:
        """Learn which runs are expected."""
        if any(map(is_run_id, ids)):
            if _is_elsewhere(node.gateway.spec):
                self._controller.remote.expect(ids, node.gateway.id)
            self._check_tx()
        self._controller.expect(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_testnodedown(self, node: WorkerController) -> None:
        """Take in what the worker found while collecting; a crashed one left nothing."""
        parcel = getattr(node, "workeroutput", {}).get("plugin_eval")
        self._controller.has_dead_workers |= parcel is None
        if parcel is not None:
            self._controller.take_state(parcel)

    def _check_tx(self) -> None:
        """Refuse ``-n`` beside ``--tx``: xdist leaves out the latter without a word."""
        count = self._config.getoption("numprocesses")
        words = [*map(str, self._config.invocation_params.args)]
        if count and any(word == "--tx" or word.startswith("--tx=") for word in words):
            raise pytest.UsageError(
                f"-n {count} beside --tx: xdist would use no --tx; write --dist load "
                f"--tx {count}*popen and the other --tx"
            )

    def _check_arguments(self) -> None:
        """Refuse paths that xdist cannot tell a worker elsewhere."""
        roots = [*self._config.getoption("rsyncdir"), *self._config.getini("rsyncdirs")]
        known = [Path(root).resolve() for root in roots]
        for word in map(str, self._config.invocation_params.args):
            path = Path(word.partition("::")[0])
            is_told = any(path == root or path.is_relative_to(root) for root in known)
            if not is_told and _exists(path):
                raise pytest.UsageError(
                    f"{word}: xdist tells workers elsewhere of no path that is not absolute and "
                    f"in an --rsyncdir; name no path and pass --evals, or {HOW}"
                )


def _is_elsewhere(spec: execnet.XSpec) -> bool:
    """Whether a worker works in another directory, or on another machine."""
    return not spec.popen or bool(spec.chdir)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # the value of an option may be too long for a path
        return False
