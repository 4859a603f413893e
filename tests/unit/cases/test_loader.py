"""What a case becomes when it loads. Spec: behaviour-evals, 2.3 to 2.6, 3 and 4."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.discovery import eval_directory_of, forget
from pytest_plugin_eval.cases.loader import load_case
from pytest_plugin_eval.cases.model import (
    BaselineSpec,
    FileExistsSpec,
    FileTarget,
    LlmSpec,
    RegexSpec,
    Source,
    ToolOrderSpec,
    ToolPattern,
    ToolUsedSpec,
)
from pytest_plugin_eval.errors import CaseError
from tests.support.histories import history
from tests.support.suites import MANIFEST, ONE_GRADER, case_of, load, write_tree

FULL_PROMPT = """\
---
schema_version: "1.1"
name: a name
description: d
tags: [smoke, ""]
runs: 5
expected_outcome: e
model: haiku
max_turns: 20
timeout_seconds: 60
allowed_tools: [Read, Odd]
disallowed_tools: [Agent]
append_system_prompt: s
env: {EVAL_A: b, EVAL_: ""}
---
  Do it.
"""
FULL_YAML = """\
schema_version: "1.0"
name: from yaml
description: d
tags: [x]
runs: 2
expected_outcome: e
execution:
  prompt: |
    Do this.
  model: ""
  max_turns: 3
  timeout_seconds: 30
  allowed_tools: [Grep]
  append_system_prompt: s
  env: {EVAL_B: c}
context:
  scaffold_script: not-there.sh
  history_file: h.jsonl
  add_dirs: [docs]
graders:
  - {type: regex, name: z, pattern: "", flags: im, match: "count:02", target: trace, weight: 2}
  - {type: regex, name: y, pattern: p, target: {source: file, path: a.txt}, arm: both}
  - {type: tool_used, name: x, tool: Skill, input_match: commit, min: 0, max: 0, arm: with-only}
  - {type: tool_order, name: w, before: Read, after: {tool: Edit, input_match: x}}
  - {type: file_exists, name: v, path: "*.md", exists: false}
  - {type: llm, name: u, criteria: c, focus: files, weight: 0.5}
  - {type: baseline, name: t, criteria: c, baseline_file: ref/run.jsonl}
