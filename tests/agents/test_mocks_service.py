"""The real agent with our stand-ins, and the reference with its own: the same answers and words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.agents.child import Child, ChildResult, Limits
from pytest_plugin_eval.agents.loopback import with_loopback_direct
from pytest_plugin_eval.cases.manifest import read_plugin
from pytest_plugin_eval.cases.mock import PlacedServer, placed_servers
from pytest_plugin_eval.cases.mock_files import load_mocks
from pytest_plugin_eval.errors import CaseError
from pytest_plugin_eval.execution.judging import find_judge
from pytest_plugin_eval.graders.javascript import compile_errors
from pytest_plugin_eval.mocks.asking import Ask, Asker
from pytest_plugin_eval.mocks.calls import altered_result, mock_calls_text, unmocked_calls
from pytest_plugin_eval.mocks.responder import Aborted, Answer, MockResult, RunResponder
from pytest_plugin_eval.mocks.service import MockService
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from tests.support.agents import write_plugin
from tests.support.mocks import run_mocks
from tests.support.reference import agent_binary, base_environment, run_reference
from tests.support.script import rule, script, tool
from tests.support.scripted_api import ApiRequest, ScriptedApi

pytest.importorskip("mcp", reason="the extra `mocks` is not installed")
pytestmark = pytest.mark.agent

MCP = '{"mcpServers": {"tracker": {"command": "false"}, "mail": {"command": "false"}}}'
T = "mcp__plugin_demo_tracker__t"
U = "mcp__plugin_demo_tracker__u"
W = "mcp__solo__w"
LISTED = json.dumps(
    {
        "tools": [
            {
                "name": "t",
                "description": "Finds issues.",
                "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}},
            }
        ]
    }
)
MOCKS = {
    "evals/mocks/tracker/t.md": "found {{input.q}}",
    "evals/mocks/tracker/u.md": "",
    "evals/mocks/tracker/_tools.json": LISTED,
    "evals/mocks/solo/w.md": "---\nerror: true\n---\nno {{input.n}}",
}
TOOLS = "Read,Glob,Grep,Skill,Agent,TaskStop,ToolSearch"


def call(name: str, inputs: Mapping[str, object]) -> Mapping[str, object]:
    return {"tool": name, "input": inputs}


def load_tools(*names: str) -> Mapping[str, object]:
    return tool("ToolSearch", query=f"select:{','.join(names)}", max_results=10)


@pytest.fixture
def service() -> Iterator[MockService]:
    """Return a service that is closed after the test."""
    with closing(MockService()) as service:
        yield service


class Session:
    """One agent process with the mocks of a case."""

    def __init__(
        self, root: Path, service: MockService, base: Path, *, ask: Ask | None = None
    ) -> None:
        plugins = [read_plugin(root)]
        evals = root / "evals"
        mocks = load_mocks(evals / "hello", evals, plugins=plugins, check_patterns=compile_errors)
        self.servers: tuple[PlacedServer, ...] = placed_servers(mocks.servers, plugins)
        self.aborts: list[Aborted] = []
        self._child: Child | None = None
        self._opened = service.open(run_mocks(*self.servers, on_abort=self._on_abort, ask=ask))
        self._root, self._base = root, base

    def run(
        self, api: ScriptedApi, prompt: str, env: Mapping[str, str] | None = None
    ) -> tuple[ChildResult, MockResult]:
        home, workspace = self._base / "home", self._base / "cwd"
        (home / "tmp").mkdir(parents=True)
        workspace.mkdir()
        config = self._base / "mocks.json"
        config.write_text(json.dumps(self._opened.config), encoding="utf-8")
        self._child = Child(
            [
                *(str(agent_binary()), "-p", "--output-format", "stream-json", "--verbose"),
                *("--permission-mode", "dontAsk", "--setting-sources", "user"),
                *("--strict-mcp-config", "--no-session-persistence"),
                *("--plugin-dir", str(self._root), "--tools", TOOLS),
                f"--allowed-tools={','.join(self._opened.tools)}",
                f"--mcp-config={config}",
            ],
            cwd=workspace,
            env={**base_environment(api.url, home), **(env or {})},
            limits=Limits(timeout_s=200),
        )
        done = self._child.run(prompt)
        return done, self._opened.close()

    def _on_abort(self, aborted: Aborted) -> None:
        self.aborts.append(aborted)
        assert self._child is not None
        self._child.stop()


def results_in(requests: Sequence[ApiRequest]) -> list[object]:
    """Return the contents of all tool results that the model got, in order, errors with ``!``."""
    found: dict[str, object] = {}
    for request in requests:
        messages: Any = request.body["messages"]
        for message in messages:
            blocks = message["content"] if isinstance(message["content"], list) else ()
            for block in blocks:
                if block.get("type") == "tool_result":
                    content = block["content"]
                    if not isinstance(content, str):
                        content = "".join(part.get("text", "") for part in content)
                    found[block["tool_use_id"]] = f"{'!' if block.get('is_error') else ''}{content}"
    return [content for content in found.values() if content]


def test_answers_reach_the_model_under_the_names_of_the_plugin_s_tools(
    tmp_path: Path, service: MockService
) -> None:
    root = write_plugin(tmp_path / "demo", {".mcp.json": MCP, **MOCKS})
    turns: list[str | Mapping[str, object]] = [
        load_tools(T, U, W),
        call(T, {"q": "é"}),
        call(U, {}),
        call(W, {"n": 2}),
        call("mcp__plugin_demo_mail__send", {}),
        "done",
    ]
    with ScriptedApi(script(rule(prompt="Go.", turns=turns))) as api:
        session = Session(root, service, tmp_path)
        done, result = session.run(api, "Go.")
        answers = results_in(api.messages)

    trace = Trace(done.lines)
    assert answers[:3] == ["found é", f"({U} completed with no output)", "!no 2"]
    assert mock_calls_text(trace, result.calls).splitlines() == [
        f'{{"tool":"{T}","input":{{"q":"é"}},"output":"found é","verdict":"ok"}}',
        f'{{"tool":"{U}","input":{{}},"output":{json.dumps(answers[1])},"verdict":"ok"}}',
        f'{{"tool":"{W}","input":{{"n":2}},"output":"no 2","isError":true,"verdict":"tool_error"}}',
    ]
    assert altered_result(trace, result.calls) is None
    assert unmocked_calls(trace, session.servers) == {"plugin_demo_mail/send": 1}
    assert done.exit_code == 0


def test_requests_to_the_model_equal_those_of_the_reference(
    tmp_path: Path, service: MockService
) -> None:
    prompt = "---\nruns: 1\n---\nGo.\n"
    files = {".mcp.json": MCP, **MOCKS, "evals/hello/prompt.md": prompt}
    root = write_plugin(tmp_path / "demo", files)
    turns: list[str | Mapping[str, object]] = [
        load_tools(T, U, W),
        call(T, {"q": "x"}),
        call(W, {"n": 2}),
        call(U, {}),
        "done",
    ]
    with ScriptedApi(script(rule(prompt="Go.", turns=turns))) as api:
        run_reference(root, api, "--ablation", "none")
        theirs = api.messages
        Session(root, service, tmp_path).run(api, "Go.")
        ours = api.messages[len(theirs) :]

    assert len(ours) == len(theirs) == 5
    assert [request.body["tools"] for request in ours] == [
        request.body["tools"] for request in theirs
    ]
    assert [_conversation(request) for request in ours] == [
        _conversation(request) for request in theirs
    ]


def _conversation(request: ApiRequest) -> tuple[list[str], str]:
    """Return the mocked tools in the order they are named in, and all from the first answer on.

    What stands before tells of the workspace, which is another one here.
    """
    messages: Any = request.body["messages"]
    names = re.findall(r"mcp__\w+", json.dumps(messages))
    first = next((n for n, each in enumerate(messages) if each["role"] == "assistant"), None)
    answered = [] if first is None else messages[first:]
    return names, re.sub(r"toolu_\w+", "ID", json.dumps(answered))


def test_a_call_that_is_not_as_expected_ends_the_agent(
    tmp_path: Path, service: MockService
) -> None:
    mock = "---\nexpect:\n  q: /^ok/\n---\nfound"
    root = write_plugin(tmp_path / "demo", {".mcp.json": MCP, "evals/mocks/tracker/t.md": mock})
    turns: list[str | Mapping[str, object]] = [
        load_tools(T),
        call(T, {"q": "ok"}),
        call(T, {"q": "bad"}),
        *["more"] * 3,
    ]
    with ScriptedApi(script(rule(prompt="Go.", turns=turns))) as api:
        session = Session(root, service, tmp_path)
        done, result = session.run(api, "Go.")

    reason = 'the model\'s call violates expect: q = "bad" does not match /^ok/'
    assert result.aborted == Aborted(server="tracker", tool="t", reason=reason)
    assert session.aborts == [result.aborted]
    assert done.stopped
    assert Trace(done.lines).result is None


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_in_the_environment_does_not_matter(
    tmp_path: Path, service: MockService, name: str
) -> None:
    root = write_plugin(tmp_path / "demo", {".mcp.json": MCP, **MOCKS})
    env = with_loopback_direct({name: "http://127.0.0.1:9"})
    turns: list[str | Mapping[str, object]] = [load_tools(T), call(T, {"q": "x"}), "done"]
    with ScriptedApi(script(rule(prompt="Go.", turns=turns))) as api:
        _, result = Session(root, service, tmp_path).run(api, "Go.", env)

    assert [each.output for each in result.calls] == ["found x"]


BROKEN = {
    "unknown-key": "---\nfoo: 1\n---\nx",
    "type": "---\ntype: other\n---\nx",
    "error-agent": "---\ntype: agent\nerror: true\n---\nx",
    "abort-fixed": "---\nabort_when: x\n---\nx",
    "expect-null": "---\nexpect:\n  x: null\n---\nx",
    "expect-flag": "---\nexpect:\n  x: /a/g\n---\nx",
    "expect-path": "---\nexpect:\n  x: /usr/bin\n---\nx",
    "empty-agent": "---\ntype: agent\n---\n",
    "open-front": "---\ntype: fixed\nx",
}
EXPECTED: dict[str, tuple[str, Mapping[str, object]]] = {
    "number-text": ("'1.0'", {"x": 1}),
    "null-text": ("'null'", {"x": None}),
    "missing-re": ("/.*/", {}),
    "object-re": ("/a/", {"x": {"a": 1}}),
    "choice": ("[1, true, a]", {"x": "b"}),
    "array": ("array", {"x": {"b": [1.5, 1e21]}}),
    "long": ("foo", {"x": "y" * 200}),
}
FILLED: dict[str, tuple[str, Mapping[str, object]]] = {
    "fields": (
        "{{input.a.b}} {{ input.n }} {{input.t}} {{input.z}} {{input.o}} {{input.l.1}} {{input}}"
        " [{{input.no}}{{input.l.length}}] {{input.é}} {{{input.n}}} {{file:}}",
        {"a": {"b": "é"}, "n": 1.0, "t": True, "z": None, "o": {"k": [1, 2.5]}, "l": [1, "y"]},
    ),
    "outside": ("{{file:fixtures/no}} {{file:../x}}", {}),
    "segment": ("{{file:fixtures/{input.id}.json}}", {"id": "a b"}),
    "no-segment": ("{{file:fixtures/{input.id}.json}}", {}),
    "no-fixture": ("{{file:fixtures/{input.id}.json}}", {"id": 9}),
    "fixture": ("[{{file:fixtures/a.txt}}]", {}),
}


@pytest.fixture(scope="module")
def compared(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Path, Mapping[str, Any], tuple[ApiRequest, ...]]]:
    """Return a suite of all tables, the reference's runs of it by case, and its requests."""
    root = tmp_path_factory.mktemp("compared") / "demo"
    mocks = dict(BROKEN)
    mocks.update({f"e-{n}": f"---\nexpect:\n  x: {t}\n---\nv" for n, (t, _) in EXPECTED.items()})
    mocks.update({f"f-{n}": text for n, (text, _) in FILLED.items()})
    inputs = {f"e-{n}": i for n, (_, i) in EXPECTED.items()}
    inputs.update({f"f-{n}": i for n, (_, i) in FILLED.items()})
    files = {".mcp.json": MCP}
    for name, text in mocks.items():
        files[f"evals/{name}/prompt.md"] = f"---\nruns: 1\n---\nGo {name}!\n"
        files[f"evals/{name}/graders/a.md"] = "---\ntype: regex\npattern: x\n---\n"
        files[f"evals/{name}/mocks/tracker/t.md"] = text
        files[f"evals/{name}/mocks/tracker/fixtures/a.txt"] = " FIX {{input.x}}\n"
    write_plugin(root, files)
    rules = [
        rule(prompt=f"Go {name}!", turns=[load_tools(T), call(T, inputs[name]), "done"])
        for name in inputs
    ]
    with ScriptedApi(script(*rules)) as api:
        done = run_reference(root, api, "--ablation", "none", "-j", "4")
        assert done.document is not None, done.stderr
        runs = {case["name"]: case["arms"]["with"][0] for case in done.document["cases"]}
        yield root, runs, api.messages


