"""Mocked servers in sessions of pytest: what is told, kept, replayed, counted and refused."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import fromstring

import pytest

from pytest_plugin_eval.agents.base import AgentRequest
from pytest_plugin_eval.cases.fingerprint import forget_plugins, settings_hash, stand_ins_hash
from pytest_plugin_eval.cases.mock import tool_segment
from pytest_plugin_eval.errors import AgentError, JudgeError
from pytest_plugin_eval.mocks.service import MockService
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.model import Arm, Ending, RunOutcome, RunRecord
from pytest_plugin_eval.records.trace import Trace
from tests.pytester.conftest import HELLO, StandInAgent, StandInJudge, Suite
from tests.support.mocks import trace_lines
from tests.support.records import said
from tests.support.suites import load

pytest.importorskip("mcp", reason="the extra `mocks` is not installed")

Call = tuple[str, Mapping[str, object]]
CREATED = "---\ntype: regex\ntarget: mock_calls\npattern: Created Bug\n---\n"
CREATE = "---\nexpect:\n  title: string\n---\nCreated {{input.title}} as #7."
PLAYED = "---\ntype: agent\n---\nA tracker with three issues."
TOOL = "mcp__plugin_demo_tracker__create"
BUG = (TOOL, {"title": "Bug"})
BAD = (TOOL, {"title": 3})
REASON = "the model's call violates expect: title = 3 is not a string"


class Caller:
    """Calls the mocked tools of a run, as the agent would, and then says hello."""

    def __init__(self) -> None:
        self.calls: Callable[[AgentRequest], list[Call]] = lambda _: [BUG]
        self.shown: Callable[[str], str] = lambda text: text
        """What becomes of an answer on its way to the model."""

    def __call__(self, request: AgentRequest) -> RunRecord:
        """Make the calls that the run has servers for, until something ends it."""
        stopped: Future[None] = Future()
        request.attach(lambda: stopped.set_result(None))
        tools = () if request.stand_ins is None else request.stand_ins.tools
        done: list[tuple[str, Mapping[str, object], object, bool]] = []
        for name, inputs in self.calls(request):
            if name in tools and not stopped.done():
                answer = _in_thread(_answer, request, name, inputs)
                both: tuple[Future[Any], ...] = (answer, stopped)
                wait(both, return_when=FIRST_COMPLETED)
                text, is_error = ("", True) if stopped.done() else answer.result()
                done.append((name, inputs, self.shown(text), is_error))
        ending = Ending.INTERRUPTED if stopped.done() else Ending.COMPLETED
        return RunRecord(
            key=request.key,
            outcome=RunOutcome(
                ending=ending, error="stopped" if stopped.done() else None, cost_usd=0.25, turns=2
            ),
            trace=Trace([*trace_lines(*done), said("hello")]),
            provenance={
                "settings": settings_hash(request.case),
                "mocks": stand_ins_hash(request.case, with_plugins=request.key.arm is Arm.WITH),
            },
        )


def _in_thread(
    function: Callable[..., tuple[str, bool]], *arguments: object
) -> Future[tuple[str, bool]]:
    future: Future[tuple[str, bool]] = Future()

    def job() -> None:
        try:
            future.set_result(function(*arguments))
        except Exception as error:  # noqa: BLE001 -- raised where the result is asked for
            future.set_exception(error)

    threading.Thread(target=job, daemon=True).start()
    return future


def _answer(request: AgentRequest, name: str, inputs: Mapping[str, object]) -> tuple[str, bool]:
    assert request.stand_ins is not None
    servers: Any = request.stand_ins.config["mcpServers"]
    (url,) = (
        entry["url"] for key, entry in servers.items() if f"mcp__{tool_segment(key)}__" in name
    )
    parts = urlsplit(url)
    assert parts.hostname is not None
    params = {"name": name.rpartition("__")[2], "arguments": inputs}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    with closing(http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)) as connection:
        connection.request("POST", parts.path, json.dumps(body), headers)
        result = json.loads(connection.getresponse().read())["result"]
    return result["content"][0]["text"], result.get("isError", False)


@pytest.fixture
def caller(agent: StandInAgent) -> Caller:
    """Let the stand-in agent call mocked tools."""
    caller = Caller()
    agent.answer = caller
    return caller


@pytest.fixture
def served(suite: Suite, caller: Caller) -> Suite:
    """Return a suite of one case whose plugin declares a server, with a mock of it."""
    declared = {"mcpServers": {"tracker": {"command": "false"}, "mail": {"command": "false"}}}
    (suite.root / ".mcp.json").write_text(json.dumps(declared), encoding="utf-8")
    mock(suite, "tracker/create.md", CREATE)
    suite.case("first", front="runs: 1", graders={"created": CREATED, "hello": HELLO})
    return suite


def mock(suite: Suite, path: str, text: str) -> None:
    """Write a mock of the whole suite, whose tools are listed."""
    file = suite.evals / "mocks" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    names = sorted(each.stem for each in file.parent.glob("*.md"))
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    file.with_name("_tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")


def live(suite: Suite, *arguments: str) -> pytest.RunResult:
    """Run a session; the plugin may have changed since the last one."""
    forget_plugins()
    return suite.pytester.runpytest("evals", *arguments)


def words(result: pytest.RunResult) -> str:
    """Return all that was printed, without the breaks of lines."""
    return " ".join(result.stdout.str().split())


def run_of(suite: Suite, arm: str = "with", number: int = 0) -> Mapping[str, Any]:
    """Return a run of the newest document."""
    document: Any = suite.document()
    found: Mapping[str, Any] = document["cases"][0]["arms"][arm][number]
    return found


def passes(run: Mapping[str, Any]) -> dict[str, bool]:
    """Return which graders passed."""
    return {one["name"]: one["passed"] for one in run["graders"]}


def test_plan_tells_once_what_is_mocked(served: Suite) -> None:
    served.case("second", front="runs: 2")
    mock(served, "solo/now.md", "12:00")

    output = words(live(served))

    line = (
        "mocked: solo[standalone](now=fixed), tracker(create=fixed),"
        " plugin_demo_mail[not started: no mock]"
    )
    assert output.count(line) == 1
    assert output.count("warning: evals/first, evals/second: mocks/solo/ stands for no server") == 1
    assert output.count("plugin:demo:mail has no mock and is not started") == 1


def test_budget_of_played_servers_is_told_before_the_runs(
    served: Suite, judge: StandInJudge
) -> None:
    mock(served, "tracker/find.md", PLAYED)

    output = words(live(served))

    assert "mock budget: 40 agent-answered calls a run" in output
    assert "agent mocks: stand-in judge" in output


def test_calls_are_graded_kept_and_graded_again(served: Suite) -> None:
    live(served, "--eval-mode", "record")
    shutil.rmtree(served.evals / "results")

    replayed = served.replay("evals", "--evals")

    assert replayed.ret == pytest.ExitCode.OK
    run = run_of(served)
    assert passes(run) == {"created": True, "hello": True}
    assert run["mocks"]["calls"] == {
        "total": 1,
        "errors": 0,
        "unmocked": [],
        "costUsd": 0,
        "replay": {"hits": 0, "misses": 0},
    }
    assert [server["server"] for server in run["mocks"]["servers"]] == [
        "tracker",
        "plugin_demo_mail",
    ]
    assert "mocks" not in run_of(served, "without")
    assert "aborted" not in run


def test_edited_grader_sees_the_recorded_calls(served: Suite) -> None:
    live(served, "--eval-mode", "record")
    grader = served.evals / "first" / "graders" / "created.md"
    grader.write_text(CREATED.replace("Created Bug", "Created Feature"), encoding="utf-8")

    served.replay("evals")

    assert passes(run_of(served)) == {"created": False, "hello": True}


@pytest.mark.parametrize("workers", ["0", "2"])
def test_abort_is_a_zero_with_its_reason(served: Suite, caller: Caller, workers: str) -> None:
    caller.calls = lambda request: [BAD if request.key.number == 1 else BUG]
    live(served, "--eval-mode", "record", "--eval-runs", "2")

    result = served.replay("evals", "-n", workers, "--junitxml=report.xml", "-v")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    run = run_of(served)
    expected = {"server": "tracker", "tool": "create", "reason": REASON}
    assert (run["score"], run["error"], run["aborted"]) == (0, None, expected)
    assert (run["graders"], run["measured"], run["ending"]) == ([], True, "aborted")
    assert run_of(served, number=1)["score"] == 1
    document: Any = served.document()
    aggregates = document["cases"][0]["aggregates"]
    assert (aggregates["score"], document["aggregates"]["runsMeasured"]) == (0.5, 4)
    text = f"aborted by mock tracker/create: {REASON}"
    said = words(result)
    assert f"with-1 score 0.00: {text}" in said
    assert f"first 0.50 1.00 -0.50 4 $1.00 with-1: {text}" in said
    assert "1 run was aborted by a mock and counts as 0, not graded" in said
    assert "error of the agent's own" not in said
    junit = fromstring((served.root / "report.xml").read_text(encoding="utf-8"))  # noqa: S314
    (case,) = (one for one in junit.iter("testcase") if one.get("name") == "run[with-1]")
    (failure,) = case.iter("failure")
    assert failure.get("message") == f"aborted by a mock: tracker/create: {REASON}"
    assert not [*case.iter("error")]


def test_aborted_run_is_not_repeated(served: Suite, caller: Caller, agent: StandInAgent) -> None:
    caller.calls = lambda _: [BAD, BUG]

    live(served, "--eval-ablation", "none")

    assert len(agent.requests) == 1
    record = read_record(next((served.evals / "results").glob("*/runs/evals/first/with-1.jsonl")))
    assert record.outcome.ending is Ending.ABORTED
    assert record.mocks is not None
    assert record.mocks.aborted == {"server": "tracker", "tool": "create", "reason": REASON}


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize(("server", "stale"), [("tracker", [True, False]), ("solo", [True, True])])
def test_changed_mock_makes_recordings_of_its_arms_stale(
    served: Suite, workers: str, server: str, stale: list[bool]
) -> None:
    mock(served, "solo/create.md", CREATE)
    live(served, "--eval-mode", "record")
    mock(served, f"{server}/create.md", f"{CREATE} Thanks.")

    result = served.replay("evals", "-n", workers)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "the record is stale: a mock of the case changed since it was made" in words(result)
    runs = [run_of(served, arm) for arm in ("with", "without")]
    assert [run["ending"] == "setup_failed" for run in runs] == stale


@pytest.mark.parametrize("has_file", [True, False])
def test_resuming_after_a_mock_changed_is_refused(served: Suite, has_file: bool) -> None:
    live(served)
    (results,) = (served.evals / "results").iterdir()
    mock(served, "tracker/create.md", f"{CREATE} Thanks.")
    if not has_file:
        facts = json.loads((results / "session.json").read_text(encoding="utf-8"))
        current = stand_ins_hash(load(served.evals / "first"), with_plugins=True)
        facts["cases"]["evals/first"]["mocks"] = current
        (results / "session.json").write_text(json.dumps(facts), encoding="utf-8")

    result = live(served, f"--eval-resume={results}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "the mocks have changed since" in result.stderr.str()
    assert "settings have changed" not in result.stderr.str()


def test_bad_mock_is_a_load_error_before_any_run(served: Suite, agent: StandInAgent) -> None:
    mock(served, "tracker/create.md", "---\nexpect:\n  title: string\nerrorr: true\n---\nx")

    result = live(served)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    output = result.stdout.str()
    assert "evals/mocks/tracker/create.md:4: " in output
    assert "did you mean 'error'" in output
    assert agent.requests == []


def test_mocks_off_starts_servers_and_says_so(served: Suite, agent: StandInAgent) -> None:
    mock(served, "tracker/create.md", "---\nnot: loaded\n---\n")

    result = live(served, "--eval-mocks", "off")

    assert "MCP servers of plugin demo start, as you: tracker, mail" in result.stdout.str()
    assert {(one.real_servers, one.stand_ins) for one in agent.requests} == {(True, None)}
    run = run_of(served)
    assert "mocks" not in run
    (created,) = (one for one in run["graders"] if one["name"] == "created")
    assert created["explanation"].startswith("no mock stand-ins were active in this run")


def test_allowed_real_servers_are_told(served: Suite, agent: StandInAgent) -> None:
    result = live(served, "--eval-allow-real-servers")

    said = words(result)
    assert "plugin:demo:mail has no mock, so what the plugin declares is really started" in said
    assert "mocked: tracker(create=fixed)" in said
    assert "not started" not in said
    assert {one.real_servers for one in agent.requests} == {True}
    assert [server["server"] for server in run_of(served)["mocks"]["servers"]] == ["tracker"]


@pytest.mark.parametrize("option", ["--eval-mocks=off", "--eval-allow-real-servers"])
def test_resuming_with_other_servers_is_refused(
    served: Suite, agent: StandInAgent, option: str
) -> None:
    live(served)
    made = len(agent.requests)
    (results,) = (served.evals / "results").iterdir()

    result = live(served, f"--eval-resume={results}", option, "--eval-runs", "2")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "MCP servers were mocked or not started, are" in result.stderr.str()
    assert len(agent.requests) == made


def test_answers_of_a_model_cost_and_are_kept_for_adoption(
    served: Suite, caller: Caller, judge: StandInJudge
) -> None:
    mock(served, "tracker/create.md", PLAYED)
    judge.answer = lambda question: "Created Bug" if "create" in question else "PASS"
    result = live(served)

    run = run_of(served)
    said = " ".join(result.stdout.str().split())
    assert re.search(r"to adopt as mocks: evals/results/\S+/mock-recordings/ADOPT.txt ", said)
    assert run["costUsd"] == pytest.approx(0.26)
    assert run["mocks"]["calls"]["costUsd"] == pytest.approx(0.01)
    (listing,) = (served.evals / "results").glob("*/mock-recordings/ADOPT.txt")
    assert "-> evals/mocks/.replay/tracker/" in listing.read_text(encoding="utf-8")
    (answer,) = listing.parent.glob("tracker/create-*.json")
    assert json.loads(answer.read_text(encoding="utf-8"))["output"] == "Created Bug"


def test_adopted_answers_ask_no_model(served: Suite, caller: Caller, judge: StandInJudge) -> None:
    mock(served, "tracker/create.md", PLAYED)
    judge.answer = lambda _: "Created Bug"
    live(served)
    (answer,) = (served.evals / "results").glob("*/mock-recordings/tracker/*.json")
    mock(served, f".replay/tracker/{answer.name}", answer.read_text(encoding="utf-8"))
    judge.requests.clear()

    result = live(served)

    assert judge.requests == []
    assert "tracker(create=agent; replay: 1 pinned)" in result.stdout.str()
    assert passes(run_of(served))["created"]
    assert run_of(served)["mocks"]["calls"]["replay"] == {"hits": 1, "misses": 0}


def test_replay_needs_no_model_for_played_servers(
    served: Suite, caller: Caller, judge: StandInJudge
) -> None:
    mock(served, "tracker/create.md", PLAYED)
    judge.answer = lambda _: "Created Bug"
    live(served, "--eval-mode", "record")
    found, asked = judge.found, len(judge.requests)

    result = served.replay("evals")

    assert result.ret == pytest.ExitCode.OK
    assert (judge.found, len(judge.requests)) == (found, asked)


def test_run_in_which_a_model_did_not_answer_is_not_measured(
    served: Suite, caller: Caller, judge: StandInJudge, agent: StandInAgent
) -> None:
    def refuse(_: str) -> str:
        raise JudgeError("no such model", status=404)

    mock(served, "tracker/create.md", PLAYED)
    judge.answer = refuse

    result = live(served)

    run = run_of(served)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert (run["measured"], run["score"], run["ending"]) == (False, None, "agent_error")
    assert run["error"] == (
        "a mocked server had no answer: tracker/create: no such model"
        " (asked for model 'small-model')"
    )
    assert run["mocks"]["calls"]["errors"] == 1
    assert [request.key.arm.value for request in agent.requests] == ["with", "with", "without"]


@pytest.mark.parametrize("answers", [0, 1])
def test_model_that_does_not_answer_ends_the_run_at_once(
    served: Suite, caller: Caller, judge: StandInJudge, answers: int
) -> None:
    def refuse(_: str) -> str:
        if len(judge.requests) <= answers:
            return "Created Bug"
        raise JudgeError("overloaded", status=529)

    mock(served, "tracker/create.md", PLAYED)
    judge.answer = refuse
    caller.calls = lambda _: [BUG] * 14

    output = words(live(served, "--eval-ablation", "none", "--eval-retries", "0"))

    run = run_of(served)
    assert len(judge.requests) == answers + 1
    assert run["mocks"]["calls"]["total"] == answers + 1
    assert run["ending"] == "agent_error"
    assert "notes" not in run
    assert "the model was shown another answer" not in output


def test_run_that_a_mock_loses_to_the_ceiling_is_partial_for_it(
    served: Suite, caller: Caller, judge: StandInJudge, agent: StandInAgent
) -> None:
    mock(served, "tracker/create.md", PLAYED)
    judge.answer = lambda _: "Created Bug"
    caller.calls = lambda _: [BUG] * 14

    result = live(served, "--eval-ablation", "none", "--eval-max-cost-usd", "0.01")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert served.document()["partialReason"] == "cost_ceiling"
    run = run_of(served)
    assert run["error"] == (
        "a mocked server had no answer: tracker/create: cost ceiling $0.01 reached"
    )
    assert (len(judge.requests), len(agent.requests)) == (1, 1)


def test_credential_that_is_refused_in_a_mock_stops_the_session(
    served: Suite, caller: Caller, judge: StandInJudge, agent: StandInAgent
) -> None:
    def refuse(_: str) -> str:
        raise JudgeError("401: no such key", status=401)

    mock(served, "tracker/create.md", PLAYED)
    judge.answer = refuse

    result = live(served, "--eval-runs", "3")

    assert len(agent.requests) == 1
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert served.document()["partialReason"] == "auth_failed"
    assert "the judge's credential was refused: a mocked server had no answer" in words(result)


def test_run_whose_mocks_cannot_be_served_is_not_set_up(
    served: Suite, agent: StandInAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_port(_: object) -> object:
        raise AgentError("127.0.0.1: no port for mocked servers")

    monkeypatch.setattr(MockService, "_start", no_port)

    result = live(served, "--eval-max-cost-usd", "5")

    run = run_of(served)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert (run["ending"], run["error"]) == (
        "setup_failed",
        "127.0.0.1: no port for mocked servers",
    )
    assert (run["costUsd"], served.document()["costUsd"]) == (0, 0.25)
    assert [request.key.arm.value for request in agent.requests] == ["without"]
    assert "unknown cost" not in words(result)


def test_case_s_own_mock_wins(served: Suite) -> None:
    own = served.evals / "first" / "mocks" / "tracker" / "create.md"
    own.parent.mkdir(parents=True)
    own.write_text("Nothing made.", encoding="utf-8")

    live(served)

    assert passes(run_of(served)) == {"created": False, "hello": True}


def test_with_only_calls_count_in_one_arm(served: Suite) -> None:
    live(served)
    both = {one["name"]: one["withOnly"] for one in run_of(served)["graders"]}
    live(served, "--eval-ablation", "none")
    one = {one["name"]: one["withOnly"] for one in run_of(served)["graders"]}

    assert both == {"created": True, "hello": False}
    assert one == {"created": False, "hello": False}


def test_standalone_server_is_there_in_both_arms(served: Suite, agent: StandInAgent) -> None:
    mock(served, "solo/now.md", "12:00")

    live(served)

    tools = {one.key.arm.value: one.stand_ins.tools for one in agent.requests if one.stand_ins}
    assert tools == {"with": ("mcp__solo__now", TOOL), "without": ("mcp__solo__now",)}


def test_runs_at_once_keep_apart(served: Suite, caller: Caller) -> None:
    caller.calls = lambda request: [BAD] if request.key.number % 2 else [BUG, BUG]

    live(served, "--eval-runs", "6", "--eval-concurrency", "6", "--eval-ablation", "none")

    document: Any = served.document()
    runs = document["cases"][0]["arms"]["with"]
    assert [run["mocks"]["calls"]["total"] for run in runs] == [1, 2, 1, 2, 1, 2]
    assert ["aborted" in run for run in runs] == [True, False] * 3


def test_recording_with_real_servers_is_replayed_as_such(served: Suite) -> None:
    live(served, "--eval-mode", "record", "--eval-mocks", "off")

    same = served.replay("evals", "--eval-mocks", "off")
    other = served.replay("evals")

    assert (run_of(served)["measured"], same.ret) == (False, pytest.ExitCode.TESTS_FAILED)
    assert "the record is stale" not in words(same)
    assert "the record is stale: a mock of the case changed" in words(other)


@pytest.mark.parametrize("shown", ["Created Bug as #7.", "Created Bug as #8."])
def test_answer_that_a_hook_changed_is_noted(served: Suite, caller: Caller, shown: str) -> None:
    caller.shown = lambda _: shown

    live(served)

    note = "tracker/create: the model was shown another answer than the mock gave"
    told = [each for each in run_of(served).get("notes", []) if each.startswith(note)]
    assert bool(told) == (shown != "Created Bug as #7.")
    assert passes(run_of(served))["created"]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((), pytest.ExitCode.USAGE_ERROR),
        (("--eval-mocks", "off"), pytest.ExitCode.TESTS_FAILED),
    ],
    ids=["served", "off"],
)
def test_missing_package_is_told_before_any_run(
    served: Suite,
    agent: StandInAgent,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    status: pytest.ExitCode,
) -> None:
    monkeypatch.setitem(sys.modules, "pytest_plugin_eval.mocks.protocol", None)

    result = live(served, *arguments)

    assert result.ret == status
    assert bool(agent.requests) == bool(arguments)
    hint = "pip install 'pytest-plugin-eval[mocks]' or pass --eval-mocks off"
    assert (hint in result.stderr.str()) == (not arguments)


def test_secrets_of_the_session_are_in_nothing_that_mocks_leave(
    served: Suite, caller: Caller, judge: StandInJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-of-the-operator"
    monkeypatch.setenv("ANTHROPIC_API_KEY", secret)
    mock(served, "tracker/create.md", PLAYED)
    mock(served, "tracker/find.md", CREATE)
    judge.answer = lambda _: f"Created Bug for {secret}"
    find = TOOL.replace("create", "find")
    caller.calls = lambda request: [
        (TOOL, {"title": secret}),
        *([(find, {"title": [secret]})] if request.key.number == 1 else []),
    ]

    result = live(served, "--eval-runs", "2", "--eval-ablation", "none")

    aborted = 'the model\'s call violates expect: title = ["[***]"] is not a string'
    assert run_of(served)["aborted"]["reason"] == aborted
    kept = [path for path in (served.evals / "results").rglob("*") if path.is_file()]
    assert any(path.match("mock-recordings/tracker/create-*.json") for path in kept)
    # What the stand-in agent itself says is not redacted, as that of the real one is: neither in
    # its records nor on the page that shows them.
    agents = (".jsonl", ".html")
    told = "".join(path.read_text(encoding="utf-8") for path in kept if path.suffix not in agents)
    assert secret not in told
    assert secret not in result.stdout.str()


def test_mock_cannot_make_a_measurement_of_a_run_that_is_none(
    served: Suite, caller: Caller, agent: StandInAgent
) -> None:
    caller.calls = lambda _: [BAD]
    agent.answer = lambda request: replace(
        caller(request), outcome=RunOutcome(ending=Ending.CONTAMINATED, error="foreign hook")
    )

    live(served, "--eval-ablation", "none")

    run = run_of(served)
    assert (run["measured"], run["error"]) == (False, "foreign hook")
    assert "aborted" not in run
