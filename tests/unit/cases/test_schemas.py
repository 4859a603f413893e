"""The schemas of a suite's files: sound files pass, wrong ones do not, every key is explained."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_plugin_eval.cases import yaml12
from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.cases.discovery import find_eval_directories
from pytest_plugin_eval.cases.schema_texts import APPLIED
from pytest_plugin_eval.cases.schemas import DIALECT, FILE_KINDS, file_schema
from pytest_plugin_eval.errors import CaseError
from pytest_plugin_eval.scoring.info import DEFAULT_RUNS
from tests.support.odd_cases import CASES
from tests.support.schemas import complaints, complaints_of_suite
from tests.support.suites import MANIFEST, load, problems_of, write_tree

ROOT = Path(__file__).parents[3]
SHARED = Path(os.environ.get("PLUGIN_EVAL_SHARED") or ROOT.parent / "shared")
SUITES = SHARED / "corpus" / "suites"
HEAD = 'schema_version: "1.0"\nname: x\nexecution: {prompt: Hi}\n'
ONE = "graders: [{name: g, type: regex, pattern: x}]\n"

# What prompt.md or graders/ stand in for is not read in case.yaml; a schema, which sees one file,
# does read it.
UNREAD = {"exec-list", "exec-null", "graders-map", "over", "prompt-num"}


@pytest.mark.parametrize("name", FILE_KINDS)
def test_schema_is_one_of_the_dialect(name: str) -> None:
    schema = file_schema(name)

    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == DIALECT
    assert schema["$id"] == f"urn:pytest-plugin-eval:schema:{name}"
    assert schema["title"] == FILE_KINDS[name]


def test_checker_of_the_command_line_accepts_the_schemas(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--check-metaschema"]
    names = (*FILE_KINDS, "result")
    for name in names:
        write_schema(tmp_path / f"{name}.json", name)

    done = subprocess.run(
        [*command, *(str(tmp_path / f"{name}.json") for name in names)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def write_schema(path: Path, name: str) -> None:
    command = [sys.executable, "-c", "from pytest_plugin_eval.cli.main import main; main()"]
    with path.open("w", encoding="utf-8") as file:
        subprocess.run([*command, "schema", name], stdout=file, check=True)


@pytest.mark.parametrize("name", FILE_KINDS)
def test_every_key_has_title_and_description(name: str) -> None:
    bare = [
        key
        for key, field in fields_of(file_schema(name))
        if not (field.get("title") and field.get("description"))
    ]

    assert bare == []


def fields_of(node: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every property that has a shape of its own; branches only narrow what is described."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("if", "then", "else"):
                continue
            if key == "properties":
                yield from value.items()
            yield from fields_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from fields_of(value)


@pytest.mark.parametrize("name", FILE_KINDS)
def test_what_is_expected_is_in_words(name: str) -> None:
    assert "something else" not in str(file_schema(name))


def test_defaults_are_those_of_the_loader() -> None:
    fields = Case.__dataclass_fields__

    applied = dict(APPLIED)

    assert applied == {
        "runs": DEFAULT_RUNS,
        "max_turns": fields["max_turns"].default,
        "timeout_seconds": fields["timeout_s"].default,
    }


@pytest.mark.parametrize(
    "plugin", [ROOT / "example_plugin", *sorted(SUITES.glob("*/"))], ids=lambda path: path.name
)
def test_files_of_a_suite_pass(plugin: Path) -> None:
    # What one of them lacks, a version and graders, another file could bring.
    assert find_eval_directories(plugin)

    assert complaints_of_suite(plugin) == {}


@pytest.mark.parametrize("name", sorted(CASES.keys() - UNREAD))
def test_schema_refuses_nothing_that_loads(name: str, tmp_path: Path) -> None:
    write_tree(tmp_path, MANIFEST)
    refused = problems_of(tmp_path, CASES[name])

    said = complaints_of_suite(tmp_path / "evals")

    assert refused or said == {}


@pytest.mark.parametrize("name", sorted(UNREAD))
def test_schema_reads_what_another_file_stands_in_for(name: str, tmp_path: Path) -> None:
    write_tree(tmp_path, MANIFEST)
    refused = problems_of(tmp_path, CASES[name])

    said = complaints_of_suite(tmp_path / "evals")

    assert (refused, list(said)) == ([], ["it/case.yaml"])


WRONG: dict[str, tuple[str, str]] = {
    "prompt-unknown-key": ("prompt", "max_turn: 3"),
    "prompt-null": ("prompt", "runs: null"),
    "prompt-prompt": ("prompt", "prompt: Hi"),
    "prompt-list": ("prompt", "[a]"),
    "runs-0": ("prompt", "runs: 0"),
    "runs-51": ("prompt", "runs: 51"),
    "runs-text": ("prompt", 'runs: "3"'),
    "runs-fraction": ("prompt", "runs: 1.5"),
    "turns-201": ("prompt", "max_turns: 201"),
    "timeout-3601": ("prompt", "timeout_seconds: 3601"),
    "version-number": ("prompt", "schema_version: 1.0"),
    "version-2": ("prompt", 'schema_version: "2.0"'),
    "version-word": ("prompt", "schema_version: v1"),
    "name-empty": ("prompt", 'name: ""'),
    "tags-text": ("prompt", "tags: smoke"),
    "tags-number": ("prompt", "tags: [1]"),
    "env-number": ("prompt", "env: {EVAL_A: 1}"),
    "env-name": ("prompt", "env: {PATH: x}"),
    "disallowed-pattern": ("prompt", "disallowed_tools: ['Bash(ls)']"),
    "disallowed-server": ("prompt", "disallowed_tools: [mcp__a__b]"),
    "case-execution": ("case", f'schema_version: "1.0"\nname: x\nexecution: hi\n{ONE}'),
    "case-context": ("case", f"{HEAD}context: null\n{ONE}"),
    "case-add-dirs": ("case", f"{HEAD}context: {{add_dirs: d}}\n{ONE}"),
    "case-turns": ("case", f"{HEAD.replace('Hi', 'Hi, max_turns: 0')}{ONE}"),
    "case-graders": ("case", f"{HEAD}graders: g"),
    "case-grader-text": ("case", f"{HEAD}graders: [g]"),
    "case-grader-unnamed": ("case", f"{HEAD}graders: [{{type: regex, pattern: x}}]"),
    "case-grader-without-pattern": ("case", f"{HEAD}graders: [{{name: g, type: regex}}]"),
    "case-grader-unknown-key": (
        "case",
        f"{HEAD}graders: [{{name: g, type: regex, pattern: x, patern: y}}]",
    ),
    "grader-no-type": ("grader", "pattern: x"),
    "grader-type": ("grader", "type: regexp"),
    "grader-foreign-key": ("grader", "type: regex\npattern: x\ncriteria: c"),
    "grader-null": ("grader", "type: regex\npattern: x\narm: null"),
    "grader-arm": ("grader", "type: regex\npattern: x\narm: without"),
    "grader-weight-0": ("grader", "type: regex\npattern: x\nweight: 0"),
    "grader-weight-text": ("grader", "type: regex\npattern: x\nweight: high"),
    "regex-flag": ("grader", "type: regex\npattern: x\nflags: z"),
    "regex-flag-twice": ("grader", "type: regex\npattern: x\nflags: gig"),
    "regex-flags-u-v": ("grader", "type: regex\npattern: x\nflags: uv"),
    "regex-match": ("grader", "type: regex\npattern: x\nmatch: count:-1"),
    "regex-target": ("grader", "type: regex\npattern: x\ntarget: file"),
    "regex-target-no-path": ("grader", "type: regex\npattern: x\ntarget: {source: file}"),
    "regex-target-more": (
        "grader",
        "type: regex\npattern: x\ntarget: {source: file, path: a, line: 1}",
    ),
    "tool-missing": ("grader", "type: tool_used"),
    "tool-min-negative": ("grader", "type: tool_used\ntool: Read\nmin: -1"),
    "tool-max-text": ("grader", "type: tool_used\ntool: Read\nmax: many"),
    "order-one-side": ("grader", "type: tool_order\nbefore: Read"),
    "order-list": ("grader", "type: tool_order\nbefore: [Read]\nafter: Edit"),
    "order-null": ("grader", "type: tool_order\nbefore: {tool: A, input_match: null}\nafter: B"),
    "order-more": ("grader", "type: tool_order\nbefore: {tool: A, min: 1}\nafter: B"),
    "file-path": ("grader", "type: file_exists\nexists: true"),
    "file-exists-text": ("grader", "type: file_exists\npath: a\nexists: 'yes'"),
    "llm-focus": ("grader", "type: llm\ncriteria: c\nfocus: everything"),
    "baseline-file": ("grader", "type: baseline\ncriteria: c"),
    "mock-key": ("mock", "expects: {a: b}"),
    "mock-type": ("mock", "type: model"),
    "mock-error": ("mock", "error: 'yes'"),
    "mock-tools": ("mock", "tools: [a]"),
    "mock-abort-of-fixed": ("mock", "abort_when: it deletes"),
    "mock-error-of-agent": ("mock", "type: agent\nerror: true"),
    "mock-expect-list": ("mock", "expect: [a]"),
    "mock-expect-null": ("mock", "expect: {a: null}"),
    "mock-expect-empty": ("mock", "expect: {a: []}"),
    "mock-expect-nested": ("mock", "expect: {a: {b: [{}]}}"),
    "mock-expect-flag": ("mock", "expect: {a: /x/g}"),
    "server-fixed": ("mock-server", "tools: [a]"),
    "server-no-tools": ("mock-server", "type: agent"),
    "server-tools-empty": ("mock-server", "type: agent\ntools: []"),
    "server-tool-name": ("mock-server", "type: agent\ntools: [a b]"),
    "list-array": ("mock-tools", "[]"),
    "list-no-tools": ("mock-tools", "{}"),
    "list-tool-text": ("mock-tools", '{"tools": ["a"]}'),
    "list-no-name": ("mock-tools", '{"tools": [{}]}'),
    "list-description": ("mock-tools", '{"tools": [{"name": "a", "description": null}]}'),
    "list-schema": ("mock-tools", '{"tools": [{"name": "a", "inputSchema": {"type": "array"}}]}'),
}
PLACES = {
    "prompt": "evals/it/prompt.md",
    "case": "evals/it/case.yaml",
    "grader": "evals/it/graders/b.md",
    "mock": "evals/mocks/srv/b.md",
    "mock-server": "evals/mocks/srv/_server.md",
    "mock-tools": "evals/mocks/srv/_tools.json",
}


@pytest.mark.parametrize(("kind", "text"), WRONG.values(), ids=WRONG)
def test_wrong_file_is_refused_by_schema_and_loader(kind: str, text: str, tmp_path: Path) -> None:
    content = text if kind in ("case", "mock-tools") else f"---\n{text}\n---\nbody"
    sound = {"evals/it/prompt.md": "Hi", "evals/it/graders/a.md": "---\ntype: llm\n---\nGood"}
    others = {} if kind == "case" else sound
    write_tree(tmp_path, {**MANIFEST, **others, PLACES[kind]: content})

    with pytest.raises(CaseError, match=rf"{Path(PLACES[kind]).name}:"):
        load(tmp_path / "evals" / "it")

    assert complaints(kind, yaml12.load(text))
