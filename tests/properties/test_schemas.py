"""The schema of a file and the loader are of one opinion about it.

What a schema cannot see is kept sound here: other files, whether patterns compile, what a grader's
``min`` is beside its ``max``.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.cases.model import GRADER_TYPES
from pytest_plugin_eval.errors import CaseError
from tests.support.schemas import complaints
from tests.support.suites import GRADER, MANIFEST, load, write_tree

Fields = dict[str, object]

TEXTS = (
    "", " ", "x", "1.0", "1.9", "01", " 1.0", "2", "-3", "+1", "10", "v1", "regex", "tool_used",
    "file", "contains", "count:3", "count:", "i", "gg", "uv", "dgimsv", "trace", "with-only",
    "both", "Read", "Frob", " Read ", "mcp__a__b", "Bash(ls:*)", "fixed", "agent", "string",
    "/a/", "/a/is", "/a/x", "/a/x\n", "//", "a/b/c", "get_x", "a b", "EVAL_A",
)  # fmt: skip
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from((-1, 0, 1, 3, 50, 51, 200, 201, 3600, 3601, 0.5, 1.5, -0.5)),
    st.sampled_from(TEXTS),
    st.text(st.characters(max_codepoint=0x2FF, categories=("L", "N", "P", "Z")), max_size=5),
)
keys = st.sampled_from(
    ("tool", "input_match", "source", "path", "EVAL_A", "EVAL_", "EVAL_a", "OTHER", "type", "a")
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=5,
)
texts = st.just("a text")
targets = st.sampled_from(("last_message", "files", {"source": "file", "path": "a"}))
sides = st.sampled_from(("Read", {"tool": "Read"}, {"tool": "Read", "input_match": "a"}))


def documents(sound: Mapping[str, st.SearchStrategy[object]]) -> st.SearchStrategy[Fields]:
    """Return mappings of some of the keys to sound values, and at times one thing that is odd."""
    odd = st.tuples(st.sampled_from(("typo", "Name", *sound)), values)
    return st.builds(
        lambda given, more: {**given, **dict(more)},
        st.fixed_dictionaries({}, optional=dict(sound)),
        st.just(()) | st.tuples(odd),
    )


TOP = {
    "schema_version": st.just("1.0"),
    "name": texts,
    "description": texts,
    "tags": st.just(["a"]),
    "runs": st.sampled_from((1, 50)),
}
SETTINGS = {
    "model": texts,
    "max_turns": st.just(200),
    "timeout_seconds": st.just(3600),
    "allowed_tools": st.just(["Read"]),
    "disallowed_tools": st.just([" Read ", "Frob"]),
    "env": st.just({"EVAL_A": "b"}),
    "artifact_publish": st.booleans(),
    "growthbook_overrides": st.just({"a": [None]}),
}
COMMON = {"name": texts, "weight": st.sampled_from((1, 0.5)), "arm": st.sampled_from(("both",))}
KINDS: Mapping[str, Mapping[str, st.SearchStrategy[object]]] = {
    "regex": {
        "pattern": texts,
        "flags": st.sampled_from(("", "is", "dgimsuy")),
        "match": st.sampled_from(("not_contains", "count:2")),
        "target": targets,
    },
    "tool_used": {"tool": texts, "input_match": texts, "min": st.just(0), "max": st.just(9)},
    "tool_order": {"before": sides, "after": sides},
    "file_exists": {"path": texts, "exists": st.booleans()},
    "llm": {"criteria": texts, "focus": targets},
    "baseline": {"baseline_file": st.just("base.jsonl"), "criteria": texts},
}


def graders(kind: str) -> st.SearchStrategy[Fields]:
    """Return mappings that may be a grader of that kind."""
    sound = {**COMMON, **KINDS[kind], "type": st.just(kind)}
    odd = st.dictionaries(st.sampled_from(("typo", "tool", *sound)), values, max_size=1)
    whole = st.builds(lambda given, more: {**given, **more}, st.fixed_dictionaries(sound), odd)
    return whole | documents(sound)


any_grader = st.sampled_from(sorted(GRADER_TYPES)).flatmap(graders)
MOCK = {
    "type": st.sampled_from(("fixed", "agent")),
    "expect": st.dictionaries(
        keys,
        st.sampled_from(("string", "/a/i", 3, True, ["a", 2], {"b": {}}, {"b": 1})),
        max_size=2,
    ),
    "error": st.booleans(),
    "tools": st.sampled_from((["get_x"], ["get-y", "get_x"])),
    "abort_when": texts,
}


def problems(files: Mapping[str, str]) -> tuple[str, ...]:
    """Write a case with these files and return what the loader refuses."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch).resolve()
        write_tree(root, {**MANIFEST, **files})
        try:
            load(root / "evals" / "it")
        except CaseError as error:
            return error.problems
    return ()


