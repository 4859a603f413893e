"""Agent runs by the ``claude`` command: a fresh process in directories of its own each."""

from __future__ import annotations

import contextlib
import datetime
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from pytest_plugin_eval.agents.base import AgentRequest
from pytest_plugin_eval.agents.binary import Binary, find_binary
from pytest_plugin_eval.agents.child import Child, ChildResult, Limits
from pytest_plugin_eval.agents.command import agent_command, mcp_config_path
from pytest_plugin_eval.agents.credential_files import file_secrets
from pytest_plugin_eval.agents.credentials import credentials_text, expiry_note, secrets_in
from pytest_plugin_eval.agents.environment import agent_environment, given, secret_values
from pytest_plugin_eval.agents.grants import usable
from pytest_plugin_eval.agents.history import place_history
from pytest_plugin_eval.agents.limits import slow_down_until
from pytest_plugin_eval.agents.loopback import with_loopback_direct
from pytest_plugin_eval.agents.outcome import Classified, classify, cost_of, turns_of
from pytest_plugin_eval.agents.proof import contamination, forget_plugins, not_loaded, shell_failure
from pytest_plugin_eval.agents.sandbox import RunRoot, Sandbox
from pytest_plugin_eval.agents.scaffold import SCAFFOLD_TIMEOUT_S, Scaffold
from pytest_plugin_eval.agents.shell_sandbox import prepare_home, shell_settings
from pytest_plugin_eval.agents.workspace import collect_files, list_workspace, named_files
from pytest_plugin_eval.cases.fingerprint import (
    plugin_hash,
    prompt_hash,
    scaffold_hash,
    settings_hash,
    stand_ins_hash,
)
from pytest_plugin_eval.records.model import (
    Arm,
    Ending,
    FileEntry,
    RunOutcome,
    RunRecord,
)
from pytest_plugin_eval.records.redact import redacted, redactor
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.text import cut, shown

__all__ = ["ClaudeCli"]

