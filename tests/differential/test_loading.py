"""Which cases there are, and what their files say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.differential.compare import check, compare
from tests.differential.suite import Suite, regex, used
from tests.support.script import rule, script

pytestmark = pytest.mark.agent

OK = {"ok": regex("OK")}
ONE_ARM = ("--ablation", "none")


def test_groups_and_nested_eval_directories(suite: Suite) -> None:
    suite.case("b", OK)
    suite.case("B", OK)
    suite.case("10", OK)
    suite.case("9", OK)
    suite.case("grp/deep/b", OK)
    suite.case("grp/.dot", OK)
    suite.case("_under/é", OK)
    suite.case("grp/graders", OK)
    suite.case("outer", OK).case("outer/inner", OK)
    suite.case("skills/greet/evals/hi", OK)
    suite.case("a/evals/grp/evals/x", OK)
    suite.case("node_modules/evals/no", OK).case("results/no", OK)
    suite.write("evals/empty/notes.txt", "x").write("evals/yml/case.yml", "x: 1")

    result = compare(suite, script(), *ONE_ARM, "-j", "2")

    check("groups and nested eval directories", result)


def test_eval_directory_that_is_a_case(suite: Suite) -> None:
    suite.write("evals/prompt.md", "---\nruns: 1\n---\nDo it.\n")
    suite.write("evals/graders/ok.md", "---\ntype: regex\n---\n\n  OK\n\n")
    suite.case("ignored", OK)

    result = compare(suite, script())

    check("eval directory that is a case", result)


def test_prompt_and_yaml_together(suite: Suite) -> None:
    ok = {"name": "from-yaml", **regex("OK")}
    execution = {"prompt": "From yaml", "max_turns": 4, "allowed_tools": ["Read"]}
    suite.case_yaml("yaml", name="only yaml", execution=execution, graders=[ok], tags=["x"])
    suite.case_yaml("mixed", name="base", execution=execution, graders=[ok], tags=["x"], runs=2)
    suite.case("mixed", {"from-md": regex("OK")}, front={"tags": [], "max_turns": 6})
    suite.case_yaml("body", name="named", execution=execution, graders=[ok])
    suite.write("evals/body/prompt.md", "---\nname: front\n---\n  \n")
    suite.case_yaml("graders", name="graders", execution=execution)
    suite.write("evals/graders/graders/a.md", "---\ntype: regex\nname: own name\n---\nOK")
    suite.write("evals/graders/graders/.h.md", "---\ntype: regex\npattern: OK\n---\nbody")
    suite.write("evals/graders/graders/a-b.md", "---\ntype: tool_used\ntool: Read\nmin: 0\n---\nx")

    result = compare(suite, script(), *ONE_ARM)

    check("prompt.md and case.yaml", result)


def test_texts(suite: Suite) -> None:
    body = "\r\n   First\r\n  second ü {{x}}\r\n---\r\nend \r\n\r\n"
    body = "\ufeff---\r\nruns: 1\r\ndescription: yes\r\n---\r\n" + body
    suite.write("evals/crlf/prompt.md", body)
    suite.write("evals/crlf/graders/ok.md", "---\r\ntype: regex\r\nflags: s\r\n---\r\nO.*\r\n")
    suite.write("evals/bare/prompt.md", "No frontmatter at all")
    suite.write("evals/bare/graders/ok.md", "---\ntype: regex\npattern: OK\n--- \n")
    suite.write("evals/anchors/case.yaml", ANCHORS)

    result = compare(suite, script(), *ONE_ARM, "--runs", "1")

    check("texts of case files", result)


ANCHORS = """
schema_version: '1.0'
name: &n "anchors ☃"
description: *n
execution: {prompt: "  padded \\n\\n", timeout_seconds: 0x40}
base: &b {type: regex, pattern: OK}
graders:
  - {<<: *b, name: on}
  - {name: no, type: regex, pattern: "1:30", match: not_contains, weight: .5}
