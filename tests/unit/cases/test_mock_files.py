"""Mock files: what loads, and what is said of what does not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.manifest import read_plugin
from pytest_plugin_eval.cases.mock import (
    Condition,
    Expectation,
    Mocks,
    MockServer,
    Place,
    Responder,
    mocks_hash,
    placed_servers,
)
from pytest_plugin_eval.cases.mock_files import load_mocks
from pytest_plugin_eval.errors import CaseError
from pytest_plugin_eval.graders.javascript import compile_errors
from tests.support.mocks import placed
from tests.support.suites import MANIFEST, write_tree

SERVERS = {".mcp.json": '{"mcpServers": {"tracker": {"command": "x"}, "my.srv": {"url": "y"}}}'}
TOOLS = json.dumps({"tools": [{"name": "t"}, {"name": "u"}]})
AGENT = "---\ntype: agent\n---\nIt tracks."
TEAM = "---\ntype: agent\ntools: [t, u]\n---\nIt tracks."


def load(root: Path, files: Mapping[str, str | bytes]) -> Mocks:
    """Write a plugin with the case `evals/it` and return the mocks of that case."""
    write_tree(root, {**MANIFEST, **SERVERS, "evals/it/prompt.md": "Hello.\n"})
    write_tree(root / "evals", files)
    return load_mocks(
        root / "evals" / "it",
        root / "evals",
        plugins=[read_plugin(root)],
        check_patterns=compile_errors,
    )


def problems(root: Path, files: Mapping[str, str | bytes]) -> list[str]:
    """Return what is wrong with mocks, by paths relative to the eval directory."""
    with pytest.raises(CaseError) as caught:
        load(root, files)
    return [problem.replace(f"{root}/evals/", "") for problem in caught.value.problems]


def tool_of(mocks: Mocks, name: str = "t") -> object:
    return next(tool for server in mocks.servers for tool in server.tools if tool.name == name)


def front(text: str, body: str = "x") -> str:
    return f"---\n{text}\n---\n{body}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("foo: 1", "3: unknown key 'foo', expected one of: type, expect, error, tools, abort_when"),
        ("expct: {}", "3: unknown key 'expct', did you mean 'expect'?"),
        ("type: other", "3: type must be fixed or agent, got 'other'"),
        ("type:", "3: type must be fixed or agent, got null"),
        ("error: 'yes'", "3: error must be true or false, got 'yes'"),
        ("tools: [a]", "3: tools belongs in _server.md, this file answers the tool it is named"),
        ("abort_when: x", "3: abort_when needs type: agent, a fixed answer checks its input with"),
        ("abort_when: [a]", "3: abort_when must be a string, got ['a']"),
        ("type: agent\nerror: true", "4: error is for fixed answers, an agent begins its answer"),
        ("expect: abc", "3: expect must be a mapping of fields to what they must be, got 'abc'"),
        ("expect:", "3: expect must be a mapping of fields to what they must be, got null"),
        ("expect:\n  x: null", "4: expect: x must be a type, a text, a number, true, false, a /pa"),
        ("expect:\n  x: []", "4: expect: x must be a list of at least one text, number, true or"),
        ("expect:\n  x: [[a]]", "4: expect: x must be a list of at least one text, number, true"),
        ("expect:\n  x: [a, null]", "4: expect: x must be a list of at least one text, number,"),
        (
            "expect:\n  x: .inf",
            "4: expect: x must be a type, a text, a number, true, false, a /pat",
        ),
        ("expect:\n  x: [1, .nan]", "4: expect: x must be a list of at least one text, number, t"),
        ("expect:\n  x: /a/g", "4: expect: x must be a /pattern/ with the flags i and s only, or"),
        ("expect:\n  x: /usr/bin", "4: expect: x must be a /pattern/ with the flags i and s onl"),
        ("expect:\n  a:\n    b: /(/", "5: expect: a.b must be a JavaScript pattern between sla"),
        ("type: [", "4: invalid YAML: "),
        ("- a", "2: expected a mapping of keys to values, got ['a']"),
    ],
)
def test_a_bad_file_is_told_with_its_line(tmp_path: Path, text: str, expected: str) -> None:
    found = problems(tmp_path, {"mocks/tracker/t.md": front(f"# first\n{text}")})

    assert len(found) == 1 or "JavaScript" in found[0]
    # The fence and the comment stand above.
    assert found[0].startswith(f"mocks/tracker/t.md:{expected}")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("t.md", "---\ntype: fixed\nx", "t.md:1: the frontmatter opened by --- has no closing"),
        ("t.md", front("type: agent", ""), "t.md:2: the text below the frontmatter is missing"),
        ("_server.md", "x", "_server.md:1: type must be agent in _server.md, which answers seve"),
        ("_server.md", front("type: fixed\ntools: [a]"), "_server.md:2: type must be agent in"),
        ("_server.md", front("type: agent"), "_server.md:2: tools must be the list of tools it"),
        ("_server.md", front("type: agent\ntools: []"), "_server.md:3: tools must be the list"),
        ("_server.md", front("type: agent\ntools: a"), "_server.md:3: tools must be a list of st"),
        ("_server.md", front("type: agent\ntools: [1]"), "_server.md:3: tools: item 1 must be a"),
        ("_server.md", front("type: agent\ntools: ['a b']"), "_server.md:3: tools: 'a b' is not"),
        ("a b.md", "x", "a b.md: cannot be named after a tool, expected letters, digits, _ and -"),
        ("_tools.json", "{", "_tools.json:1: invalid JSON: "),
        ("_tools.json", "", "_tools.json:1: invalid JSON: "),
        ("_tools.json", "[]", "_tools.json:1: expected what a server answers to tools/list"),
        ("_tools.json", '{"tools": {}}', "_tools.json:1: expected what a server answers to to"),
        (
            "_tools.json",
            '{"tools": [\n{"name": "t"},\n{"description": "x"}]}',
            "_tools.json:3: tool 2: name must be a string, got null",
        ),
        (
            "_tools.json",
            '{"tools": [{"name": "t", "description": 3}]}',
            "_tools.json:1: tool 1: description must be a string, got 3",
        ),
        (
            "_tools.json",
            '{"tools": [{"name": "t", "inputSchema": "x"}]}',
            "_tools.json:1: tool 1: inputSchema must be an object, got 'x'",
        ),
        (
            "_tools.json",
            '{"tools": [{"name": "t", "inputSchema": {"type": "string"}}]}',
            "_tools.json:1: tool 1: inputSchema must have type object, got 'string'",
        ),
    ],
)
def test_a_bad_file_of_a_server_is_told(
    tmp_path: Path, name: str, text: str, expected: str
) -> None:
    found = problems(tmp_path, {f"mocks/tracker/{name}": text})

    assert found[0].startswith(f"mocks/tracker/{expected}")


def test_all_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    files = {
        "mocks/tracker/t.md": front("foo: 1"),
        "mocks/tracker/u.md": front("type: other"),
        "mocks/a b/t.md": "x",
        "it/mocks/solo/_tools.json": "{",
    }

    found = problems(tmp_path, files)

    assert [text.partition(":")[0] for text in found] == [
        "mocks/a b",
        "mocks/tracker/t.md",
        "mocks/tracker/u.md",
        "it/mocks/solo/_tools.json",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "mocks/t.md",
        "mocks/.replay/tracker/t-0.json",
        "mocks/.hidden/t.md",
        "mocks/tracker/.t.md",
        "mocks/tracker/fixtures/a.md",
        "mocks/tracker/t.txt",
        "mocks/tracker/t.MD",
        "mocks/ADOPT.txt",
    ],
)
def test_other_files_are_no_mocks(tmp_path: Path, name: str) -> None:
    assert load(tmp_path, {name: "---\nbroken"}).servers == ()


def test_a_fixed_mock_may_be_empty_and_needs_no_frontmatter(tmp_path: Path) -> None:
    files = {"mocks/tracker/t.md": "", "mocks/tracker/u.md": "\n  Hello {{input.x}}  \n"}

    mocks = load(tmp_path, files)

    bodies = [(tool.name, tool.responder, tool.body) for tool in mocks.servers[0].tools]
    assert bodies == [("t", Responder.FIXED, ""), ("u", Responder.FIXED, "Hello {{input.x}}")]


def test_expectations_are_flattened_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = front(
        "expect:\n  z: string\n  a:\n    b: /^x/i\n    c: [1, true]\n  a.0: 'null'\n  n: 1.0"
    )

    mocks = load(tmp_path, {"mocks/tracker/t.md": text})

    assert mocks.servers[0].tools[0].expect == (
        Expectation(path="z", condition=Condition.TYPE, values=("string",)),
        Expectation(path="a.b", condition=Condition.PATTERN, values=("^x",), flags="i"),
        Expectation(path="a.c", condition=Condition.CHOICE, values=(1, True)),
        Expectation(path="a.0", condition=Condition.TEXT, values=("null",)),
        Expectation(path="n", condition=Condition.TEXT, values=(1,)),
    )


@pytest.mark.parametrize("text", ["/", "//", "a/b/"])
def test_text_that_is_no_pattern_stays_text(tmp_path: Path, text: str) -> None:
    mocks = load(tmp_path, {"mocks/tracker/t.md": front(f"expect:\n  x: {text}")})

    assert mocks.servers[0].tools[0].expect[0].condition is Condition.TEXT


def test_listed_tools_have_description_and_schema(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "number"}}}
    listed = [
        {"name": "t", "description": "Finds.", "inputSchema": schema, "title": "T"},
        {"name": "zz", "inputSchema": schema},
    ]
    files = {
        "mocks/tracker/_tools.json": json.dumps({"tools": listed}),
        "mocks/tracker/t.md": "x",
        "mocks/tracker/u.md": "x",
    }

    tools = load(tmp_path, files).servers[0].tools

    assert [(tool.name, tool.description, tool.input_schema) for tool in tools] == [
        ("t", "Finds.", schema),
        ("u", "", {"type": "object", "additionalProperties": True}),
    ]


def test_a_server_file_answers_the_tools_without_a_file(tmp_path: Path) -> None:
    files = {
        "mocks/tracker/_server.md": TEAM,
        "mocks/tracker/u.md": "x",
        "mocks/tracker/_tools.json": TOOLS,
    }

    mocks = load(tmp_path, files)

    assert [(tool.name, tool.responder) for tool in mocks.servers[0].tools] == [
        ("t", Responder.AGENT),
        ("u", Responder.FIXED),
    ]
    place = f"{tmp_path}/evals/mocks/tracker"
    assert mocks.warnings == (
        f"{place}/_server.md:3: tools: u is answered by {place}/u.md instead",
    )


def test_files_of_the_case_go_before_those_of_the_suite(tmp_path: Path) -> None:
    files = {
        "mocks/tracker/t.md": "suite",
        "mocks/tracker/u.md": "suite",
        "it/mocks/tracker/t.md": "case",
        "it/mocks/solo/v.md": "case",
        "other/mocks/tracker/u.md": "other",
    }

    mocks = load(tmp_path, files)

    evals = tmp_path / "evals"
    assert [
        (server.name, tool.name, tool.body, tool.replay_directory.relative_to(evals).as_posix())
        for server in mocks.servers
        for tool in server.tools
    ] == [
        ("tracker", "t", "case", "it/mocks/.replay/tracker"),
        ("tracker", "u", "suite", "mocks/.replay/tracker"),
        ("solo", "v", "case", "it/mocks/.replay/solo"),
    ]


def test_tools_stand_as_the_server_s_file_names_them_then_by_name(tmp_path: Path) -> None:
    files = {
        "mocks/tracker/_server.md": front("type: agent\ntools: [z, m, a]"),
        "mocks/tracker/m.md": "",
        "mocks/tracker/k.md": "",
        "mocks/tracker/b.md": "",
    }

    (server,) = load(tmp_path, files).servers

    assert [tool.name for tool in server.tools] == ["z", "m", "a", "b", "k"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"mocks/solo/a.txt": ""}, "mocks/solo: mocks nothing, expected a file TOOL.md for each"),
        ({"mocks/solo/t.md": ""}, "mocks/solo: has no _tools.json, so the agent is told nothing"),
        (
            {"mocks/solo/v.md": "", "mocks/solo/_tools.json": TOOLS},
            "mocks/solo/_tools.json: does not list v, so the agent is told nothing of its input",
        ),
        (
            {"mocks/solo/t.md": "a\n{{file:no.txt}}", "mocks/solo/_tools.json": TOOLS},
            "mocks/solo/t.md:2: the fixture 'no.txt' does not exist",
        ),
        *(
            (
                {"mocks/solo/t.md": front(text), "mocks/solo/_tools.json": TOOLS},
                f"mocks/solo/t.md:{line}: {key} stands here twice, and only this one counts",
            )
            for text, line, key in (
                ("type: agent\ntype: fixed", 3, "type"),
                ("expect:\n  a: string\n  a: number", 4, "expect.a"),
                ("expect:\n  a: 'x\u0001\u2028'\n  b: x\n  'a': x", 5, "expect.a"),
            )
        ),
        ({"mocks/loose.md": "x"}, "mocks/loose.md: mocks nothing, expected it in a directory"),
        ({"it/mocks/_tools.json": TOOLS}, "it/mocks/_tools.json: mocks nothing, expected it in"),
        *(
            (
                {
                    "mocks/solo/t.md": f"---\ntype: {kind}\n---\n{{{{input.a}}}}\n{text} b",
                    "mocks/solo/_tools.json": TOOLS,
                },
                f"mocks/solo/t.md:5: '{shown}' is no placeholder and stays as it is, expected",
            )
            for kind in ("fixed", "agent")
            for text, shown in (
                ("{{inputt.x}}", "{{inputt.x}}"),
                ("{{ input }}", "{{ input }}"),
                ("{{input.x}", "{{input.x}"),
                ("{{input.x", "{{input.x b"),
            )
        ),
        *(
            (
                {
                    "mocks/solo/t.md": "x",
                    "mocks/solo/_tools.json": TOOLS,
                    "mocks/.replay/solo/t-1.json": text,
                },
                "mocks/.replay/solo/t-1.json: is no recording, expected a JSON object",
            )
            for text in ("{", "[]", "[" * 100_000, "")
        ),
    ],
)
def test_what_is_probably_a_mistake_is_a_warning(
    tmp_path: Path, files: Mapping[str, str], expected: str
) -> None:
    (warning,) = load(tmp_path, files).warnings

    assert warning.removeprefix(f"{tmp_path}/evals/").startswith(expected)


@pytest.mark.parametrize("text", ["expect: {a: {b: x}, c: {b: x}}", "expect:\n  a: '\u0001'"])
def test_keys_of_different_places_are_not_repeated(tmp_path: Path, text: str) -> None:
    files = {"mocks/solo/t.md": front(text), "mocks/solo/_tools.json": TOOLS}

    assert load(tmp_path, files).warnings == ()


@pytest.mark.parametrize("body", ["{{input.a}} {{ file:f.txt }}", '{"a": {"b": 1}} {x}', "}}"])
def test_what_is_as_it_should_be_is_not_told(tmp_path: Path, body: str) -> None:
    files = {
        "mocks/README.txt": "x",
        "mocks/solo/t.md": body,
        "mocks/solo/f.txt": "x",
        "mocks/solo/_tools.json": TOOLS,
        "mocks/.replay/solo/t-1.json": '{"output": "x"}',
        "mocks/.replay/solo/notes.txt": "x",
    }

    assert load(tmp_path, files).warnings == ()


@pytest.mark.parametrize("name", ["t.md", "_server.md", "_tools.json"])
def test_a_binary_file_is_no_mock(tmp_path: Path, name: str) -> None:
    found = problems(tmp_path, {f"mocks/solo/{name}": b"\x89PNG\0\xff", "mocks/solo/u.md": "x"})

    assert found[0] == f"mocks/solo/{name}: is a binary file, expected text in UTF-8"


def test_a_link_out_of_the_eval_directory_is_refused(tmp_path: Path) -> None:
    write_tree(tmp_path, {"outside.md": "x", "evals/mocks/tracker/u.md": "x"})
    (tmp_path / "evals/mocks/tracker/t.md").symlink_to(tmp_path / "outside.md")
    (tmp_path / "evals/mocks/tracker/v.md").symlink_to("nowhere.md")

    found = problems(tmp_path, {"mocks/tracker/_tools.json": '{"tools": [{"name": "u"}]}'})

    assert [text.split("; ")[0] for text in found] == [
        f"mocks/tracker/t.md: is a link to '{tmp_path}/outside.md', outside the eval directory",
        "mocks/tracker/v.md: is a link to 'mocks/tracker/nowhere.md', which does not exist",
    ]


def test_directories_stand_for_declared_servers_by_both_names(tmp_path: Path) -> None:
    files = {
        "mocks/my_srv/t.md": "",
        "mocks/plugin_demo_tracker/t.md": "",
        "mocks/Tracker/t.md": "",
    }
    mocks = load(tmp_path, files)

    found = placed_servers(mocks.servers, [read_plugin(tmp_path)])

    assert [(each.place, each.key, each.name, each.tool_name("t")) for each in found] == [
        (Place.STANDALONE, "Tracker", "Tracker", "mcp__Tracker__t"),
        (Place.SHADOW, "plugin:demo:my.srv", "my_srv", "mcp__plugin_demo_my_srv__t"),
        (
            Place.SHADOW,
            "plugin:demo:tracker",
            "plugin_demo_tracker",
            "mcp__plugin_demo_tracker__t",
        ),
    ]


def test_declared_servers_without_mocks_are_withheld(tmp_path: Path) -> None:
    mocks = load(tmp_path, {"mocks/tracker/t.md": ""})

    found = placed_servers(mocks.servers, [read_plugin(tmp_path)])

    assert [(each.place, each.key, each.name) for each in found] == [
        (Place.SHADOW, "plugin:demo:tracker", "tracker"),
        (Place.WITHHELD, "plugin:demo:my.srv", "plugin_demo_my_srv"),
    ]


def test_without_plugins_every_mock_is_standalone() -> None:
    server = placed(server="tracker").mock
    assert server is not None

    (found,) = placed_servers([server], [])

    assert (found.place, found.key) == (Place.STANDALONE, "tracker")


def test_a_server_of_several_plugins_needs_the_longer_name(tmp_path: Path) -> None:
    for name in ("one", "two"):
        manifest = json.dumps({"name": name})
        write_tree(tmp_path / name, {".claude-plugin/plugin.json": manifest, **SERVERS})
    evals = write_tree(tmp_path / "evals", {"mocks/tracker/t.md": "", "it/prompt.md": "Hi."})
    plugins = [read_plugin(tmp_path / "one"), read_plugin(tmp_path / "two")]

    with pytest.raises(CaseError) as caught:
        load_mocks(evals / "it", evals, plugins=plugins)

    assert caught.value.problems[0] == (
        f"{evals}/mocks/tracker: several plugins declare this server, expected plugin_one_tracker"
        " or plugin_two_tracker"
    )


def test_two_directories_for_one_server_are_refused(tmp_path: Path) -> None:
    files = {"mocks/tracker/t.md": "", "mocks/plugin_demo_tracker/t.md": ""}

    found = problems(tmp_path, files)

    assert (
        found[0] == "mocks/tracker: stands for the same server as plugin_demo_tracker, expected one"
    )


def test_the_eval_directory_may_be_the_case(tmp_path: Path) -> None:
    evals = write_tree(tmp_path / "evals", {"prompt.md": "Hi.", "mocks/solo/t.md": "x"})

    mocks = load_mocks(evals, evals)

    assert [server.name for server in mocks.servers] == ["solo"]
    assert isinstance(mocks.servers[0], MockServer)


HASHED = {
    "mocks/tracker/t.md": "{{file:fixtures/a.txt}}",
    "mocks/tracker/fixtures/a.txt": "one",
    "mocks/tracker/_tools.json": TOOLS,
    "mocks/solo/u.md": AGENT,
}


@pytest.mark.parametrize(
    "changes",
    [
        {"mocks/tracker/t.md": "x"},
        {"mocks/tracker/fixtures/a.txt": "two"},
        {"mocks/tracker/fixtures/b/c.txt": ""},
        {"mocks/tracker/_tools.json": TOOLS.replace('"t"', '"t", "description": "d"')},
        {"mocks/solo/v.md": ""},
        {"it/mocks/tracker/t.md": "case"},
    ],
)
def test_the_hash_of_mocks_changes_with_all_they_can_say(
    tmp_path: Path, changes: Mapping[str, str]
) -> None:
    before = mocks_hash(load(tmp_path / "a", HASHED).servers)

    assert mocks_hash(load(tmp_path / "b", HASHED).servers) == before
    assert mocks_hash(load(tmp_path / "c", {**HASHED, **changes}).servers) != before


def test_the_hash_of_mocks_does_not_change_with_recordings(tmp_path: Path) -> None:
    adopted = {"mocks/.replay/solo/u-0.json": "{}", "mocks/unused.txt": ""}

    before = mocks_hash(load(tmp_path / "a", HASHED).servers)

    assert mocks_hash(load(tmp_path / "b", {**HASHED, **adopted}).servers) == before


def test_no_mocks_have_no_hash() -> None:
    assert mocks_hash([]) is None
