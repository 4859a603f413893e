"""Stand-ins for MCP servers: the same answers, aborts, counts and scores as the reference's."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.differential.compare import Comparison, check, compare, run_ours
from tests.differential.suite import Suite, llm, regex
from tests.support.reference import run_reference
from tests.support.script import Data, TurnData, judge, rule, script, tool
from tests.support.scripted_api import ScriptedApi

pytestmark = pytest.mark.agent
pytest.importorskip("mcp", reason="the package for mocked servers is in the extra `mocks`")
pytest.importorskip("anthropic", reason="the judge is in the extra `judge`")

ONE_ARM = ("--ablation", "none")
# The reference guesses from what it saw, ours takes the agent's own account. The reference's agent
# gets the answer that ends the run, and so may have begun another turn; ours does not.
KILLED = {"cost of a killed run": ["?costUsd", "?cases.*.costUsd", "?cases.*.turns"]}
REAL_SERVER = Path(__file__).parent.parent / "support" / "real_server.py"
DONE = {"done": regex("done")}


def named(tool_name: str, server: str = "tracker") -> str:
    """Return a tool of a declared server as the agent calls it."""
    return f"mcp__plugin_demo_{server}__{tool_name}"


def use(tool_name: str, server: str = "tracker", /, **inputs: object) -> dict[str, object]:
    """Return a call of a declared server's tool."""
    return tool(named(tool_name, server), **inputs)


def load(*names: str) -> list[dict[str, object]]:
    """Return the turn that loads schemas, so that the client adds nothing to errors."""
    return [tool("ToolSearch", query=f"select:{','.join(names)}", max_results=20)]


def mock(body: str, **front: object) -> str:
    """Return a mock's file."""
    return f"---\n{json.dumps(front)}\n---\n{body}"


def calls(pattern: str, **options: object) -> Mapping[str, object]:
    """Return a regex grader of the calls of mocked tools."""
    return regex(pattern, target="mock_calls", **options)


@pytest.fixture
def served(suite: Suite) -> Suite:
    """Return a suite whose plugin declares the servers tracker and mail."""
    command = {"command": sys.executable, "args": [str(REAL_SERVER)]}
    servers = {"tracker": command, "mail": {**command, "env": {"SERVER": "mail"}}}
    return suite.write(".mcp.json", json.dumps({"mcpServers": servers}))


def run(suite: Suite, turns: list[TurnData], *options: str, **more: object) -> Comparison:
    """Run all cases alike; the without-arm, which has no server, only talks."""
    answers = script(rule(arm="with", turns=turns), rule(turns=["done"]), plugin_text="demo:greet")
    return compare(suite, answers, *options, **more)  # type: ignore[arg-type]  # handed on


FORMS: dict[str, tuple[str, Mapping[str, object]]] = {
    "nested": ("{{input.a.b}}", {"a": {"b": "é"}}),
    "values": ("{{input.n}} {{ input.t }} {{input.z}}", {"n": 1.5, "t": True, "z": None}),
    "whole": ("{{input.o}} {{input.l}} {{input.l.1}}", {"o": {"k": [1]}, "l": [1, "y"]}),
    "missing": ("[{{input.no}}]", {}),
    "literal": ("{{input}} {{other.x}}", {"x": 1}),
    "fixture": ("[{{file:fixtures/a.txt}}]", {}),
    "chosen": ("[{{file:fixtures/{input.id}.txt}}]", {"id": "a"}),
    "outside": ("{{file:../x}}", {}),
    "segment": ("{{file:fixtures/{input.id}.txt}}", {"id": "../a"}),
    "gone": ("{{file:fixtures/{input.id}.txt}}", {"id": 9}),
    "error": ("---\nerror: true\n---\nno {{input.x}}\n", {"x": 1}),
    "empty": ("", {}),
}