Compared = tuple[Path, Mapping[str, Any], tuple[ApiRequest, ...]]


def responder_of(root: Path, case: str) -> tuple[RunResponder, PlacedServer]:
    plugins, evals = [read_plugin(root)], root / "evals"
    mocks = load_mocks(evals / case, evals, plugins=plugins, check_patterns=compile_errors)
    server = placed_servers(mocks.servers, plugins)[0]
    return RunResponder(run_mocks(server)), server


@pytest.mark.parametrize("name", BROKEN)
def test_what_the_reference_refuses_does_not_load(compared: Compared, name: str) -> None:
    root, runs, _ = compared

    assert runs[name]["error"].startswith("mocks/tracker/t.md: ")
    with pytest.raises(CaseError):
        responder_of(root, name)


@pytest.mark.parametrize("name", EXPECTED)
def test_reasons_of_aborts_equal_those_of_the_reference(compared: Compared, name: str) -> None:
    root, runs, _ = compared
    responder, server = responder_of(root, f"e-{name}")

    responder.answer(server, "t", EXPECTED[name][1])
    result = responder.close()
    aborted = result.aborted

    counts = runs[f"e-{name}"]["mocks"]["calls"]
    assert (len(result.calls), result.errors) == (counts["total"], counts["errors"])
    assert aborted is not None
    assert runs[f"e-{name}"]["aborted"] == {
        "server": aborted.server,
        "tool": aborted.tool,
        "reason": aborted.reason,
    }


