"""Names and node ids of runs and verdicts: made here and nowhere else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_plugin_eval.records.model import RunKey

__all__ = ["VERDICT", "case_of", "is_run_id", "run_key", "run_name", "verdict_id"]

VERDICT = "score"
# A text, for `re` to compile when a run is met: most sessions meet none.
_RUN_ID = r"::run\[(?:with|without)-[1-9][0-9]*\]\Z"


def run_name(key: RunKey) -> str:
    """Return the item name of a run, ``run[with-1]``."""
    return f"run[{key.arm.value}-{key.number}]"


def run_key(nodeid: str, case: str) -> RunKey:
    """Return the key of a run of *case*, a case id, by its node id."""
    from pytest_plugin_eval.records.model import Arm, RunKey

    arm, _, number = nodeid.rpartition("[")[2].removesuffix("]").partition("-")
    return RunKey(case=case, arm=Arm(arm), number=int(number))


def is_run_id(nodeid: str) -> bool:
    """Whether a node id looks like a run's."""
    return "::run[" in nodeid and re.search(_RUN_ID, nodeid) is not None


def case_of(run_id: str) -> str:
    """Return the case's node id of a run's or a verdict's."""
    return run_id.rpartition("::")[0]


def verdict_id(case_nodeid: str) -> str:
    """Return the node id of a case's verdict."""
    return f"{case_nodeid}::{VERDICT}"
