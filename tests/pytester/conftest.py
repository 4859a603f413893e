"""A suite of evals in a temporary directory, with recordings made by hand."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import pytest_plugin_eval
from pytest_plugin_eval.agents.base import AgentRequest
from pytest_plugin_eval.agents.claude_cli import ClaudeCli
from pytest_plugin_eval.execution import judging, run
from pytest_plugin_eval.execution.retry import pause_before
from pytest_plugin_eval.judges.base import JudgeReply, JudgeRequest
from pytest_plugin_eval.pytest_side import trust
from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunOutcome, RunRecord
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.storage.record_files import write_record
from tests.support.fixtures import written_documents
from tests.support.records import said

__all__ = ["written_documents"]

# pytester forgets modules that a session in this process was the first to import. The next session
# would have a second copy of some classes, and enum members that are equal to no other.
for _module in pkgutil.walk_packages(pytest_plugin_eval.__path__, "pytest_plugin_eval."):
    importlib.import_module(_module.name)
importlib.import_module("py_mini_racer")  # the engine outlives a session, its errors must be known

HELLO = "---\ntype: regex\npattern: hello\n---\n"
NICE = "---\ntype: llm\ncriteria: Is it nice?\n---\n"
KIND = "---\ntype: llm\ncriteria: Is it kind?\n---\n"


@dataclass(frozen=True, slots=True)
class Suite:
    """A plugin with evals below a pytester's directory."""

    pytester: pytest.Pytester
    root: Path
    base: str = ""
    """Where the plugin lies below the pytester's directory."""
    cases: list[str] = field(default_factory=list)

    @property
    def evals(self) -> Path:
        """The eval directory."""
        return self.root / "evals"

    def case(
        self,
        name: str,
        *,
        front: str = "",
        graders: Mapping[str, str] | None = None,
        prompt: str = "Say hello",
    ) -> Path:
        """Write a case with the grader ``hello`` unless others are given; return its directory."""
        directory = self.evals / name
        (directory / "graders").mkdir(parents=True)
        head = f"---\n{front}\n---\n" if front else ""
        (directory / "prompt.md").write_text(f"{head}{prompt}\n", encoding="utf-8")
        for grader, text in ({"hello": HELLO} if graders is None else graders).items():
            (directory / "graders" / f"{grader}.md").write_text(text, encoding="utf-8")
        self.cases.append(name)
        return directory

    def record(
        self,
        case: str,
        arm: str,
        number: int,
        reply: str = "hello",
        *,
        ending: Ending = Ending.COMPLETED,
        error: str | None = None,
    ) -> None:
        """Write the recording of one run that answered *reply*."""
        record = self.made(case, arm, number, reply, ending=ending, error=error)
        write_record(self.evals / "recordings", record)

    def made(
        self,
        case: str,
        arm: str,
        number: int,
        reply: str = "hello",
        *,
        ending: Ending = Ending.COMPLETED,
        error: str | None = None,
    ) -> RunRecord:
        """Return the record of one run that answered *reply*."""
        return RunRecord(
            key=RunKey(case=f"evals/{case}", arm=Arm(arm), number=number),
            outcome=RunOutcome(
                ending=ending,
                error=error,
                turns=1,
                cost_usd=0.25,
                duration_s=2.0,
                started_at="2026-01-02T03:04:05.678Z",
            ),
            trace=Trace([said(reply)]),
            provenance={
                "model": "claude-x",
                "recorded_at": "2026-01-02T03:04:05Z",
                "claude_version": "2.1.332",
            },
        )

    def records(self, case: str, with_replies: str, without_replies: str = "") -> None:
        """Write one recording a letter: ``h`` answers hello, any other does not."""
        for arm, replies in (("with", with_replies), ("without", without_replies)):
            for number, letter in enumerate(replies, start=1):
                self.record(case, arm, number, "hello" if letter == "h" else "goodbye")

    def replay(self, *arguments: str) -> pytest.RunResult:
        """Run pytest in replay mode."""
        return self.pytester.runpytest("--eval-mode", "replay", *arguments)

    def document(self) -> dict[str, object]:
        """Return the newest result document."""
        newest = sorted((self.evals / "results").glob("*/aggregate-result.json"))[-1]
        document: dict[str, object] = json.loads(newest.read_text(encoding="utf-8"))
        return document