@pytest.mark.parametrize("name", FILLED)
def test_answers_equal_those_of_the_reference(compared: Compared, name: str) -> None:
    root, runs, requests = compared
    responder, server = responder_of(root, f"f-{name}")

    answer = responder.answer(server, "t", FILLED[name][1])

    own = [each for each in requests if f"Go f-{name}!" in json.dumps(each.body["messages"])]
    (theirs,) = results_in(own)
    assert f"{'!' if answer.is_error else ''}{answer.text}" == theirs
    assert runs[f"f-{name}"]["mocks"]["calls"]["errors"] == responder.close().errors


def test_the_text_of_mock_calls_equals_the_reference_s(
    tmp_path: Path, service: MockService
) -> None:
    focus = "---\ntype: llm\nfocus: mock_calls\n---\nCRITERION\n"
    root = write_plugin(
        tmp_path / "demo",
        {
            ".mcp.json": MCP,
            **MOCKS,
            "evals/hello/prompt.md": "---\nruns: 1\n---\nGo.\n",
            "evals/hello/graders/says.md": focus,
        },
    )
    turns: list[str | Mapping[str, object]] = [
        call(W, {"n": 1}),  # its schema is not loaded: the client adds to the error
        load_tools(T, U),
        call(T, {"q": "é\n", "10": 1.0, "2": [], "a": 1e21}),
        call(U, {}),
        call("mcp__plugin_demo_tracker__zz", {}),
        "done",
    ]
    judging = {"kind": "bare", "contains": "CRITERION", "runs": [["PASS"]]}
    with ScriptedApi(script(rule(prompt="Go.", turns=turns), judging)) as api:
        run_reference(root, api, "--ablation", "none")
        asked = [each.body for each in api.messages if not each.body.get("tools")]
        done, result = Session(root, service, tmp_path).run(api, "Go.")

    text = mock_calls_text(Trace(done.lines), result.calls)
    messages: Any = asked[-1]["messages"]
    question = messages[0]["content"]
    question = question if isinstance(question, str) else question[0]["text"]
    assert text.count("\n") == 2
    assert f"\n{text}\n" in question


