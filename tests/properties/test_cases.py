"""Whatever bytes lie in a case directory, loading gives a case or a `CaseError`."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_plugin_eval.cases import yaml12
from pytest_plugin_eval.cases.frontmatter import UnterminatedError, split_frontmatter
from pytest_plugin_eval.errors import CaseError
from tests.support.suites import load, write_tree

# fmt: off
KEYS = (
    "schema_version", "name", "description", "tags", "plugins", "runs", "expected_outcome",
    "model", "max_turns", "env", "timeout_seconds", "allowed_tools", "disallowed_tools",
    "append_system_prompt", "execution", "context", "prompt", "graders", "type", "weight",
    "arm", "pattern", "flags", "match", "target", "tool", "input_match", "min", "max",
    "before", "after", "path", "exists", "criteria", "focus", "baseline_file",
    "scaffold_script", "history_file", "add_dirs", "<<",
)
WORDS = (
    "null", "true", "0", "1", "-1", "1.5", ".inf", ".nan", "'1.0'", "'2'", "[]", "{}", "[a]",
    "{a: b}", "x", "''", "regex", "tool_used", "tool_order", "file_exists", "llm", "baseline",
    "trace", "with-only", "contains", "count:1", "{source: file, path: a}", "i", "uv",
    "{tool: T, input_match: null}", "[[[", "*x", "&x", "!", "|", ">-", "'(?i)a'", "'['",
    "../..", "/", "\"\\0\"", "'\\0'", "EVAL_A",
)
# fmt: on

pairs = st.tuples(st.sampled_from(KEYS), st.sampled_from(WORDS)).map(": ".join)
mappings = st.lists(pairs, max_size=6).map("\n".join)
nested = st.tuples(mappings, st.sampled_from(["execution", "context", "graders"]), mappings).map(
    lambda parts: f"{parts[0]}\n{parts[1]}:\n  " + parts[2].replace("\n", "\n  ")
)
fenced = st.tuples(mappings, st.text(max_size=20)).map(lambda p: f"---\n{p[0]}\n---\n{p[1]}")
contents = st.one_of(
    st.binary(max_size=60), st.one_of(st.text(max_size=60), fenced, nested).map(str.encode)
)


@given(prompt=contents | st.none(), case_yaml=contents, grader=contents)
@example(prompt=b"---\nname: \xff\n---\n\0", case_yaml=b"a: &a [*a, *a]\nb: *a", grader=b"---\n")
@example(prompt=None, case_yaml=b"[" * 5000, grader=b"---\n" + b"- " * 5000 + b"\n---\n")
@example(prompt=b"---\n? {[a]: b}\n: c\n---\n", case_yaml=b"graders: [{type: [a]}]", grader=b"")
@example(prompt=b'---\nplugins: ["\\0"]\n---\nx', case_yaml=b"", grader=b"---\ntype: llm\n---\nx")
def test_any_bytes_load_or_are_refused_with_a_line(
    prompt: bytes | None, case_yaml: bytes, grader: bytes
) -> None:
    files = {"case.yaml": case_yaml, "graders/a.md": grader}
    if prompt is not None:
        files["prompt.md"] = prompt
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch).resolve() / "evals" / "it"
        write_tree(directory, files)

        problems = _problems(directory)

        for problem in problems:
            _check_line(problem, directory)


def _problems(directory: Path) -> tuple[str, ...]:
    try:
        load(directory)
    except CaseError as error:
        return error.problems or ("a refusal that says nothing",)
    return ()


def _check_line(problem: str, directory: Path) -> None:
    assert problem.isprintable() or not problem.isascii()
    assert "\n" not in problem
    problem.encode()
    if found := re.match(rf"({re.escape(str(directory))}/\S+?\.(?:md|yaml)):(\d+): .", problem):
        assert 1 <= int(found[2]) <= Path(found[1]).read_bytes().count(b"\n") + 1
    else:
        assert problem.startswith(f"{directory}: ")


@given(st.text())
@example("\x85a: 1")
@example("a: \U00100085")
def test_yaml_gives_a_value_or_a_line(text: str) -> None:
    line = _line_of_error(text)

    assert 1 <= line <= text.count("\n") + text.count("\r") + 2


def _line_of_error(text: str) -> int:
    try:
        yaml12.load(text)
    except yaml12.YamlError as error:
        return error.line
    return max(yaml12.line_numbers(text).values(), default=1)


@given(st.text())
def test_splitting_keeps_every_line(text: str) -> None:
    try:
        split = split_frontmatter(text)
    except UnterminatedError:
        assert text.startswith("---")
        return

    assert (split.frontmatter or "") in text
    assert split.body in text


@given(
    st.integers() | st.booleans() | st.none() | st.text(st.characters(categories=["L"]), min_size=1)
)
def test_what_json_writes_is_read_back(value: object) -> None:
    assert yaml12.load(f"key: {json.dumps(value, ensure_ascii=False)}") == {"key": value}