def test_substitutions(served: Suite) -> None:
    served.write("evals/mocks/tracker/fixtures/a.txt", " FIXTURE {{input.x}}\n")
    for name, (body, _) in FORMS.items():
        served.write(f"evals/mocks/tracker/{name}.md", body)
    graders = {
        "ok": calls('"verdict":"ok"', match="count:8"),
        "errors": calls('"verdict":"tool_error"', match="count:4"),
        "accent": calls('"output":"é"'),
        "values": calls('"output":"1.5 true null"'),
        "whole": calls('"output":"{\\\\"k\\\\":\\[1\\]} \\[1,\\\\"y\\\\"\\] y"'),
        "literal": calls('"output":"{{input}} {{other.x}}"'),
        "fixture": calls('"output":"\\[ FIXTURE {{input.x}}\\\\n\\]"', match="count:2"),
        "outside": calls("names a path outside the mock's directory"),
        "segment": calls("is not a plain file-name segment"),
        "gone": calls("no such fixture"),
        "said": regex("no 1", target="trace"),
        "order": calls("^.*nested.*\\n.*values.*\\n.*whole"),
    }
    served.case("a", graders)
    served.case("b", {**DONE, "calls": calls("nested")})
    turns: list[TurnData] = [
        load(*map(named, FORMS)),
        *([use(name, **inputs)] for name, (_, inputs) in FORMS.items()),
        "done",
    ]

    result = run(served, turns)

    check("mocks: substitutions, fixtures and errors, both arms", result)


EXPECTED: dict[str, tuple[object, Mapping[str, object]]] = {
    "string": ("string", {"x": 3}),
    "object": ("object", {"x": []}),
    "pattern": ("/^ab+$/", {"x": "ac"}),
    "flags": ("/^AB+$/i", {"x": "ab"}),
    "text": ("5", {"x": 5}),
    "other": ("foo", {"x": "bar"}),
    "choice": (["a", 1, True], {"x": 2}),
    "chosen": (["a", 1, True], {"x": "1"}),
    "missing": ("number", {}),
    "nested": ({"y": {"z": "boolean"}}, {"x": {"y": {"z": "true"}}}),
    "dotted": ("array", {"x": {"0": 1}}),
}


def test_expectations(served: Suite) -> None:
    rules: list[Data] = []
    for name, (expected, inputs) in EXPECTED.items():
        served.write(f"evals/mocks/tracker/{name}.md", mock("fine", expect={"x": expected}))
        served.case(name, {**DONE, "fine": calls("fine"), "judged": llm("Nice?")})
        rules.append(rule(prompt=f"Do {name}.", turns=[[use(name, **inputs)], "more", "done"]))
    answers = script(judge("PASS", contains="Nice?"), *rules)

    result = compare(served, answers, *ONE_ARM, "-j", "2")

    check("mocks: expectations and aborts", result, KILLED)


def test_abort_counts_as_zero_in_both_arms(served: Suite) -> None:
    served.write("evals/mocks/tracker/t.md", mock("fine", expect={"x": "string"}))
    served.write("evals/mocks/solo/t.md", mock("fine", expect={"x": "string"}))
    served.case("a", DONE, front={"runs": 2})
    served.case("b", DONE)
    answers = script(
        rule(prompt="Do a.", arm="with", runs=[[[use("t", x=1)], "done"], ["done"]]),
        rule(prompt="Do b.", arm="without", turns=[[tool("mcp__solo__t", x=1)], "done"]),
        rule(turns=["done"]),
        plugin_text="demo:greet",
    )

    result = compare(served, answers)

    check("mocks: aborts in both arms", result, KILLED)


GUARD = named("guard", "mail")
PLAYED = {
    "play": ["ISSUE-1", "```json\n{}\n```", "ERROR: no such issue", "ABORT: but it may not"],
    "guard": ["FINE", "ABORT: it deletes issues"],
}


def test_played_servers(served: Suite) -> None:
    served.write("evals/mocks/tracker/play.md", mock("BODY-A of {{input.n}}.", type="agent"))
    guard = mock("BODY-B.", type="agent", abort_when="it deletes")
    served.write("evals/mocks/mail/guard.md", guard)
    graders = {
        "first": calls('"output":"ISSUE-1"'),
        "fenced": calls("```json"),
        "error": calls('"output":"no such issue","isError":true,"verdict":"tool_error"'),
        "no-abort": calls("but it may not"),
    }
    served.case("a", graders)
    served.case("b", DONE)
    history = '- play({\\"n\\":1}) → ISSUE-1'
    playing: list[Data] = [
        {"kind": "bare", "contains": ["BODY-A of 2", history], "turns": [PLAYED["play"][1]]},
        *(
            {"kind": "bare", "contains": f"BODY-A of {number}", "turns": [reply]}
            for number, reply in enumerate(PLAYED["play"], 1)
        ),
        {"kind": "bare", "contains": "BODY-B", "runs": [[one] for one in PLAYED["guard"]]},
    ]
    talk: list[TurnData] = [[use("play", n=number)] for number in range(1, 5)]
    answers = script(
        *playing,
        rule(prompt="Do a.", turns=[load(named("play")), *talk, "done"]),
        rule(prompt="Do b.", turns=[load(GUARD), *[[tool(GUARD)]] * 2, "done"]),
    )

    result = compare(served, answers, *ONE_ARM, "-j", "1")

    check("mocks: a model plays servers", result, KILLED)