PLAYED = "---\ntype: agent\nabort_when: it deletes issues\n---\nBODY of the tracker\n"


def test_a_model_answers_in_the_place_of_a_server(tmp_path: Path, service: MockService) -> None:
    root = write_plugin(tmp_path / "demo", {".mcp.json": MCP, "evals/mocks/tracker/t.md": PLAYED})
    turns: list[str | Mapping[str, object]] = [
        load_tools(T),
        call(T, {"n": 1}),
        call(T, {"n": 2}),
        call(T, {"n": 3}),
        "never",
    ]
    playing = {
        "kind": "bare",
        "contains": "BODY of the tracker",
        "runs": [["ISSUE-1"], ["ERROR: no such issue"], ["ABORT: it deletes"]],
    }
    ledger = Ledger()
    with ScriptedApi(script(rule(prompt="Go.", turns=turns), playing)) as api:
        env = base_environment(api.url, tmp_path / "operator")
        asker = Asker(
            lambda: find_judge(env=env, agent_path=None, run_root=tmp_path),
            model="claude-haiku-4-5",
            ledger=ledger,
            limiter=Limiter(),
        )
        with closing(asker):
            session = Session(root, service, tmp_path, ask=asker)
            done, result = session.run(api, "Go.")
        answers = results_in(api.messages)

    assert answers[:2] == ["ISSUE-1", "!no such issue"]
    assert result.aborted == Aborted(server="tracker", tool="t", reason="it deletes")
    assert done.stopped
    assert [each.output for each in result.calls[:2]] == ["ISSUE-1", "no such issue"]
    assert len(result.recordings) == 2
    assert result.cost_usd == pytest.approx(ledger.spent_usd)


