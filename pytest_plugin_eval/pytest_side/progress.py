"""What has come in of a case while its session runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_plugin_eval.pytest_side.ids import run_key, run_name

if TYPE_CHECKING:
    from pytest_plugin_eval.records.model import RunKey
    from pytest_plugin_eval.scoring.model import RunReport

__all__ = ["CaseProgress"]

RUNS = "runs"
NOTHING = "the run left nothing: its worker died, or its start failed"
KEPT = "its worker died before it was graded; its record is there, and --eval-resume grades it"


@dataclass(slots=True, eq=False, repr=False)
class CaseProgress:
    """What has come in of one case, by its node id."""

    expected: set[str] = field(default_factory=set)
    """Ids of the selected runs."""
    finished: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    """Ids of runs with a failed report, those included of which nothing else came in."""
    runs: dict[RunKey, RunReport] = field(default_factory=dict)
    """By key, so that a rerun replaces its earlier report."""
    verdict_given: bool = False

    @property
    def has_lost_runs(self) -> bool:
        """Whether a run was to be made and left nothing: its worker died, or its start failed."""
        names = set(map(run_name, self.runs))
        return any(nodeid.rpartition("::")[2] not in names for nodeid in self.failed)

    def put_lost_runs(self) -> None:
        """Put a run that was not measured in the place of each that left nothing.

        Otherwise the arms would be compared as if it had never been planned.
        """
        if not self.runs or not self.failed:
            return
        from pytest_plugin_eval.records.layout import record_path
        from pytest_plugin_eval.records.model import Ending, RunOutcome
        from pytest_plugin_eval.scoring.runs import run_report

        some = next(iter(self.runs.values()))
        for nodeid in self.failed:
            key = run_key(nodeid, some.case.id)
            if key not in self.runs:
                # Of a worker that died while the judge was asked.
                path = record_path(Path(some.results_dir, RUNS), key)
                is_kept = bool(some.results_dir) and path.is_file()
                self.runs[key] = run_report(
                    key=key,
                    case=some.case,
                    outcome=RunOutcome(ending=Ending.NO_RESULT, error=KEPT if is_kept else NOTHING),
                    verdicts=(),
                    record_path=str(path) if is_kept else "",
                    provenance={},
                    last_message="",
                )