_FIND = ClaudeCli.__dict__["find"]


@pytest.fixture(autouse=True)
def agents_as_they_were() -> Iterator[None]:
    """Blame the test whose inner session, in this process, leaves an agent of its own behind."""
    yield
    left = ClaudeCli.__dict__["find"]
    ClaudeCli.find = _FIND  # type: ignore[method-assign]  # or every later test would have it
    assert left is _FIND, "an inner session has replaced the agent for all sessions to come"


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Suite:
    """Return an empty suite of a plugin called demo."""
    root = pytester.path
    (root / ".claude-plugin").mkdir()
    manifest = root / ".claude-plugin" / "plugin.json"
    manifest.write_text('{"name": "demo", "version": "0.1.0"}', encoding="utf-8")
    return Suite(pytester, root)


class StandInAgent:
    """Answers at once, by a function; for what pytest does around runs, not for the runs."""

    description = "stand-in agent"
    version = "2.1.332"

    def __init__(self) -> None:
        self.requests: list[AgentRequest] = []
        self.answer: Callable[[AgentRequest], RunRecord] = lambda request: answered(
            request, "hello"
        )
        self.stopped = False

    def run(self, request: AgentRequest) -> RunRecord:
        """Note the request and answer it."""
        self.requests.append(request)
        return self.answer(request)

    def stop(self) -> None:
        """Note that the session ended the runs in flight."""
        self.stopped = True

    def close(self) -> tuple[str, ...]:
        """Return nothing: nothing is left behind."""
        return ()


def answered(
    request: AgentRequest,
    reply: str,
    *,
    cost_usd: float | None = 0.25,
    ending: Ending = Ending.COMPLETED,
    error: str | None = None,
) -> RunRecord:
    """Return the record of a run that ended so."""
    return RunRecord(
        key=request.key,
        outcome=RunOutcome(ending=ending, error=error, cost_usd=cost_usd, turns=1),
        trace=Trace([said(reply)]),
    )


@pytest.fixture(autouse=True)
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust every plugin in the sessions of this process."""
    monkeypatch.setattr(trust, "untrusted", lambda *_: ())


def without_pause(record: RunRecord, attempt: int, **given: object) -> float | None:
    """Decide as `pause_before` does, and wait for nothing."""
    pause_s = pause_before(record, attempt, **given)  # type: ignore[arg-type]  # handed on
    return None if pause_s is None else 0.0


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> StandInAgent:
    """Put a stand-in in the place of the agent binary, for sessions in this process."""
    stand_in = StandInAgent()
    # Of the class imported here: pytester drops modules that a session imported, and a path given
    # as text would be resolved by way of the package to a module that no session uses any more.
    monkeypatch.setattr(ClaudeCli, "find", lambda **_: stand_in)
    monkeypatch.setattr(run, "pause_before", without_pause)
    return stand_in


class StandInJudge:
    """Votes at once, by a function of the question; for what sessions do around votes."""

    description = "stand-in judge"

    def __init__(self) -> None:
        self.requests: list[JudgeRequest] = []
        self.answer: Callable[[str], str] = lambda _: "PASS"
        self.cost_usd: float | None = 0.01
        self.found = 0

    def resolved(self, model: str | None) -> str:
        """Return the model, or the default one."""
        return model or "small-model"

    def estimate_usd(self, model: str, *, input_tokens: int, output_tokens: int) -> float | None:
        """Return the price that every call has."""
        return self.cost_usd

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """Note the request and answer it."""
        self.requests.append(request)
        text = "\n".join(part for part in request.parts if isinstance(part, str))
        return JudgeReply(
            text=self.answer(text), model=f"{request.model}-1", cost_usd=self.cost_usd
        )

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> StandInJudge:
    """Put a stand-in in the place of every judge, for sessions in this process."""
    stand_in = StandInJudge()

    def find(**_: object) -> StandInJudge:
        stand_in.found += 1
        return stand_in

    monkeypatch.setattr(judging, "find_judge", find)
    return stand_in
