"""A session that is killed and resumed, however often, ends as one that nobody disturbed."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_plugin_eval.agents.base import AgentRequest
from pytest_plugin_eval.cases.fingerprint import plugin_hash, prompt_hash, settings_hash
from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.execution.keeper import RUNS, Keeper
from pytest_plugin_eval.execution.planning import PlannedCase, plan_case
from pytest_plugin_eval.execution.resume import Resume
from pytest_plugin_eval.execution.run import RunMaker
from pytest_plugin_eval.execution.shared import Shared
from pytest_plugin_eval.judges.base import JudgeReply, JudgeRequest
from pytest_plugin_eval.judges.polling import Judge
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.layout import record_path, recorded_keys
from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunOutcome, RunRecord
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import RunReport, SuiteInfo, SuiteResult
from pytest_plugin_eval.settings import Mode, Settings
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from pytest_plugin_eval.storage.results_dir import (
    release_results_directory,
    resumed_results_directory,
    shared_results_directory,
)
from pytest_plugin_eval.storage.session_file import keep_session_file, session_facts
from pytest_plugin_eval.storage.space import Space
from tests.support.records import record, said
from tests.support.suites import MANIFEST, load, write_tree

VERSION = "2.1.332"
SETTINGS = Settings(runs=2, retries=1, retry_pause_s=0.0)
NUMBERS = count()
"""Tell the sessions of one process apart."""
ATTEMPT_USD, VOTE_USD = 0.25, 0.125
GRADERS = {
    "french.md": "---\ntype: regex\npattern: bonjour\n---\n",
    "nice.md": "---\ntype: llm\n---\nIs it nice?\n",
}


class Killed(BaseException):
    """What a process cannot catch."""


class Machine:
    """Counts the effects of a session and kills it before one of them."""

    def __init__(self, budget: int | None) -> None:
        self._left = budget
        self._lock = threading.Lock()
        self.is_dead = False

    def step(self) -> None:
        """Let the next effect happen, or never another one."""
        with self._lock:
            if self._left is not None:
                self.is_dead = self.is_dead or self._left <= 0
                self._left -= 1
            if self.is_dead:
                raise Killed

    @contextmanager
    def files(self) -> Iterator[None]:
        """Have it kill in and around the writing of files."""
        rename, unlink = Path.replace, Path.unlink

        def step_fsync(_: int) -> None:
            self.step()

        def step_rename(path: Path, target: Path) -> None:
            self.step()
            rename(path, target)
            self.step()

        def step_unlink(path: Path, missing_ok: bool = False) -> None:
            if self.is_dead:  # the dead do not tidy up
                raise Killed
            unlink(path, missing_ok=missing_ok)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", step_fsync)
            patch.setattr(Path, "replace", step_rename)
            patch.setattr(Path, "unlink", step_unlink)
            yield


class Agent:
    """Plays what each run's attempts come to, and watches that nothing is made twice."""

    def __init__(self, machine: Machine, runs: Path, failures: Mapping[RunKey, int]) -> None:
        self._machine = machine
        self._runs = runs
        self._failures = failures
        self._last: tuple[RunKey, int] | None = None

    def run(self, request: AgentRequest) -> RunRecord:
        """Make the next attempt at a run."""
        if self._last is not None:
            key, attempts = self._last
            assert self._attempts(key) == attempts, "paid for, and not kept before the next"
        kept = self._kept(request.key)
        assert kept is None or not kept.outcome.is_measured, "a finished run is made again"
        attempts = self._attempts(request.key)
        self._machine.step()
        made = self._made(request, is_measured=attempts >= self._failures[request.key])
        self._last = (request.key, attempts + 1)
        self._machine.step()
        return made

    def stop(self) -> None:
        """Do nothing: one run at a time."""

    def close(self) -> tuple[str, ...]:
        """Leave nothing behind."""
        return ()

    def _attempts(self, key: RunKey) -> int:
        kept = self._kept(key)
        return 0 if kept is None else kept.outcome.attempts

    def _kept(self, key: RunKey) -> RunRecord | None:
        try:
            return read_record(record_path(self._runs, key))
        except RecordError:
            return None

    def _made(self, request: AgentRequest, *, is_measured: bool) -> RunRecord:
        key, case = request.key, request.case
        word = "bonjour" if key.arm is Arm.WITH or key.number > 1 else "hello"
        ending = Ending.COMPLETED if is_measured else Ending.NO_RESULT
        provenance = {"prompt": prompt_hash(case), "settings": settings_hash(case)}
        if key.arm is Arm.WITH:
            provenance["plugin"] = plugin_hash(case) or ""
        return replace(
            record(said(f"{word} {key.case} {key.number}")),
            key=key,
            outcome=RunOutcome(
                ending=ending,
                error=None if is_measured else "lost",
                cost_usd=ATTEMPT_USD,
                started_at="2026-01-31T09:05:00.123Z",
            ),
            provenance=provenance,
        )


