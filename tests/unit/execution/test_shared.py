"""What the processes of a session share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_plugin_eval.agents.base import AgentRequest
from pytest_plugin_eval.execution.keeper import Keeper
from pytest_plugin_eval.execution.planning import PlannedCase, plan_case
from pytest_plugin_eval.execution.run import RunMaker
from pytest_plugin_eval.execution.shared import FirstRun, Shared
from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunOutcome, RunRecord
from pytest_plugin_eval.settings import Mode, Settings
from tests.support.records import record, said
from tests.support.suites import ONE_GRADER, case_of

SETTINGS = Settings(runs=4, retries=0)
MakeProcess = Callable[..., "Process"]


class Process:
    """A process of the session, whose agent ends its runs as it is told."""

    def __init__(self, planned: PlannedCase, results: Path, money: Path, endings: list[Ending]):
        keeper = Keeper(Mode.LIVE, results={planned.case.root: results}, recordings={})
        self.shared = Shared.among(money, ceiling_usd=None)
        self.requests: list[AgentRequest] = []
        self._planned = planned
        self._endings = endings
        self._maker = RunMaker(SETTINGS, self, keeper, shared=self.shared)

    def run(self, request: AgentRequest) -> RunRecord:
        """Return the next ending."""
        self.requests.append(request)
        outcome = RunOutcome(ending=self._endings.pop(0), error="no", cost_usd=0.0)
        return replace(record(said("a")), key=request.key, outcome=outcome)

    def stop(self) -> None:
        """Do nothing."""

    def close(self) -> tuple[str, ...]:
        """Leave nothing behind."""
        return ()

    def make(self, number: int) -> RunOutcome:
        """Make a run of the case."""
        key = RunKey(case=self._planned.case.id, arm=Arm.WITH, number=number)
        return self._maker.make(self._planned, key).record.outcome


@pytest.fixture
def make_process(tmp_path: Path) -> MakeProcess:
    """Return a function that makes processes of one session."""
    case = case_of(tmp_path / "plugin", {"prompt.md": "Do it.\n", **ONE_GRADER})
    planned = plan_case(case, SETTINGS)
    (tmp_path / "money").mkdir()
    return lambda *endings: Process(
        planned, tmp_path / "results", tmp_path / "money", list(endings)
    )


def test_refused_credential_in_a_process_that_was_not_first_is_an_ordinary_loss(
    make_process: MakeProcess,
) -> None:
    first = make_process(Ending.COMPLETED)
    second = make_process(Ending.CREDENTIAL_REFUSED, Ending.COMPLETED)

    first.make(1)
    endings = [second.make(number).ending for number in (2, 3)]

    assert endings == [Ending.CREDENTIAL_REFUSED, Ending.COMPLETED]


def test_refused_credential_in_the_first_run_stops_all_processes(make_process: MakeProcess) -> None:
    first = make_process(Ending.CREDENTIAL_REFUSED)
    second = make_process()

    first.make(1)
    outcomes = [process.make(number) for process, number in ((first, 2), (second, 3))]

    assert {(one.ending, one.error) for one in outcomes} == {
        (Ending.NOT_STARTED, "the credential was refused in the first run")
    }
    assert (len(first.requests), second.requests) == (1, [])


def test_first_ending_stays(tmp_path: Path) -> None:
    early, late = FirstRun(tmp_path), FirstRun(tmp_path)
    before = late.ending

    early.note(Ending.COMPLETED)
    late.note(Ending.CREDENTIAL_REFUSED)

    assert (before, early.ending, late.ending) == (None, Ending.COMPLETED, Ending.COMPLETED)


@pytest.mark.parametrize("missing", [True, False], ids=["cannot be told", "has nobody to tell"])
def test_process_that_tells_nobody_has_its_own_first_run(missing: bool, tmp_path: Path) -> None:
    first = FirstRun(tmp_path / "missing") if missing else FirstRun()

    first.note(Ending.CREDENTIAL_REFUSED)
    first.note(Ending.COMPLETED)

    assert first.ending is Ending.CREDENTIAL_REFUSED


def test_ending_that_is_still_being_written_is_not_known_yet(tmp_path: Path) -> None:
    (tmp_path / "first-run").write_text("credential_", encoding="utf-8")

    assert FirstRun(tmp_path).ending is None