"""


def test_load_errors_beside_good_cases(suite: Suite) -> None:
    suite.case("good", OK)
    suite.case("key", OK, front={"max_turn": 3})
    suite.case("grader", {"a": used("Read", min=-1), "b": {"type": "regexp"}})
    suite.case("runs", OK, front={"runs": 51})
    suite.case("none", {})
    suite.case("weight", {"w": regex("OK", weight=0)})
    suite.case("plugins", OK, front={"plugins": ["../nowhere"]})
    suite.write("evals/open/prompt.md", "---\nruns: 1\nDo it.\n")
    suite.write("evals/yaml/case.yaml", "name: [\n")
    suite.case_yaml("version", schema_version=1.1, name="v", execution={"prompt": "x"}, graders=[])
    suite.case_yaml(
        "twice", name="t", execution={"prompt": "x"}, graders=[{"name": "a", **OK["ok"]}] * 2
    )

    result = compare(suite, script(), *ONE_ARM, "--case", "good")

    check("load errors beside good cases", result)
    assert result.ours.document is not None
    assert len(result.ours.document["loadErrors"]) >= 10


def test_nothing_loads(suite: Suite) -> None:
    suite.case("bad", OK, front={"max_turn": 3})

    result = compare(suite, script())

    check("nothing loads", result)


def test_links(suite: Suite) -> None:
    suite.case("a", OK).case("b", OK).write("shared/c/prompt.md", "Do c.")
    (suite.root / "evals/alias").symlink_to("a")
    (suite.root / "evals/outside").symlink_to("../shared/c")
    (suite.root / "evals/b/prompt.md").rename(suite.root / "shared/b.md")
    (suite.root / "evals/b/prompt.md").symlink_to("../../shared/b.md")

    result = compare(suite, script(), *ONE_ARM)

    # The reference breaks every run of every case.
    assert result.theirs.document is not None
    assert result.theirs.document["aggregates"]["overallScore"] == 0
    assert result.ours.document is not None
    assert [case["dir"] for case in result.ours.document["cases"]] == ["evals/a"]
    check("links", result, {"D11": ["cases.*", "aggregates.*", "costUsd", "?suite.*"]})


def test_things_that_are_ignored(suite: Suite) -> None:
    suite.case_yaml(
        "extra", name="extra", max_turns=3, execution={"prompt": "x", "modle": "y"},
        graders=[{"name": "a", **OK["ok"]}],
    )  # fmt: skip
    suite.case("readme", OK)
    suite.write("evals/readme/graders/README.md", "Not a grader\n")
    suite.write("evals/readme/graders/B.MD", "---\ntype: nonsense\n---\n")

    result = compare(suite, script(), *ONE_ARM)

    check("things that are ignored", result, {"D6": []})
    assert result.ours.document is not None
    assert any("modle" in text for text in result.ours.document["cases"][0]["warnings"])


@pytest.mark.parametrize("value", ["qa", "./quality//evals/", "~bad", ["qa"]])
def test_eval_directory_in_the_manifest(suite: Suite, value: object) -> None:
    suite.plugin(experimental={"evals": value})
    for folder in ("qa", "quality/evals", "evals"):
        suite.write(f"{folder}/a/prompt.md", "---\nruns: 1\n---\nDo it.\n")
        suite.write(f"{folder}/a/graders/ok.md", "---\ntype: regex\n---\nOK\n")

    result = compare(suite, script(), *ONE_ARM)

    check(f"eval directory {value}", result)


def not_measured(case: str) -> list[str]:
    """Return the fields that the only run of the only case changes by not being measured."""
    means = ["aggregates.overall*", f"cases.evals/{case}.aggregates.*"]
    return ["partial", "partialReason", f"cases.evals/{case}.arms.with.0.score", *means]


def test_variable_that_a_case_may_not_set(suite: Suite) -> None:
    suite.case("a", OK)
    suite.case("bad", OK, front={"env": {"PATH": "/x"}})

    result = compare(suite, script(), *ONE_ARM)

    # The reference sees it when a run starts, and scores the run 0.
    check("variable that a case may not set", result, {"D18": ["cases.evals/bad", "aggregates.*"]})


def test_manifest_at_the_root(tmp_path: Path) -> None:
    suite = Suite(tmp_path / "directory").skill()
    manifest = {"name": "other", "version": "3.0.0", "experimental": {"evals": "qa"}}
    suite.write("plugin.json", json.dumps(manifest)).case("not-there", OK)
    suite.write("qa/a/prompt.md", "---\nruns: 1\n---\nDo it.\n")
    suite.write("qa/a/graders/own.md", "---\ntype: regex\ntarget: trace\n---\ndirectory:greet\n")

    result = compare(suite, script())

    check("manifest at the root", result)


def test_odd_names(loose: Suite) -> None:
    for folder in ("a b", "a::b", "-dash", "ü", "x.y", "a%b", "it's", "$X", "~", "[x]", "#c"):
        loose.case(f"evals/{folder}", OK)
    loose.case("n1", OK, front={"name": "../up/../.."})
    loose.case("n2", OK, front={"name": "line\nbreak \x1b[31mred"})

    result = compare(loose, script(), "-j", "4")

    # The reference makes no run of a case whose directory its permission rules cannot hold.
    odd = ["exit_code", "costUsd", "aggregates.*", "cases.evals/#c.*", "cases.evals/[[]x].*"]
    check("odd names", result, {"names that rules cannot hold": odd})


def test_manifest_that_does_not_load(suite: Suite) -> None:
    suite.write(".claude-plugin/plugin.json", '{"name": 3}')
    suite.case("a", OK)

    result = compare(suite, script())

    check("manifest that does not load", result, {"D18": not_measured("a")})


@pytest.mark.parametrize(
    "target",
    ["evals/grp", "evals/grp/b/prompt.md", "scratch/s/prompt.md", "scratch", "none", "a.txt"],
)
def test_target(suite: Suite, target: str) -> None:
    suite.case("a", OK).case("grp/b", OK).case("grp/c", OK)
    suite.write("scratch/s/prompt.md", "---\nruns: 1\n---\nDo it.\n")
    suite.write("scratch/s/graders/ok.md", "---\ntype: regex\n---\nOK\n").write("a.txt", "x")

    result = compare(suite, script(rule(turns=["OK"])), *ONE_ARM, target=target)

    check(f"target {target}", result)


def test_target_that_is_the_working_directory(suite: Suite) -> None:
    suite.case("a", {"fired": used("Skill", min=0), **OK})

    result = compare(suite, script(), target="evals", cwd="evals")

    # The reference leaves the plugin out, and with it everything that is to be measured.
    differing = ["suite.*", "cases.*", "costUsd", "aggregates.meanDelta"]
    check("target is the working directory", result, {AROUND: differing})
    assert result.ours.document is not None
    assert [plugin["name"] for plugin in result.ours.document["suite"]["plugins"]] == ["demo"]


AROUND = "plugin around the target"
