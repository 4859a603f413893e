"""Stand-ins for MCP servers in the runs of one process. Spec: agent-run, 7."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from pytest_plugin_eval.agents.base import AgentRequest, StandIns
from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.cases.mock import Place, PlacedServer, Responder, placed_servers
from pytest_plugin_eval.errors import AgentError
from pytest_plugin_eval.graders.javascript import Failure, Question, ask
from pytest_plugin_eval.records.model import Arm, Ending, MockRecord, RunOutcome, RunRecord
from pytest_plugin_eval.records.redact import redactor
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.settings import Mocks, Mode, Settings

if TYPE_CHECKING:
    from pytest_plugin_eval.mocks.asking import Asker
    from pytest_plugin_eval.mocks.recordings import Recording
    from pytest_plugin_eval.mocks.responder import Aborted, MockResult
    from pytest_plugin_eval.mocks.service import MockService, OpenMocks

__all__ = ["Mocked", "Mocking", "asks_a_model", "run_servers"]

Run = Callable[[AgentRequest], RunRecord]

_ALTERED = "{}/{}: the model was shown another answer than the mock gave, such as by a hook"
STOP_S = 30.0
"""How long the call that broke a run off is kept waiting for the end of its agent."""


class Mocked(NamedTuple):
    """A run that was made with stand-ins."""

    record: RunRecord
    """Its cost holds that of answers by a model."""
    agent_cost_usd: float | None
    """Without these: they are in the ledger already."""
    recordings: tuple[Recording, ...] = ()
    """Answers by a model in a run that ended well, to be kept."""
    is_at_ceiling: bool = False
    """Whether it was lost because the cost ceiling kept a model from answering."""


def asks_a_model(case: Case) -> bool:
    """Return whether a model answers for one of the case's servers."""
    return any(tool.responder is Responder.AGENT for server in case.mocks for tool in server.tools)


def run_servers(case: Case, arm: Arm, settings: Settings) -> tuple[PlacedServer, ...]:
    """Return the servers of a run: those with a mock are served, the others withheld.

    Of what the plugins declare, the without-arm has nothing at all. Spec: agent-run, 7.5.
    """
    if settings.mocks is Mocks.OFF:
        return ()
    servers = placed_servers(case.mocks, case.plugins)
    if arm is Arm.WITHOUT:
        return tuple(server for server in servers if server.place is Place.STANDALONE)
    if settings.real_servers:
        return tuple(server for server in servers if server.place is not Place.WITHHELD)
    return servers


