"""What an author is told of a broken case: file, line, value, what is expected. Style, 4."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.suites import GRADER, ONE_GRADER, problems_of, warnings_of

Files = dict[str, str | bytes]


def _prompt(frontmatter: str) -> Files:
    return {"prompt.md": f"---\n{frontmatter}\n---\nHi", **ONE_GRADER}


def _grader(frontmatter: str, body: str = "") -> Files:
    return {"prompt.md": "Hi", "graders/g.md": f"---\n{frontmatter}\n---\n{body}"}


def _yaml(text: str) -> Files:
    return {"case.yaml": f'schema_version: "1.0"\nname: n\n{text}'}


ONE = "graders: [{type: regex, name: a, pattern: x}]\n"
PROMPT = "execution: {prompt: p}\n"
TURNS = "a whole number from 1 to 200"
TYPES = "regex, tool_used, tool_order, file_exists, llm, baseline"

PROBLEMS: dict[str, tuple[Files, list[str]]] = {
    "number": (
        _prompt("tags: [a]\nmax_turns: 500"),
        [f"prompt.md:3: max_turns must be {TURNS}, got 500"],
    ),
    "null": (
        _prompt("runs: null"),
        ["prompt.md:2: runs must be a whole number from 1 to 50, got null"],
    ),
    "nested": (
        _yaml(f"execution:\n  prompt: p\n  max_turns: high\n{ONE}"),
        [f"case.yaml:5: execution.max_turns must be {TURNS}, got 'high'"],
    ),
    "item": (
        _prompt("tags:\n  - a\n  - 3"),
        ['prompt.md:4: tags: item 2 must be a string, got 3; write "3" with the quotes'],
    ),
    "env-value": (
        _prompt("env:\n  EVAL_A: 1"),
        ['prompt.md:3: env: EVAL_A must be a string, got 1; write "1" with the quotes'],
    ),
    "env-key": (
        _prompt("env:\n  EVAL_A: x\n  PATH: y"),
        ["prompt.md:4: env: the name 'PATH' is not allowed, expected EVAL_ and A-Z 0-9 _"],
    ),
    "template": (
        _prompt("description: {{x}}"),
        [
            "prompt.md:2: description must be a string, got {'[object]': None};"
            " a text that begins with { or [ needs quotes"
        ],
    ),
    "version-number": (
        _prompt("schema_version: 1.1"),
        [
            'prompt.md:2: schema_version must be a string such as "1.0", with the quotes, got 1.1;'
            ' write "1.1" with the quotes'
        ],
    ),
    "version-newer": (
        _prompt("schema_version: '2.0'"),
        ["prompt.md:2: schema_version '2.0' is of a newer format, this version reads up to 1.x"],
    ),
    "misspelt": (
        _prompt("max_turn: 3"),
        ["prompt.md:2: unknown key 'max_turn', did you mean 'max_turns'?"],
    ),
    "unlike-any": (
        _prompt("zzz: 3"),
        [
            "prompt.md:2: unknown key 'zzz', expected one of: schema_version, name, description,"
            " expected_outcome, tags, plugins, runs, model, max_turns, timeout_seconds,"
            " allowed_tools, disallowed_tools, append_system_prompt, env, artifact_publish,"
            " growthbook_overrides"
        ],
    ),
    "misplaced": (
        _prompt("prompt: p\nadd_dirs: [d]\ngraders: []"),
        [
            "prompt.md:2: unknown key 'prompt', the prompt is the text below the frontmatter",
            "prompt.md:3: unknown key 'add_dirs', it belongs under context in case.yaml",
            "prompt.md:4: unknown key 'graders', it belongs in case.yaml",
        ],
    ),
    "yaml": (
        _prompt("tags: [a]\ndescription: a: b"),
        [
            "prompt.md:3: invalid YAML: mapping values are not allowed in this context;"
            " a value with a colon and a space in it needs quotes"
        ],
    ),
    "unterminated": (
        {"prompt.md": "---\nruns: 3\n", **ONE_GRADER},
        ["prompt.md:1: the frontmatter opened by --- has no closing line ---"],
    ),
    "not-a-mapping": (
        _prompt("- a"),
        ["prompt.md:2: expected a mapping of keys to values, got ['a']"],
    ),
    "no-version-no-name": (
        {"case.yaml": PROMPT + ONE},
        [
            'case.yaml:1: schema_version is missing, expected a string such as "1.0",'
            " with the quotes",
            "case.yaml:1: name is missing, expected a string such as 'it'",
        ],
    ),
    "no-prompt": (
        _yaml(ONE),
        [
            "case.yaml:1: there is no prompt, expected one as the text of prompt.md below its"
            " frontmatter or as execution.prompt in case.yaml"
        ],
    ),
    "no-mapping-for-the-prompt": (
        _yaml(f"execution: p\n{ONE}"),
        ["case.yaml:3: execution must be a mapping, got 'p'"],
    ),
    "no-space-behind-the-colon": (
        _prompt("runs:3"),
        [
            "prompt.md:2: expected a mapping of keys to values, got 'runs:3';"
            " a colon after a key needs a space behind it"
        ],
    ),
    "no-grader": (
        {"prompt.md": "Hi"},
        [".: there is no grader, expected one file graders/*.md or graders in case.yaml"],
    ),
    "weight": (
        _grader("type: llm\nweight: high", "Good?"),
        ["graders/g.md:3: weight must be a number above 0, got 'high'"],
    ),
    "infinite-weight": (
        _grader("type: llm\nweight: .inf", "Good?"),
        ["graders/g.md:3: weight must be a number above 0, got .inf"],
    ),
    "sum-of-weights": (
        {
            "prompt.md": "Hi",
            "graders/a.md": "---\ntype: regex\npattern: x\nweight: 1.0e+308\n---\n",
            "graders/b.md": "---\ntype: regex\nweight: 1.0e+308\npattern: x\n---\n",
            "graders/c.md": "---\ntype: regex\npattern: x\n---\n",
        },
        [
            "graders/b.md:3: weight 1e+308 makes the sum of the case's weights too large for a"
            " number, expected smaller weights"
        ],
    ),
    "sum-of-weights-in-case-yaml": (
        _yaml(
            f"{PROMPT}graders:\n- {{type: regex, name: a, pattern: x, weight: 1.0e+308}}\n"
            "- {type: regex, name: b, pattern: x, weight: 1.0e+308}\n"
        ),
        [
            "case.yaml:6: grader 'b': weight 1e+308 makes the sum of the case's weights too large"
            " for a number, expected smaller weights"
        ],
    ),
    "type": (
        _grader("type: regexp"),
        ["graders/g.md:2: unknown type 'regexp', did you mean 'regex'?"],
    ),
    "no-type": (
        _grader("pattern: x"),
        [f"graders/g.md:2: type is missing, expected one of {TYPES}"],
    ),
    "type-of-case-yaml": (
        _yaml(f"{PROMPT}graders:\n- name: a\n  type: 3\n"),
        [f"case.yaml:6: grader 'a': unknown type 3, expected one of {TYPES}"],
    ),
    "other-types-option": (
        _grader("type: regex\npattern: a\nfocus: trace"),
        ["graders/g.md:4: focus is an option of llm graders, not of regex"],
    ),
    "target": (
        _grader("type: regex\npattern: a\ntarget: {source: file}"),
        [
            "graders/g.md:4: target must be one of last_message, trace, files, mock_calls or"
            " {source: file, path: ...}, got {'source': 'file'}"
        ],
    ),
    "side": (
        _grader("type: tool_order\nbefore: [A]\nafter: B"),
        [
            "graders/g.md:3: before must be the name of a tool or {tool: ..., input_match: ...},"
            " got ['A']"
        ],
    ),
    "duplicate": (
        {**_yaml(PROMPT + ONE), "graders/a.md": GRADER},
        [
            "graders/a.md:2: the name 'a' is taken by the grader in case.yaml:4,"
            " expected names that differ"
        ],
    ),
    "min-above-max": (
        _grader("type: tool_used\ntool: T\nmin: 3\nmax: 2"),
        ["graders/g.md:4: min 3 is above max 2, so the grader can never pass"],
    ),
    "inline-flags": (
        _grader("type: regex\npattern: (?i)done"),
        [
            "graders/g.md:3: pattern '(?i)done' is no JavaScript regular expression: Invalid group;"
            " write flags: i and leave (?i) out"
        ],
    ),
    "inline-flags-in-body": (
        _grader("type: regex", "\n(?i)done"),
        [
            "graders/g.md:5: pattern '(?i)done' is no JavaScript regular expression: Invalid group;"
            " write flags: i and leave (?i) out"
        ],
    ),
    "inline-flags-of-input": (
        _grader("type: tool_used\ntool: T\ninput_match: (?i)done"),
        [
            "graders/g.md:4: input_match '(?i)done' is no JavaScript regular expression:"
            " Invalid group; write '(?i:done)'"
        ],
    ),
    "named-group": (
        _grader("type: regex\npattern: (?P<a>b)"),
        [
            "graders/g.md:3: pattern '(?P<a>b)' is no JavaScript regular expression: Invalid group;"
            " JavaScript writes a named group (?<name>...)"
        ],
    ),
    "side-pattern": (
        _grader("type: tool_order\nbefore: A\nafter:\n  tool: B\n  input_match: '['"),
        [
            "graders/g.md:6: after.input_match '[' is no JavaScript regular expression:"
            " Unterminated character class"
        ],
    ),
    "flags": (
        _grader("type: regex\npattern: a\nflags: ii"),
        ["graders/g.md:4: flags 'ii' has a flag twice, expected each at most once"],
    ),
    "baseline": (
        _grader("type: baseline\nbaseline_file: run.jsonl", "c"),
        ["graders/g.md:3: baseline_file 'run.jsonl' does not exist in the case directory"],
    ),
    "baseline-text": (
        {**_grader("type: baseline\nbaseline_file: run.txt", "c"), "run.txt": "{}\n\nno\n"},
        ["graders/g.md:3: baseline_file 'run.txt' is not a trace, line 3 is no JSON"],
    ),
    "paths": (
        _yaml(
            f"{PROMPT}context:\n  history_file: h.jsonl\n  scaffold_script: ../s.sh\n"
            f"  add_dirs:\n  - case.yaml\n  - /etc\n{ONE}"
        ),
        [
            "case.yaml:6: scaffold_script: '../s.sh' leaves the case directory,"
            " expected a path inside it",
            "case.yaml:5: history_file: 'h.jsonl' does not exist in the case directory",
            "case.yaml:8: add_dirs: 'case.yaml' is a file, expected a directory",
            "case.yaml:9: add_dirs: '/etc' leaves the case directory, expected a path inside it",
        ],
    ),
    "plugins": (
        _prompt("plugins: [../nope, prompt.md]"),
        [
            "prompt.md:2: plugins: '../nope' does not exist",
            "prompt.md:2: plugins: 'prompt.md' is a file, expected the root of a plugin",
        ],
    ),
    "disallowed": (
        _prompt("disallowed_tools: ['Bash(rm:*)', mcp__a__b]"),
        [
            "prompt.md:2: disallowed_tools: 'Bash(rm:*)' cannot be disallowed,"
            " expected the bare name of a built-in tool",
            "prompt.md:2: disallowed_tools: 'mcp__a__b' cannot be disallowed,"
            " expected the bare name of a built-in tool",
        ],
    ),
    "graders-a-file": (
        {"prompt.md": "Hi", "graders": "x"},
        ["graders: is a file, expected a directory of grader files"],
    ),
}


@pytest.mark.parametrize(("files", "problems"), PROBLEMS.values(), ids=PROBLEMS)
def test_problem(tmp_path: Path, files: Files, problems: list[str]) -> None:
    assert problems_of(tmp_path, files) == problems


WARNINGS: dict[str, tuple[Files, list[str]]] = {
    "misplaced": (
        _yaml(
            f"max_turns: 3\nprompt: p\nadd_dirs: [d]\nexecution: {{prompt: p, tags: [a]}}\n{ONE}"
        ),
        [
            "case.yaml:3: unknown key 'max_turns' is ignored, it belongs under execution",
            "case.yaml:4: unknown key 'prompt' is ignored, it belongs under execution",
            "case.yaml:5: unknown key 'add_dirs' is ignored, it belongs under context",
            "case.yaml:6: unknown key 'tags' is ignored, it belongs at the top level",
        ],
    ),
    "misspelt": (
        _yaml(f"descripton: d\n{PROMPT}context:\n  scaffold: s\n{ONE}"),
        [
            "case.yaml:3: unknown key 'descripton' is ignored, did you mean 'description'?",
            "case.yaml:6: unknown key 'scaffold' is ignored, did you mean 'scaffold_script'?",
        ],
    ),
    "no-frontmatter": (
        {"prompt.md": "Hi", "graders/README.md": "Notes", **ONE_GRADER},
        [
            "graders/README.md:1: is ignored, expected frontmatter: a line ---, type: ...,"
            " a line ---"
        ],
    ),
    "hyphens-inside-frontmatter": (
        _prompt("tags: [a]\ndescription: a --- b"),
        [
            "prompt.md:3: --- inside a line ends the frontmatter for claude plugin eval,"
            " write other dashes"
        ],
    ),
    "never-passes": (
        _grader("type: tool_used\ntool: T\nmax: 0"),
        [
            "graders/g.md:4: max: 0 without min can never pass, since min is 1 then;"
            " write min: 0 beside it"
        ],
    ),
    "without-effect": (
        _prompt("artifact_publish: true\ngrowthbook_overrides: {a: 1}"),
        [
            "prompt.md:2: artifact_publish has no effect here",
            "prompt.md:3: growthbook_overrides has no effect here",
        ],
    ),
    "unknown-tool": (
        _prompt("disallowed_tools: [bash, '', ' Read']"),
        [
            "prompt.md:2: disallowed_tools: 'bash' is no built-in tool known here,"
            " did you mean 'Bash'?"
        ],
    ),
    "useless-section": (
        {**_prompt("name: n"), **_yaml("execution: [a]\ngraders: {a: b}")},
        [
            "case.yaml:3: execution must be a mapping, got ['a']; it is ignored",
            "case.yaml:4: graders must be a list, got {'a': 'b'}; it is ignored",
        ],
    ),
}


@pytest.mark.parametrize(("files", "warnings"), WARNINGS.values(), ids=WARNINGS)
def test_warning(tmp_path: Path, files: Files, warnings: list[str]) -> None:
    assert warnings_of(tmp_path, files) == warnings


def test_all_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    files: Files = {
        "prompt.md": "---\nruns: 0\nzzz: 1\n---\nHi",
        "case.yaml": "name: n\ntimeout: 3\ngraders: [{type: regex}]",
        "graders/a.md": "---\ntype: llm",
        "graders/b.md": "---\nname: [\n---\n",
    }

    problems = problems_of(tmp_path, files)

    assert [problem.partition(": ")[0] for problem in problems] == [
        "graders/a.md:1",
        "graders/b.md:3",
        "prompt.md:3",
        "prompt.md:2",
        "case.yaml:1",
        "case.yaml:3",
        "case.yaml:3",
        "case.yaml:2",
    ]


def test_what_is_wrong_beside_a_wrong_field_is_told_too(tmp_path: Path) -> None:
    files = _prompt("runs: 0\nmodel: null\nschema_version: '2'\nenv: {PATH: x}\nplugins: [../no]")
    files["graders/g.md"] = "---\ntype: tool_used\ntool: T\nweight: 0\nzz: 1\nmin: 3\nmax: 2\n---\n"

    problems = problems_of(tmp_path, files)

    assert [problem.partition(": ")[0] for problem in problems] == [
        "prompt.md:3",
        "prompt.md:2",
        "prompt.md:4",
        "prompt.md:5",
        "graders/g.md:5",
        "graders/g.md:4",
        "graders/g.md:6",
        "prompt.md:6",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_unreadable_file_is_told(tmp_path: Path) -> None:
    problems_of(tmp_path, {"prompt.md": "Hi", **ONE_GRADER})
    (tmp_path / "evals" / "it" / "prompt.md").chmod(0)

    assert problems_of(tmp_path, {}) == ["prompt.md: cannot be read: Permission denied"]


def test_pipe_in_place_of_a_file_is_told(tmp_path: Path) -> None:
    problems_of(tmp_path, {"case.yaml": PROMPT, **ONE_GRADER})
    os.mkfifo(tmp_path / "evals" / "it" / "graders" / "b.md")

    assert "graders/b.md: is not a regular file" in problems_of(tmp_path, {})


def test_long_and_repeated_values_are_cut(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 20)}]\n"
        for before, name in zip("abcdefghi", "bcdefghij", strict=True)
    )

    problems = problems_of(
        tmp_path, _yaml(f"{bomb}description: *j\ntags: {'x' * 5000}\n{PROMPT}{ONE}")
    )

    assert len(problems) == 12
    assert all(len(problem) < 250 for problem in problems)
