"""What has come in of a case while its session runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_plugin_eval.pytest_side.ids import case_of, run_key, run_name

if TYPE_CHECKING:
    from pytest_plugin_eval.records.model import RunKey
    from pytest_plugin_eval.scoring.model import CaseInfo, RunReport

__all__ = ["UNGRADED", "CaseProgress", "run_by_id"]

RUNS = "runs"
UNGRADED = "made, but the session ended before it was graded"
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

    def put_unheard_runs(self, case: CaseInfo, results: str, *, is_resumed: bool) -> float:
        """Put what the records in *results* tell of runs that workers made and did not report.

        One that was cut off was paid for, and counts as without workers; one that is measured is
        still to be graded. Return what this session paid for them, as far as their records tell.
        """
        from pytest_plugin_eval.errors import RecordError
        from pytest_plugin_eval.records.codec import read_record
        from pytest_plugin_eval.records.layout import record_path
        from pytest_plugin_eval.records.model import Ending, RunOutcome
        from pytest_plugin_eval.scoring.runs import run_report

        paid_usd = 0.0
        for nodeid in sorted(self.expected - self.failed):
            key = run_key(nodeid, case.id)
            path = record_path(Path(results, RUNS), key)
            if key in self.runs or not path.is_file():
                continue
            try:
                record = read_record(path)
            except RecordError:
                continue
            outcome = record.outcome
            is_kept = outcome.is_measured
            if is_kept:
                outcome = RunOutcome(ending=Ending.NOT_STARTED, error=UNGRADED)
            # Of what an earlier session began, the record has the cost of both; the ledger knows.
            spent_usd = 0.0 if is_resumed else outcome.known_usd
            report = run_report(
                key=key,
                case=case,
                outcome=outcome,
                verdicts=(),
                record_path=str(path),
                provenance={} if is_kept else record.provenance,
                last_message="",
            )
            notes = () if is_kept else record.notes
            self.runs[key] = replace(report, results_dir=results, spent_usd=spent_usd, notes=notes)
            paid_usd += spent_usd
        return paid_usd


def run_by_id(cases: Mapping[str, CaseProgress], nodeid: str) -> RunReport | None:
    """Return the run of a node id, ``None`` while it has not come in."""
    progress = cases.get(case_of(nodeid))
    some = next(iter(progress.runs.values()), None) if progress is not None else None
    if progress is None or some is None:
        return None
    return progress.runs.get(run_key(nodeid, some.case.id))