ERROR_LENGTH = 2000
_EVAL_KEY = re.compile(r"EVAL_[A-Z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """What came of one agent process."""

    child: ChildResult
    trace: Trace
    found: Classified
    files: tuple[FileEntry, ...] = ()
    notes: tuple[str, ...] = ()


class _Scaffolded(NamedTuple):
    """What came of a case's script, if one was to be run."""

    problem: str | None = None
    notes: tuple[str, ...] = ()


class ClaudeCli:
    """The backend of live runs; several threads may call `run` at once."""

    def __init__(
        self,
        binary: Binary,
        *,
        env: Mapping[str, str],
        run_root: Path | None = None,
        limits: Callable[[float], Limits] = lambda timeout_s: Limits(timeout_s=timeout_s),
        scaffold_timeout_s: float = SCAFFOLD_TIMEOUT_S,
    ) -> None:
        self.binary = binary
        self._env = dict(env)
        self._secrets = (*secret_values(env), *file_secrets(given(env)))
        self._run_root = run_root
        self._roots: dict[Path | None, RunRoot] = {}
        self._limits = limits
        self._scaffold_timeout_s = scaffold_timeout_s
        self._guard = threading.Lock()
        self._children: set[Child | Scaffold] = set()
        self._is_stopped = False

    @classmethod
    def find(
        cls, *, agent_path: Path | None, env: Mapping[str, str], run_root: Path | None
    ) -> ClaudeCli:
        """Return the backend for this machine, to be closed.

        Raises `AgentError` when no binary will do or no run directories can be made.
        """
        forget_plugins()
        backend = cls(find_binary(agent_path, env), env=env, run_root=run_root)
        backend._root_of(run_root).open()
        return backend

    @property
    def description(self) -> str:
        """Say which binary is used and where it was found."""
        return self.binary.description

    @property
    def version(self) -> str:
        """Return the version of the agent."""
        return self.binary.version

    def run(self, request: AgentRequest) -> RunRecord:
        """Make the run and return its record, whatever its ending."""
        started = datetime.datetime.now(datetime.UTC)
        if self._is_stopped:
            return self._unmade(request, started, Ending.NOT_STARTED, "the session was stopped")
        if problem := _setup_problem(request):
            return self._unmade(request, started, Ending.SETUP_FAILED, problem)
        credentials = credentials_text(self._env)
        secrets = (*self._secrets, *secrets_in(credentials))
        root = self._root_of(request.run_root or self._run_root)
        sandbox = root.new()
        try:
            settings = self._settings(request, sandbox)
            sandbox.make(credentials=credentials, settings=settings)
            if settings is not None:
                prepare_home(sandbox)
            place_history(request.case, sandbox)
            scaffolded = self._scaffold(request, sandbox)
            if scaffolded.problem is not None:
                ending = Ending.INTERRUPTED if self._is_stopped else Ending.SETUP_FAILED
                record = self._unmade(request, started, ending, scaffolded.problem)
                return _finished(replace(record, notes=scaffolded.notes), secrets)
            if foreign := sandbox.foreign_configuration(has_settings=settings is not None):
                problem = f"the configuration directory holds {shown(foreign)} before the start"
                return self._unmade(request, started, Ending.CONTAMINATED, problem)
            session = self._session(request, sandbox, secrets)
        except OSError as error:
            record = self._unmade(request, started, Ending.SETUP_FAILED, f"set-up failed: {error}")
            return _finished(record, secrets)
        finally:
            notes = _leave(root, sandbox, keep=request.keep)
        record = self._record(request, started, session)
        expiry = expiry_note(credentials, started.timestamp())
        notes = (*scaffolded.notes, *record.notes, *expiry, *notes)
        return _finished(replace(record, notes=notes), secrets)

    def stop(self) -> None:
        """End every run in flight; runs asked for later are not started."""
        with self._guard:
            self._is_stopped = True
            children = tuple(self._children)
        for child in children:
            child.stop()

    def close(self) -> tuple[str, ...]:
        """Finish with the run directories; return lines about those that could not be removed.

        Without this call the interpreter's end waits for the removals.
        """
        left = [path for root in self._roots.values() for path in root.close()]
        return tuple(f"run directory could not be removed: {path}" for path in left)

    def _root_of(self, path: Path | None) -> RunRoot:
        with self._guard:
            return self._roots.setdefault(path, RunRoot(path))

    def _settings(self, request: AgentRequest, sandbox: Sandbox) -> str | None:
        return shell_settings(
            request.case,
            request.key.arm,
            sandbox,
            entries=usable(request.case, request.allow_tools, request.disallow_tools),
            env=self._env,
            hidden=request.hidden,
        )

    def _scaffold(self, request: AgentRequest, sandbox: Sandbox) -> _Scaffolded:
        """Run the case's script where that is wanted."""
        script = request.case.scaffold_script
        if script is None or not request.scaffold:
            return _Scaffolded()
        scaffold = Scaffold(
            request.case.directory / script,
            sandbox,
            env=self._env,
            timeout_s=self._scaffold_timeout_s,
        )
        with self._in_flight(scaffold):
            problem = scaffold.run()
        return _Scaffolded(problem, scaffold.notes)

    @contextlib.contextmanager
    def _in_flight(self, child: Child | Scaffold) -> Iterator[None]:
        """Have `stop` end *child* too, at once where it was called before."""
        with self._guard:
            self._children.add(child)
            if self._is_stopped:
                child.stop()
        try:
            yield
        finally:
            with self._guard:
                self._children.discard(child)

    def _session(self, request: AgentRequest, sandbox: Sandbox, secrets: Sequence[str]) -> _Session:
        case = request.case
        before = list_workspace(sandbox.workspace)
        child = self._follow(request, sandbox)
        trace = Trace(child.lines)
        files, notes = collect_files(sandbox.workspace, before=before, named=named_files(case))
        found = classify(trace, child, timeout_s=case.timeout_s)
        # Of a session that was ended early as well: a mock that does so has it count as a 0.
        found = _proven(trace, request, sandbox) or found
        if request.keep:
            text = "".join(f"{line}\n" for line in map(redactor(secrets), child.lines))
            Path(sandbox.out, "trace.jsonl").write_text(text, encoding="utf-8")
        return _Session(
            child=child, trace=trace, found=found, files=files, notes=(*child.notes, *notes)
        )

    def _follow(self, request: AgentRequest, sandbox: Sandbox) -> ChildResult:
        case = request.case
        environment = agent_environment(self._env, sandbox, case.env)
        if request.stand_ins is not None:
            environment = with_loopback_direct(environment)
            config = mcp_config_path(sandbox)
            config.touch(mode=0o600)  # the addresses in it let in whoever knows them
            config.write_text(json.dumps(request.stand_ins.config), encoding="utf-8")
        child = Child(
            agent_command(
                self.binary.path,
                request,
                sandbox,
                default_model=self._env.get("ANTHROPIC_MODEL"),
            ),
            cwd=sandbox.workspace,
            env=environment,
            limits=self._limits(case.timeout_s),
        )
        request.attach(child.stop)

        def is_wrong(line: str) -> bool:
            return _proven(Trace([line]), request, sandbox) is not None

        def on_refusal(line: str) -> None:
            request.slow_down(slow_down_until(Trace([line]), time.time()))

        with self._in_flight(child):
            return child.run(case.prompt, is_wrong=is_wrong, on_refusal=on_refusal)

    def _record(
        self, request: AgentRequest, started: datetime.datetime, session: _Session
    ) -> RunRecord:
        child, trace = session.child, session.trace
        outcome = RunOutcome(
            ending=session.found.ending,
            error=session.found.error,
            turns=turns_of(trace),
            cost_usd=cost_of(trace, child),
            duration_s=child.duration_s,
            started_at=_stamp(started),
        )
        return RunRecord(
            key=request.key,
            outcome=outcome,
            trace=trace,
            files=session.files,
            provenance=self._provenance(request, started, trace),
            notes=session.notes,
        )

    def _unmade(
        self, request: AgentRequest, started: datetime.datetime, ending: Ending, error: str
    ) -> RunRecord:
        return RunRecord(
            key=request.key,
            outcome=RunOutcome(ending=ending, error=error, started_at=_stamp(started)),
            trace=Trace(),
            provenance=self._provenance(request, started, Trace()),
        )

    def _provenance(
        self, request: AgentRequest, started: datetime.datetime, trace: Trace
    ) -> dict[str, str]:
        case, init = request.case, trace.init or {}
        with_plugins = request.key.arm is Arm.WITH
        plugin = plugin_hash(case) if with_plugins else None
        facts = {
            "claude_version": str(init.get("claude_code_version") or self.version),
            "model": str(init.get("model") or ""),
            "recorded_at": _stamp(started),
            "prompt": prompt_hash(case),
            "settings": settings_hash(case),
            "mocks": stand_ins_hash(case, with_plugins=with_plugins),
            "scaffold": scaffold_hash(case) if request.scaffold else "",
            "plugin": plugin or "",
        }
        return {name: value for name, value in facts.items() if value}


def _setup_problem(request: AgentRequest) -> str | None:
    case = request.case
    for key in case.env:
        if not _EVAL_KEY.fullmatch(key):
            return (
                f"{case.id}: env key {shown(key)} cannot be set by a case,"
                " expected EVAL_ and capitals, digits and _"
            )
    for plugin in case.plugins:
        if plugin.problem:
            return f"{case.id}: the manifest of plugin {plugin.name} in {plugin.path} does not load"
    return None


def _proven(trace: Trace, request: AgentRequest, sandbox: Sandbox) -> Classified | None:
    """Return the ending of a session that, by its ``init`` record, measures something else."""
    case, arm = request.case, request.key.arm
    if trace.init is None:
        return None
    servers = () if request.stand_ins is None else request.stand_ins.servers
    if problem := contamination(trace, case, arm, sandbox.path, servers=servers):
        return Classified(Ending.CONTAMINATED, problem)
    if arm is Arm.WITH and (problem := not_loaded(trace.init, case)):
        return Classified(Ending.NOT_LOADED, problem)
    if problem := shell_failure(trace):
        return Classified(Ending.SETUP_FAILED, problem)
    return None


def _finished(record: RunRecord, secrets: Sequence[str]) -> RunRecord:
    """Return the record without secrets, its error cut only then: half a secret is not found."""
    record = redacted(record, secrets)
    error = record.outcome.error
    if error is None or len(error) <= ERROR_LENGTH:
        return record
    return replace(record, outcome=replace(record.outcome, error=cut(error, ERROR_LENGTH)))


def _leave(root: RunRoot, sandbox: Sandbox, *, keep: bool) -> tuple[str, ...]:
    """Remove the run's directory, or keep it, and return what the reader should know."""
    if keep and sandbox.path.is_dir():
        return (f"run directory kept: {root.keep(sandbox)}",)
    root.remove(sandbox)
    return ()


def _stamp(moment: datetime.datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