def test_recordings_of_the_reference_answer_here(tmp_path: Path) -> None:
    prompt = "---\nruns: 1\n---\nGo.\n"
    files = {".mcp.json": MCP, "evals/mocks/tracker/t.md": PLAYED, "evals/hello/prompt.md": prompt}
    root = write_plugin(tmp_path / "demo", files)
    turns: list[str | Mapping[str, object]] = [
        load_tools(T),
        call(T, {"b": 1, "a": {"c": [1.5]}}),
        call(T, {"n": 2}),
        "done",
    ]
    playing = {"kind": "bare", "contains": "BODY", "runs": [["ISSUE"], ["ERROR: gone"]]}
    with ScriptedApi(script(rule(prompt="Go.", turns=turns), playing)) as api:
        run_reference(root, api, "--ablation", "none", output_dir=tmp_path / "results")
    made = sorted(tmp_path.glob("results/**/mock-recordings/tracker/*.json"))
    adopted = root / "evals" / "mocks" / ".replay" / "tracker"
    adopted.mkdir(parents=True)
    for path in made:
        path.rename(adopted / path.name)

    responder, server = responder_of(root, "hello")
    answers = [
        responder.answer(server, "t", {"a": {"c": [1.5]}, "b": 1}),
        responder.answer(server, "t", {"n": 2}),
    ]

    assert len(made) == 2
    assert answers == [Answer("ISSUE"), Answer("gone", is_error=True)]
    assert responder.close().replay_hits == 2