def fenced(fields: object, body: str = "") -> str:
    return f"---\n{json.dumps(fields)}\n---\n{body}"


def unseen(said: tuple[str, ...]) -> tuple[str, ...]:
    """Return problems without those of paths, patterns and limits, which no schema sees."""
    words = ("plugins:", "baseline_file '", "is no JavaScript", "is above max", "regular file")
    return tuple(one for one in said if not any(word in one for word in words))


@given(documents({**TOP, **SETTINGS}))
def test_prompt(fields: Fields) -> None:
    files = {"evals/it/prompt.md": fenced(fields, "Hi"), "evals/it/graders/a.md": GRADER}

    assert bool(unseen(problems(files))) == bool(complaints("prompt", fields))


@given(any_grader)
def test_grader_file(fields: Fields) -> None:
    # With a body, which stands for a pattern or criteria.
    files = {
        "evals/it/prompt.md": "Hi",
        "evals/it/base.jsonl": "{}",
        "evals/it/graders/a.md": fenced(fields, "body"),
    }

    assert bool(unseen(problems(files))) == bool(complaints("grader", fields))


@given(documents({**TOP, "execution": documents({**SETTINGS, "prompt": texts})}), any_grader)
def test_case(fields: Fields, grader: Fields) -> None:
    document = {"schema_version": "1.0", "name": "x", "execution": {"prompt": "Hi"}, **fields}
    document["graders"] = [grader]
    files = {
        "evals/it/case.yaml": json.dumps(document),
        "evals/it/base.jsonl": "{}",
    }
    section = document["execution"]
    if isinstance(section, dict) and "prompt" not in section:
        files["evals/it/prompt.md"] = "Hi"
    is_blank = isinstance(section, dict) and not str(section.get("prompt", "x")).strip()

    refused = bool(unseen(problems(files)))

    assert refused == bool(is_blank or complaints("case", document))


@given(documents({key: value for key, value in MOCK.items() if key != "tools"}) | documents(MOCK))
def test_mock(fields: Fields) -> None:
    files = {
        "evals/it/prompt.md": "Hi",
        "evals/it/graders/a.md": GRADER,
        "evals/mocks/srv/tool.md": fenced(fields, "body"),
    }

    assert bool(unseen(_of_pattern(problems(files)))) == bool(complaints("mock", fields))


@given(documents(MOCK) | documents({**MOCK, "type": st.just("agent"), "error": st.just(False)}))
def test_mock_server(fields: Fields) -> None:
    files = {
        "evals/it/prompt.md": "Hi",
        "evals/it/graders/a.md": GRADER,
        "evals/mocks/srv/_server.md": fenced(fields, "body"),
    }

    assert bool(unseen(_of_pattern(problems(files)))) == bool(complaints("mock-server", fields))


LISTED = {
    "description": texts,
    "inputSchema": st.just({"type": "object", "properties": {}}),
    "more": values,
}
tools = st.builds(
    lambda given, more: {**given, **more},
    st.fixed_dictionaries({"name": texts}, optional=LISTED),
    st.just({}) | st.dictionaries(st.sampled_from(("name", *LISTED)), values, max_size=1),
)
listings = st.fixed_dictionaries({"tools": st.lists(tools, max_size=3)}, optional={"a": values})


@given(listings | st.fixed_dictionaries({"tools": st.lists(values, max_size=2)}) | values)
def test_mock_tools(listing: object) -> None:
    files = {
        "evals/it/prompt.md": "Hi",
        "evals/it/graders/a.md": GRADER,
        "evals/mocks/srv/tool.md": "answer",
        "evals/mocks/srv/_tools.json": json.dumps(listing),
    }

    assert bool(problems(files)) == bool(complaints("mock-tools", listing))


def _of_pattern(said: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for one in said if "JavaScript pattern" not in one)