def test_budget(served: Suite) -> None:
    served.write("evals/mocks/tracker/t.md", mock("BODY.", type="agent"))
    served.case("a", DONE, front={"max_turns": 2})
    playing = {"kind": "bare", "contains": "BODY", "turns": ["ANSWER"]}
    many = [use("t", n=number) for number in range(9)]
    answers = script(playing, rule(turns=[load(named("t")), many, "done"]))

    result = compare(served, answers, *ONE_ARM)

    check("mocks: budget of answers by a model", result, KILLED)


def test_server_file_case_override_and_standalone(served: Suite) -> None:
    whole = mock("ALL of it.", type="agent", tools=["find", "make"])
    served.write("evals/mocks/tracker/_server.md", whole)
    served.write("evals/mocks/tracker/find.md", "found by the suite")
    served.write("evals/mocks/tracker/keep.md", "kept {{file:fixtures/a.txt}}")
    served.write("evals/mocks/tracker/fixtures/a.txt", "suite's")
    served.write("evals/mocks/solo/now.md", "12:00")
    listed = {"tools": [{"name": "now", "description": "d", "inputSchema": {"type": "object"}}]}
    served.write("evals/mocks/solo/_tools.json", json.dumps(listed))
    served.case("plain", {"suite": calls("found by the suite"), "played": calls("PLAYED")})
    served.case("own", {"own": calls("found by the case"), "kept": calls("kept suite's")})
    served.write("evals/own/mocks/tracker/find.md", "found by the case {{file:fixtures/b.txt}}")
    served.write("evals/own/mocks/tracker/fixtures/b.txt", "case's")
    playing = {"kind": "bare", "contains": "ALL of it", "turns": ["PLAYED"]}
    now = [tool("mcp__solo__now")]
    talk: list[TurnData] = [[use("find"), use("make"), use("keep")], now, "done"]
    answers = script(
        playing,
        rule(arm="with", turns=talk),
        rule(turns=[now, "done"]),
        plugin_text="demo:greet",
    )

    result = compare(served, answers)

    check("mocks: _server.md, a case's own, standalone", result)


def test_withheld_servers(served: Suite) -> None:
    served.case("a", {**DONE, "calls": calls("x", match="not_contains"), "said": llm("Nice?")})
    answers = script(
        judge("PASS", contains="Nice?"),
        rule(arm="with", turns=[[use("echo", text="x"), use("echo", "mail")], "done"]),
        rule(turns=["done"]),
        plugin_text="demo:greet",
    )

    result = compare(served, answers)

    check("mocks: servers without mocks are not started", result)


def test_unmocked_calls(served: Suite) -> None:
    served.write("evals/mocks/tracker/t.md", "fine")
    served.write("evals/mocks/solo/t.md", "fine")
    served.case("a", {"calls": calls("fine", match="count:1"), **DONE})
    talk: list[TurnData] = [
        [use("t"), use("u"), use("u"), use("send", "mail")],
        [tool("mcp__solo__u"), tool("mcp__other__u")],
        "done",
    ]

    result = run(served, talk)

    check("mocks: calls of tools without a mock", result)


def test_calls_as_focus_and_with_only(served: Suite) -> None:
    """Only the with-arm can call a declared server; anybody can call one that stands alone."""
    served.write("evals/declared/mocks/tracker/t.md", "fine")
    for name in ("mixed", "alone"):
        served.write(f"evals/{name}/mocks/solo/t.md", "fine")
    served.write("evals/mixed/mocks/tracker/t.md", "fine")
    graders = {
        **DONE,
        "called": calls('"verdict":"ok"'),
        "judged": llm("CRITERION", focus="mock_calls"),
        "both": calls("nothing", match="not_contains", arm="both"),
    }
    for name in ("declared", "mixed", "alone", "none"):
        served.case(name, graders)
    answers = script(
        judge("PASS", contains=["CRITERION", "verdict"]),
        judge("FAIL", contains="CRITERION"),
        rule(arm="with", turns=[[use("t", q="x"), tool("mcp__solo__t", q="x")], "done"]),
        rule(turns=[[tool("mcp__solo__t", q="y")], "done"]),
        plugin_text="demo:greet",
    )

    result = compare(served, answers)

    check("mocks: calls for judges, with-only", result)