class Votes:
    """A judge that always answers a question alike."""

    description = "scripted"

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def resolved(self, model: str | None) -> str:
        """Return the one model."""
        return model or "judge"

    def estimate_usd(self, model: str, *, input_tokens: int, output_tokens: int) -> float | None:
        """Return the one price."""
        del model, input_tokens, output_tokens
        return VOTE_USD

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """Find every second run nice."""
        if self._machine.is_dead:
            raise Killed
        is_nice = any(isinstance(part, str) and " 1" in part for part in request.parts)
        text = "PASS" if is_nice else "FAIL"
        return JudgeReply(text=text, model=request.model, cost_usd=VOTE_USD)

    def close(self) -> None:
        """Hold nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A suite, what becomes of its runs, and where results go."""

    planned: tuple[PlannedCase, ...]
    failures: Mapping[RunKey, int]
    base: Path

    def session(self, budget: int | None, resumed: Path | None) -> tuple[Path, Runs]:
        """Run a session that is killed before its n-th effect; return what it came to.

        The reports are ``None`` when it was killed.
        """
        session_id = f"2026-01-31T09-05-00-{next(NUMBERS) % 1000:03d}Z {os.getpid()}"
        machine = Machine(budget)
        if resumed is None:
            directory = shared_results_directory(self.base, session_id)
        else:
            directory = resumed
            resumed_results_directory(directory, session_id)
        try:
            with machine.files():
                reports = self._reports(machine, directory)
                release_results_directory(directory)
        except Killed:
            return directory, None
        return directory, reports

    def _reports(self, machine: Machine, directory: Path) -> list[RunReport]:
        root = self.planned[0].case.root
        resume = Resume(directory)
        resume.check(self.planned, SETTINGS, VERSION, {})
        cases = [one.case for one in self.planned]
        facts = session_facts(cases, SETTINGS, agent_version=VERSION, env={})
        keep_session_file(directory, facts)
        space = Space(reserve_bytes=1024)
        space.reserve(directory)
        ledger, limiter = Ledger(), Limiter()
        judge = Judge(lambda: Votes(machine), ledger=ledger, limiter=limiter)
        maker = RunMaker(
            SETTINGS,
            Agent(machine, directory / RUNS, self.failures),
            Keeper(Mode.LIVE, results={root: directory}, recordings={}, space=space),
            shared=Shared(ledger=ledger, limiter=limiter),
            judge=judge,
            resume={root: resume},
        )
        try:
            return [
                report
                for one in self.planned
                for key in one.keys
                for report in maker.reports([maker.make(one, key)])
            ]
        finally:
            # Threads end with their process.
            judge.close()

    def result(self, reports: list[RunReport]) -> SuiteResult:
        """Return the numbers of the suite."""
        info = SuiteInfo(
            root="", eval_dir="", ablation="", threshold=0.5, concurrency=1, mode="live"
        )
        cases = [
            case_result(
                one.info, [run for run in reports if run.key.case == one.case.id], threshold=0.5
            )
            for one in self.planned
        ]
        return suite_result(info, cases, partial_reason=None)


Runs = list[RunReport] | None


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> tuple[PlannedCase, ...]:
    """Two cases of a plugin, with two runs in each arm."""
    root = tmp_path_factory.mktemp("suite")
    files: dict[str, str | bytes] = dict(MANIFEST)
    for name in ("one", "two"):
        files[f"evals/{name}/prompt.md"] = f"Do {name}.\n"
        files |= {f"evals/{name}/graders/{grader}": text for grader, text in GRADERS.items()}
    write_tree(root, files)
    return tuple(plan_case(load(root / "evals" / name), SETTINGS) for name in ("one", "two"))


def _facts(reports: list[RunReport]) -> list[tuple[object, ...]]:
    return [
        (
            run.key,
            run.score,
            run.measured,
            [(verdict.grader, verdict.status, verdict.votes) for verdict in run.verdicts],
            run.outcome.cost_usd,
            run.outcome.attempts,
            run.judge_cost_usd,
        )
        for run in reports
    ]


def _numbers(suite: SuiteResult) -> Mapping[str, object]:
    def without_runs(case: Any) -> object:
        return replace(case, with_runs=(), without_runs=())

    return {
        "cases": [without_runs(case) for case in suite.cases],
        "score": suite.overall_score,
        "pass rate": suite.overall_pass_rate,
        "delta": suite.mean_delta,
        "passed": suite.cases_passed,
        "cost": suite.cost_usd,
        "partial": suite.partial_reason,
    }


def _undisturbed(world: Callable[[str], World]) -> tuple[World, list[RunReport]]:
    calm = world("calm")
    _, reports = calm.session(None, None)
    assert reports is not None
    return calm, reports


# Long enough that a session of eight runs, each with its votes, can be killed anywhere.
KILLS = st.lists(st.integers(0, 90), min_size=1, max_size=4)
FAILURES = st.lists(st.integers(0, 1), min_size=8, max_size=8)


# Most of the time goes into the files of some thirty runs an example.
@settings(max_examples=30)
@given(kills=KILLS, failures=FAILURES)
@example(kills=[0, 1, 2, 3], failures=[0] * 8)
@example(kills=[4, 4, 4, 4], failures=[1] * 8)
def test_killed_session_ends_like_an_undisturbed_one(
    planned: tuple[PlannedCase, ...], kills: list[int], failures: list[int]
) -> None:
    keys = [key for one in planned for key in one.keys]
    script = dict(zip(keys, failures, strict=True))
    with tempfile.TemporaryDirectory() as place:

        def world(name: str) -> World:
            return World(planned=planned, failures=script, base=Path(place, name))

        calm, expected = _undisturbed(world)
        killed, directory = world("killed"), None
        for budget in kills:
            directory, _ = killed.session(budget, directory)

        directory, reports = killed.session(None, directory)

        assert reports is not None
        assert _facts(reports) == _facts(expected)
        assert _numbers(killed.result(reports)) == _numbers(calm.result(expected))
        _assert_tidy(directory, keys)


def _assert_tidy(directory: Path, keys: list[RunKey]) -> None:
    """Check that a session leaves its records, with one judging each, and nothing else."""
    assert recorded_keys(directory / RUNS) == tuple(sorted(keys))
    files = {path for path in directory.rglob("*") if path.is_file()}
    records = {record_path(directory / RUNS, key) for key in keys}
    assert {path.name for path in files - records} == {"session.json"}
    assert {len(read_record(path).votes) for path in records} == {3}