"""
CONTEXT_FILES = {"h.jsonl": history(), "docs/a.md": "", "ref/run.jsonl": '{"type": "result"}\n\n'}


def test_prompt_file_alone(tmp_path: Path) -> None:
    case = case_of(tmp_path, {"prompt.md": FULL_PROMPT, **ONE_GRADER})

    assert (case.id, case.name, case.source) == ("evals/it", "a name", Source.PROSE)
    assert (case.directory, case.eval_dir) == (tmp_path / "evals" / "it", tmp_path / "evals")
    assert case.root == tmp_path
    assert case.prompt == "Do it."
    assert (case.description, case.expected_outcome, case.model) == ("d", "e", "haiku")
    assert (case.tags, case.runs, case.max_turns, case.timeout_s) == (("smoke", ""), 5, 20, 60)
    assert (case.allowed_tools, case.disallowed_tools) == (("Read", "Odd"), ("Agent",))
    assert (case.append_system_prompt, case.env) == ("s", {"EVAL_A": "b", "EVAL_": ""})
    assert [plugin.name for plugin in case.plugins] == ["demo"]
    assert case.warnings == ()


def test_defaults(tmp_path: Path) -> None:
    case = case_of(tmp_path, {"prompt.md": "Hi", **ONE_GRADER})

    assert (case.name, case.description, case.expected_outcome) == ("it", "", "")
    assert (case.tags, case.runs, case.model) == ((), None, None)
    assert (case.max_turns, case.timeout_s) == (10, 300)
    assert (case.allowed_tools, case.disallowed_tools, case.env) == ((), (), {})
    assert (case.scaffold_script, case.history_file, case.add_dirs) == (None, None, ())
    assert case.graders == (RegexSpec(name="a", type="regex", pattern="x"),)


def test_case_yaml_alone(tmp_path: Path) -> None:
    case = case_of(tmp_path, {"case.yaml": FULL_YAML, **CONTEXT_FILES})

    assert (case.name, case.source, case.prompt) == ("from yaml", Source.CASE_YAML, "Do this.\n")
    assert (case.tags, case.runs, case.model) == (("x",), 2, "")
    assert (case.max_turns, case.timeout_s, case.env) == (3, 30, {"EVAL_B": "c"})
    assert (case.scaffold_script, case.history_file) == ("not-there.sh", "h.jsonl")
    assert case.add_dirs == ("docs",)
    assert case.warnings == ()


def test_graders_of_every_type(tmp_path: Path) -> None:
    case = case_of(tmp_path, {"case.yaml": FULL_YAML, **CONTEXT_FILES})

    assert case.graders == (
        RegexSpec(
            name="z",
            type="regex",
            pattern="",
            flags="im",
            match="count:02",
            target="trace",
            weight=2,
        ),
        RegexSpec(
            name="y",
            type="regex",
            pattern="p",
            target=FileTarget(source="file", path="a.txt"),
            arm="both",
        ),
        ToolUsedSpec(
            name="x",
            type="tool_used",
            tool="Skill",
            input_match="commit",
            min=0,
            max=0,
            arm="with-only",
        ),
        ToolOrderSpec(
            name="w",
            type="tool_order",
            before="Read",
            after=ToolPattern(tool="Edit", input_match="x"),
        ),
        FileExistsSpec(name="v", type="file_exists", path="*.md", exists=False),
        LlmSpec(name="u", type="llm", criteria="c", focus="files", weight=0.5),
        BaselineSpec(name="t", type="baseline", criteria="c", baseline_file="ref/run.jsonl"),
    )


def test_frontmatter_replaces_whole_values_of_case_yaml(tmp_path: Path) -> None:
    prompt = "---\ntags: []\nenv: {EVAL_N: n}\nname: mine\nmax_turns: 7\n---\nMine\n"

    case = case_of(tmp_path, {"case.yaml": FULL_YAML, "prompt.md": prompt, **CONTEXT_FILES})

    assert (case.source, case.name, case.prompt) == (Source.MIXED, "mine", "Mine")
    assert (case.tags, case.env, case.max_turns) == ((), {"EVAL_N": "n"}, 7)
    assert (case.runs, case.timeout_s, case.allowed_tools) == (2, 30, ("Grep",))


def test_overridden_value_of_case_yaml_is_not_checked(tmp_path: Path) -> None:
    yaml = FULL_YAML.replace("runs: 2", "runs: 99")

    case = case_of(
        tmp_path, {"case.yaml": yaml, "prompt.md": "---\nruns: 4\n---\n", **CONTEXT_FILES}
    )

    assert (case.runs, case.prompt) == (4, "Do this.\n")


@pytest.mark.parametrize(
    ("files", "source", "name"),
    [
        ({"case.yaml": "# nothing\n", "prompt.md": "Hi", **ONE_GRADER}, Source.PROSE, "it"),
        ({"case.yaml": FULL_YAML, "prompt.md": "", **CONTEXT_FILES}, Source.CASE_YAML, "from yaml"),
    ],
    ids=["empty case.yaml", "empty prompt.md"],
)
def test_empty_file_counts_as_absent(
    tmp_path: Path, files: dict[str, str | bytes], source: Source, name: str
) -> None:
    case = case_of(tmp_path, files)

    assert (case.source, case.name) == (source, name)


def test_graders_of_case_yaml_come_before_files_sorted_by_name(tmp_path: Path) -> None:
    files = {
        "prompt.md": "Hi",
        "case.yaml": 'schema_version: "1"\nname: n\ngraders: [{type: llm, name: zz, criteria: c}]',
    }
    for name in ("ab", "a.b", "a-b", "a", ".h"):
        files[f"graders/{name}.md"] = "---\ntype: regex\n---\np"
    files["graders/B.MD"] = files["graders/c.txt"] = files["graders/sub/d.md"] = "---\n"

    case = case_of(tmp_path, files)

    assert [grader.name for grader in case.graders] == ["zz", ".h", "a-b", "a.b", "a", "ab"]


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("---\ntype: regex\n---\n\n  a b \n  c\r\nd \n", "a b \n  c\r\nd"),
        ("---\ntype: regex\npattern: f\n---\nbody", "f"),
        ("---\ntype: regex\npattern: ''\n---\nbody", ""),
        (b"---\ntype: regex\n---\na\xffb", "a\ufffdb"),
        ("\ufeff---\r\ntype: regex\r\npattern: |\r\n  a\r\n  b\r\n---\r\n", "a\nb\n"),
    ],
)
def test_pattern_from_frontmatter_or_body(tmp_path: Path, text: str | bytes, pattern: str) -> None:
    case = case_of(tmp_path, {"prompt.md": "Hi", "graders/g.md": text})

    assert case.graders == (RegexSpec(name="g", type="regex", pattern=pattern),)


def test_body_of_other_types_is_ignored_and_a_name_replaces_the_file_name(tmp_path: Path) -> None:
    text = "---\ntype: tool_used\nname: 'two words'\ntool: Skill\n---\nNotes.\n"

    case = case_of(tmp_path, {"prompt.md": "Hi", "graders/g.md": text})

    assert case.graders == (ToolUsedSpec(name="two words", type="tool_used", tool="Skill"),)


def test_mocks_of_the_suite_and_of_the_case(tmp_path: Path) -> None:
    write_tree(
        tmp_path, {"evals/mocks/b/x.md": "", "evals/mocks/.replay/y": "", "evals/mocks/f": ""}
    )

    case = case_of(
        tmp_path, {"prompt.md": "Hi", "mocks/a/x.md": "", "mocks/b/z.md": "", **ONE_GRADER}
    )

    assert case.mock_servers == ("a", "b")


def test_plugins_entries_are_resolved_once_each(tmp_path: Path) -> None:
    write_tree(tmp_path, {"other/plugin.json": '{"name": "other"}'})
    prompt = "---\nplugins: [../.., ../../other, ../../other/]\n---\nHi"

    case = case_of(tmp_path, {"prompt.md": prompt, **ONE_GRADER})

    assert [plugin.name for plugin in case.plugins] == ["demo", "other"]


def test_case_of_a_nested_plugin_may_name_the_enclosing_one(tmp_path: Path) -> None:
    files = {
        **MANIFEST,
        "sub/.claude-plugin/plugin.json": '{"name": "inner"}',
        "sub/evals/a/prompt.md": "Hi",
        "sub/evals/b/prompt.md": "---\nplugins: [../../..]\n---\nHi",
        "sub/evals/a/graders/a.md": ONE_GRADER["graders/a.md"],
        "sub/evals/b/graders/a.md": ONE_GRADER["graders/a.md"],
    }
    write_tree(tmp_path, files)

    cases = [load(tmp_path / "sub" / "evals" / name) for name in "ab"]

    assert [case.plugins[0].name for case in cases] == ["inner", "demo"]


def test_eval_directory_that_is_a_case_has_its_own_id(tmp_path: Path) -> None:
    write_tree(tmp_path, {**MANIFEST, "evals/prompt.md": "Hi"})
    write_tree(tmp_path / "evals", ONE_GRADER)

    case = load(tmp_path / "evals")

    assert (case.id, case.name) == ("evals", "evals")


def test_no_plugin_resolves(tmp_path: Path) -> None:
    write_tree(tmp_path, {"evals/it/prompt.md": "Hi"})
    write_tree(tmp_path / "evals" / "it", ONE_GRADER)

    case = load(tmp_path / "evals" / "it")

    assert (case.plugins, case.id) == ((), "evals/it")


def test_links_inside_the_eval_directory_are_followed(tmp_path: Path) -> None:
    write_tree(tmp_path, {**MANIFEST, "evals/a/prompt.md": "Hi", "evals/b/x": ""})
    write_tree(tmp_path / "evals" / "a", ONE_GRADER)
    (tmp_path / "evals" / "b" / "prompt.md").symlink_to("../a/prompt.md")
    (tmp_path / "evals" / "b" / "graders").symlink_to("../a/graders")
    forget()

    case = load(tmp_path / "evals" / "b")

    assert (case.prompt, len(case.graders)) == ("Hi", 1)


def test_links_out_of_the_eval_directory_are_refused(tmp_path: Path) -> None:
    write_tree(tmp_path, {**MANIFEST, "out/a/prompt.md": "Hi", "evals/b/prompt.md": "Hi"})
    write_tree(tmp_path / "out", ONE_GRADER)
    (tmp_path / "evals" / "a").symlink_to("../out/a")
    (tmp_path / "evals" / "b" / "graders").symlink_to("../../out/graders")
    forget()

    with pytest.raises(CaseError, match=r"evals/a: is a link to '.*/out/a', outside the eval dir"):
        load(tmp_path / "evals" / "a")
    with pytest.raises(CaseError, match=r"b/graders: is a link to '.*/out/graders', outside"):
        load(tmp_path / "evals" / "b")


def test_patterns_are_handed_over_in_one_call_and_plain_ones_not_at_all(tmp_path: Path) -> None:
    yaml = (
        'schema_version: "1"\nname: n\nexecution: {prompt: p}\ngraders:\n'
        "- {type: regex, name: a, pattern: plain text}\n"
        "- {type: regex, name: b, pattern: 'a|b', flags: i}\n"
        "- {type: tool_used, name: c, tool: T, input_match: 'x+'}\n"
        "- {type: tool_order, name: d, before: {tool: T, input_match: 'y*'}, after: T}\n"
    )
    write_tree(tmp_path, {**MANIFEST, "evals/it/case.yaml": yaml})
    place = eval_directory_of(tmp_path / "evals")
    assert place is not None
    calls: list[Sequence[tuple[str, str]]] = []

    def check(patterns: Sequence[tuple[str, str]]) -> list[str | None]:
        calls.append(list(patterns))
        return [None] * len(patterns)

    load_case(tmp_path / "evals" / "it", place, check_patterns=check)

    assert calls == [[("a|b", "i"), ("x+", ""), ("y*", "")]]