class Mocking:
    """Serves the stand-ins of all runs of one process; the server starts with the first."""

    def __init__(
        self,
        settings: Settings,
        asker: Asker | None,
        *,
        env: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """*asker* asks the model behind agent mocks; ``None`` where there are none.

        *env* is the operator's, whose secrets no record may hold.
        """
        self._settings = settings
        self._asker = asker
        self._env = env
        self._service: MockService | None = None
        self._lock = threading.Lock()
        self._is_stopped = False

    @property
    def refused_credential(self) -> str | None:
        """What the service said when it refused the credential before a model had answered."""
        return None if self._asker is None else self._asker.refused_credential

    def make(self, run: Run, request: AgentRequest) -> Mocked:
        """Make a run with the stand-ins that it is to have."""
        servers = run_servers(request.case, request.key.arm, self._settings)
        request = replace(request, real_servers=self._lets_real_servers_start())
        if not servers:
            record = run(request)
            return Mocked(record, record.outcome.cost_usd)
        if not any(server.mock is not None for server in servers):
            return _unserved(run(request), servers, self._warnings(request.case, servers))
        return self._served(run, request, servers)

    def check(self, cases: Iterable[Case]) -> str | None:
        """Return who plays the servers that a model answers for, ``None`` where there are none.

        Raises `EvalError` when the mocks of a case cannot be served, or that model not be asked.
        """
        if self._settings.mode is Mode.REPLAY or self._settings.mocks is Mocks.OFF:
            return None
        if any(case.mocks for case in cases):
            from pytest_plugin_eval.mocks.service import check_packages

            check_packages()
        return None if self._asker is None else self._asker.check()

    def stop(self) -> None:
        """Ask no model any further."""
        self._is_stopped = True
        if self._asker is not None:
            self._asker.stop()

    def close(self) -> None:
        """End the server."""
        if self._asker is not None:
            self._asker.close()
        if self._service is not None:
            self._service.close()

    def _lets_real_servers_start(self) -> bool:
        return self._settings.real_servers or self._settings.mocks is Mocks.OFF

    def _served(self, run: Run, request: AgentRequest, servers: tuple[PlacedServer, ...]) -> Mocked:
        from pytest_plugin_eval.agents.credentials import operator_secrets

        ending = _Ending()
        try:
            opened = self._open(request, servers, ending)
        except AgentError as error:
            return Mocked(_not_set_up(request, str(error)), 0.0)
        try:
            record = run(
                replace(
                    request,
                    stand_ins=StandIns(config=opened.config, tools=opened.tools),
                    attach=ending.attach,
                )
            )
        finally:
            ending.over()
            result = opened.close()
        # The record itself holds no secret any more.
        result = result.redacted(redactor(operator_secrets(self._env)))
        outcome = _ended(record.outcome, result, is_stopped=self._is_stopped)
        warnings = self._warnings(request.case, servers)
        return _mocked(record, outcome, servers=servers, result=result, warnings=warnings)

    def _warnings(self, case: Case, servers: tuple[PlacedServer, ...]) -> tuple[str, ...]:
        """Return what a reader of the run should know of its servers, whatever its arm."""
        from pytest_plugin_eval.mocks.summary import placing_warnings, schema_warnings

        placed = placed_servers(case.mocks, case.plugins)
        placing = placing_warnings(placed, real_servers=self._settings.real_servers)
        return (*placing, *schema_warnings(servers))

    def _open(
        self, request: AgentRequest, servers: tuple[PlacedServer, ...], ending: _Ending
    ) -> OpenMocks:
        from pytest_plugin_eval.mocks.responder import RunMocks
        from pytest_plugin_eval.mocks.service import MockService

        with self._lock:
            if self._service is None:
                self._service = MockService()
        return self._service.open(
            RunMocks(
                servers=servers,
                max_turns=request.case.max_turns,
                matches=self._matches,
                ask=self._asker,
                on_abort=ending.end,
                on_failure=ending.end,
                model=self._settings.judge_model,
                root=request.case.root,
            )
        )

    def _matches(self, pattern: str, flags: str, text: str) -> bool:
        question = Question(pattern, flags, text)
        answer = ask([question], self._settings.grader_timeout_s)[question]
        # What cannot be decided in time is no reason to break a run off.
        return isinstance(answer, Failure) or bool(answer)


class _Ending:
    """Ends the agent of one run, also where the reason comes before the agent has started."""

    def __init__(self) -> None:
        self._stop: Callable[[], None] | None = None
        self._is_due = False
        self._is_over = threading.Event()

    def attach(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        if self._is_due:
            stop()

    def end(self, why: Aborted | str) -> None:
        del why  # the responder tells it in the end
        self._is_due = True
        if self._stop is not None:
            self._stop()
        # With the answer the agent would go on, and be paid for what nobody grades.
        self._is_over.wait(STOP_S)

    def over(self) -> None:
        """Note that the agent has ended."""
        self._is_over.set()


def _mocked(
    record: RunRecord,
    outcome: RunOutcome,
    *,
    servers: tuple[PlacedServer, ...],
    result: MockResult,
    warnings: tuple[str, ...],
) -> Mocked:
    """Return a run that was served and came to *outcome*."""
    from pytest_plugin_eval.mocks.calls import altered_result, mock_calls_text, unmocked_calls
    from pytest_plugin_eval.mocks.summary import mocks_fields

    agent_cost_usd, aborted = outcome.cost_usd, result.aborted
    if result.failure is None:
        changed = altered_result(record.trace, result.calls)
        notes = () if changed is None else (_ALTERED.format(changed.server, changed.tool),)
    else:
        # Told once: mostly it is the run's error.
        notes = () if result.failure in (outcome.error or "") else (result.failure,)
    mocks = MockRecord(
        calls=mock_calls_text(record.trace, result.calls),
        fields=mocks_fields(
            servers, result, unmocked=unmocked_calls(record.trace, servers), warnings=warnings
        ),
        aborted=_aborted_fields(aborted) if outcome.ending is Ending.ABORTED and aborted else None,
    )
    record = replace(
        record,
        outcome=outcome.with_cost(result.cost_usd, result.known_usd),
        mocks=mocks,
        notes=(*record.notes, *notes),
    )
    ended_well = outcome.ending is Ending.COMPLETED and outcome.error is None
    recordings = result.recordings if ended_well else ()
    is_lost_to_ceiling = result.is_at_ceiling and outcome.ending is Ending.AGENT_ERROR
    return Mocked(record, agent_cost_usd, recordings, is_at_ceiling=is_lost_to_ceiling)


def _ended(outcome: RunOutcome, result: MockResult, *, is_stopped: bool) -> RunOutcome:
    """Return how a run ended, given what its mocks did: only they know why they broke it off.

    *is_stopped*: the whole session was; models do not answer then, which is nobody's fault.
    """
    has_failed = result.failure is not None and not is_stopped
    is_ended_by_mock = result.aborted is not None or has_failed
    is_broken_off = outcome.ending is Ending.INTERRUPTED and is_ended_by_mock
    if not (outcome.is_gradable or is_broken_off):
        return outcome
    if result.failure is not None:
        # What an agent does without the answer, in the one arm that has mocks, measures nothing.
        error = f"a mocked server had no answer: {result.failure}"
        return replace(outcome, ending=Ending.AGENT_ERROR, error=error)
    if result.aborted is not None:
        return replace(outcome, ending=Ending.ABORTED, error=None)
    return outcome


def _not_set_up(request: AgentRequest, error: str) -> RunRecord:
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    outcome = RunOutcome(
        ending=Ending.SETUP_FAILED, error=error, started_at=now.replace("+00:00", "Z")
    )
    return RunRecord(key=request.key, outcome=outcome, trace=Trace())


def _unserved(
    record: RunRecord, servers: tuple[PlacedServer, ...], warnings: tuple[str, ...]
) -> Mocked:
    """Return a run whose plugins declare servers, none of which was started or mocked.

    Nothing stood in for anything, so there is nothing that a call could have missed.
    """
    from pytest_plugin_eval.mocks.responder import MockResult
    from pytest_plugin_eval.mocks.summary import mocks_fields

    fields = mocks_fields(servers, MockResult(), unmocked={}, warnings=warnings)
    record = replace(record, mocks=MockRecord(calls=None, fields=fields))
    return Mocked(record, record.outcome.cost_usd)


def _aborted_fields(aborted: Aborted) -> Mapping[str, str]:
    return {"server": aborted.server, "tool": aborted.tool, "reason": aborted.reason}