@pytest.mark.parametrize(
    "options",
    [
        ("--mocks", "off"),
        ("--allow-real-servers",),
        ("--mocks", "off", "--allow-real-servers"),
        ("--mocks", "record"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("granted", [True, False], ids=["granted", "not granted"])
def test_real_servers(served: Suite, options: tuple[str, ...], granted: bool) -> None:
    served.write("evals/mocks/tracker/echo.md", "mocked {{input.text}}")
    graders = {
        "mocked": regex("mocked hi", target="trace"),
        "real": regex("real hi", target="trace"),
        "mail": regex("mail: real ho", target="trace"),
        "calls": calls("hi"),
        **DONE,
    }
    served.case("a", graders)
    grants = ("--allow-tools", named("*"), named("*", "mail")) if granted else ()
    names = [named("echo"), named("echo", "mail")]
    talk: list[TurnData] = [
        load(*names),
        [use("echo", text="hi")],
        [use("echo", "mail", text="ho")],
    ]

    result = run(served, [*talk, "done"], *options, *grants)

    check(f"mocks: {' '.join(options)}, {'granted' if granted else 'not granted'}", result)


BROKEN = {
    "key": mock("x", foo=1),
    "type": mock("x", type="other"),
    "error": mock("x", type="agent", error=True),
    "abort": mock("x", abort_when="x"),
    "expect": mock("x", expect={"x": None}),
    "open": "---\ntype: fixed\nx",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_bad_mock_is_found_before_any_run(served: Suite, text: str) -> None:
    served.write("evals/bad/mocks/tracker/t.md", text)
    served.case("bad", DONE)
    served.case("fine", DONE)

    result = compare(served, script(rule(turns=["done"])), *ONE_ARM)

    check("mocks: a bad file", result, {"D18": ["cases.evals/bad", "?aggregates.*", "?suite.*"]})


@pytest.mark.parametrize("whose", ["ours", "the reference's"])
def test_adopted_recordings(served: Suite, whose: str, tmp_path: Path) -> None:
    """Answers that a model gave once are given again without it, whoever recorded them."""
    served.write("evals/mocks/tracker/t.md", mock("BODY.", type="agent"))
    served.write("evals/own/mocks/mail/t.md", mock("MAIL.", type="agent"))
    served.case("own", {"first": calls("RECORDED-1"), "mail": calls("RECORDED-3")})
    talk: list[TurnData] = [
        [use("t", n=1)],
        [use("t", n=2)],
        [use("t", "mail", n=1)],
        "done",
    ]
    recorded: list[Data] = [
        {"kind": "bare", "contains": ["BODY", "ISSUE"], "turns": ["never"]},
        {"kind": "bare", "contains": "BODY", "runs": [["RECORDED-1"], ["RECORDED-2"]]},
        {"kind": "bare", "contains": "MAIL", "turns": ["RECORDED-3"]},
    ]
    results = tmp_path / "recorded"
    with ScriptedApi(script(*recorded, rule(turns=talk))) as api:
        if whose == "ours":
            options = (*ONE_ARM, "--output-dir", str(results))
            run_ours(served.root, api, *options, cwd=tmp_path)
        else:
            run_reference(served.root, api, *ONE_ARM, output_dir=results)
    adopt(results, served.root)

    fresh = {"kind": "bare", "turns": ["FRESH"]}
    result = compare(served, script(fresh, rule(turns=talk)), *ONE_ARM)

    hits = [
        side.document["cases"][0]["arms"]["with"][0]["mocks"]["calls"]["replay"]["hits"]
        for side in (result.theirs, result.ours)
        if side.document is not None
    ]
    # The names of recordings are each command's own: the reference does not know ours.
    assert hits == ([0, 3] if whose == "ours" else [3, 3])
    if whose == "the reference's":
        check("mocks: adopted recordings of the reference", result)


def adopt(results: Path, root: Path) -> None:
    """Copy each recording to where the list says it belongs."""
    (listing,) = results.rglob("ADOPT.txt")
    for file in listing.parent.glob("*/*.json"):
        home = root / "evals" / ("own" if file.parent.name == "mail" else ".") / "mocks"
        target = home / ".replay" / file.parent.name
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
        assert f".replay/{file.parent.name}" in listing.read_text(encoding="utf-8")
