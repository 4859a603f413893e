"""What a case brings along: scripts, conversations, directories, variables, models."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.differential.compare import check, compare
from tests.differential.suite import Fields, Suite, exists, llm, regex, used
from tests.support.histories import history
from tests.support.script import judge, rule, script, text, tool, turn

pytestmark = pytest.mark.agent

ONE_ARM = ("--ablation", "none")
STAGED = {
    "says": regex("fine"),
    "staged": regex("^hello$", target={"source": "file", "path": "made.txt"}, flags="m"),
    "listed": regex("made", target="files", match="not_contains"),
    "there": exists("made.txt", exists=False),
}
FINE = script(rule(turns=["fine"]))
NOT_MEASURED = ["partial", "partialReason"]


def graders(**fields: Fields) -> list[Fields]:
    """Return the graders of a `case.yaml`."""
    return [{"name": name, **grader} for name, grader in fields.items()]


def staged(suite: Suite, name: str, text: str, **execution: object) -> Suite:
    """Write a case with a script."""
    suite.case_yaml(
        name,
        name=name,
        execution={"prompt": f"Do {name}.", **execution},
        context={"scaffold_script": "stage.sh"},
        graders=graders(**STAGED),
    )
    return suite.write(f"evals/{name}/stage.sh", text)


@pytest.mark.parametrize(
    "options",
    [("--scaffold",), (), ("--scaffold", "--no-scaffold"), ("--no-scaffold", "--scaffold")],
    ids=["run", "not run", "taken back", "asked again"],
)
def test_scaffold(suite: Suite, options: tuple[str, ...]) -> None:
    staged(suite, "one", "mkdir sub; echo hello > made.txt; echo x > sub/y.txt; ls / >&2\n")

    result = compare(suite, FINE, *options)

    check(f"scaffold, {' '.join(options) or 'no option'}", result)


def test_scaffold_and_writing_agent(suite: Suite) -> None:
    staged(suite, "one", "git init -q .; echo hello > made.txt; ln -s made.txt link\n")
    suite.case_yaml(
        "two",
        name="two",
        execution={"prompt": "Do two."},
        context={"scaffold_script": "sub/../sub/stage.sh"},
        graders=graders(
            new=exists("new.txt"),
            changed=regex("changed", target={"source": "file", "path": "made.txt"}),
            files=regex("^new.txt\\nsub/new.txt$", target="files"),
        ),
    )
    suite.write("evals/two/sub/stage.sh", "mkdir sub; echo hello | tee made.txt > sub/a.txt\n")
    writes = [
        tool("Read", file_path="{cwd}/made.txt"),
        tool("Write", file_path="{cwd}/new.txt", content="new"),
        tool("Write", file_path="{cwd}/sub/new.txt", content="new"),
    ]
    change = [tool("Write", file_path="{cwd}/made.txt", content="changed")]
    answers = script(rule(prompt="Do two", turns=[writes, change, "done"]), rule(turns=["fine"]))

    result = compare(suite, answers, "--scaffold", "--allow-tools", "Write")

    check("scaffold and a writing agent", result)


@pytest.mark.parametrize("body", ["echo no >&2; exit 3", "kill -9 $$"], ids=["exit", "signal"])
def test_failing_scaffold(suite: Suite, body: str) -> None:
    staged(suite, "bad", f"{body}\n")
    suite.case("fine", {"ok": regex("fine")})

    result = compare(suite, FINE, "--scaffold", *ONE_ARM)

    lost = ["cases.evals/bad.arms.with.0.score", *NOT_MEASURED]
    lost += ["aggregates.*", "cases.evals/bad.aggregates.*"]
    check("failing scaffold", result, {"D18": lost})


def test_missing_scaffold_is_found_before_any_run(suite: Suite) -> None:
    suite.case_yaml(
        "gone",
        name="gone",
        execution={"prompt": "Do it."},
        context={"scaffold_script": "gone.sh"},
        graders=graders(ok=regex("fine")),
    )
    suite.case("fine", {"ok": regex("fine")})

    result = compare(suite, FINE, "--scaffold", *ONE_ARM)

    check("missing scaffold", result, {"D18": ["cases.evals/gone", "?aggregates.*", "?suite.*"]})


def conversation(suite: Suite, name: str, text: str, **fields: object) -> Suite:
    """Write a case with a recorded conversation."""
    suite.case_yaml(
        name,
        name=name,
        execution={"prompt": f"Do {name}."},
        context={"history_file": "h.jsonl"},
        graders=graders(
            says=regex("fine"), skill=used("Skill"), old=regex("Zoe", target="trace", weight=2)
        ),
        **fields,
    )
    return suite.write(f"evals/{name}/h.jsonl", text)


HISTORY = {"whole": history(), "unchained": history(chained=False), "crlf": history()}
HISTORY["crlf"] = HISTORY["crlf"].replace("\n", "\r\n")


@pytest.mark.parametrize(
    "options", [(), ("--ablation", "with-without"), ONE_ARM], ids=["default", "both", "one"]
)
def test_history(suite: Suite, options: tuple[str, ...]) -> None:
    for name, lines in HISTORY.items():
        conversation(suite, name, lines)
    conversation(suite, "named", history(), plugins=["../.."])
    suite.case("plain", {"says": regex("fine"), "skill": used("Skill")})
    answers = script(rule(contains="My name is Zoe", turns=["fine Zoe"]), rule(turns=["fine"]))

    result = compare(suite, answers, *options)

    check(f"history, {' '.join(options) or 'default arms'}", result)


@pytest.mark.parametrize("target", [".", "evals/whole", "evals/whole/case.yaml"])
def test_history_has_one_arm_for_every_path(suite: Suite, target: str) -> None:
    conversation(suite, "whole", history())

    result = compare(suite, FINE, target=target)

    assert result.ours.document is not None
    assert [*result.ours.document["cases"][0]["arms"]] == ["with"]
    check(f"history, target {target}", result)


def test_bad_history_is_found_before_any_run(suite: Suite) -> None:
    conversation(suite, "bad", "hello\n")
    suite.case("fine", {"ok": regex("fine")})

    result = compare(suite, FINE, *ONE_ARM)

    check("bad history", result, {"D18": ["cases.evals/bad", "?aggregates.*", "?suite.*"]})


def opened(suite: Suite, name: str, allowed: list[str]) -> Suite:
    """Write a case with directories that the agent may read."""
    suite.case_yaml(
        name,
        name=name,
        execution={"prompt": f"Do {name}.", "allowed_tools": allowed},
        context={"add_dirs": ["data", "more/deep"]},
        graders=graders(
            **{word.lower(): regex(word, target="trace") for word in ("OPENED", "DEEPER")},
            **{
                word.lower(): regex(f"S-{word}", target="trace", match="not_contains")
                for word in ("NOTES", "LOOSE", "OTHER", "LINKED")
            },
            refused=regex("denied", target="trace", match="count:6", weight=3),
        ),
    )
    files: Mapping[str, str] = {
        "data/x.txt": "OPENED",
        "more/deep/z.txt": "DEEPER",
        "more/notes.txt": "S-NOTES",
        "graders.txt": "S-LINKED",
    }
    for path, content in files.items():
        suite.write(f"evals/{name}/{path}", content)
    (suite.root / "evals" / name / "data" / "link").symlink_to("../graders.txt")
    return suite


@pytest.mark.parametrize("allowed", [[], ["Read", "Skill"]], ids=["nothing", "reading"])
def test_add_dirs(suite: Suite, allowed: list[str]) -> None:
    opened(suite, "one", allowed)
    suite.case("other", {"ok": regex("fine")}).write("evals/loose.txt", "S-LOOSE")
    suite.write("evals/other/notes.txt", "S-OTHER")
    case = suite.root / "evals" / "one"
    reads = [
        tool("Read", file_path=str(case / path))
        for path in (
            *("data/x.txt", "more/deep/z.txt", "more/notes.txt", "data/link", "case.yaml"),
            *("../loose.txt", "../other/notes.txt"),
        )
    ]
    looks = [
        tool("Grep", pattern="S-", path=str(case)),
        tool("Glob", pattern="*.txt", path=str(case / "data")),
        tool("Write", file_path=str(case / "data" / "new.txt"), content="x"),
    ]
    answers = script(rule(prompt="Do one", turns=[reads, looks, "done"]), rule(turns=["fine"]))

    result = compare(suite, answers, "--allow-tools", "Write")

    check(f"add_dirs, {allowed or 'nothing'} allowed", result)


@pytest.mark.parametrize("entry", [".", "", "graders", "mocks", "../other", "case.yaml", "nope"])
def test_directory_that_is_not_opened(suite: Suite, entry: str) -> None:
    suite.case_yaml(
        "bad",
        name="bad",
        execution={"prompt": "Do it."},
        context={"add_dirs": [entry]},
        graders=graders(ok=regex("fine")),
    )
    suite.write("evals/bad/graders/x.md", "---\ntype: regex\npattern: fine\n---\n")
    suite.write("evals/bad/mocks/m/x.txt", "no mock")
    suite.case("other", {"ok": regex("fine")})

    result = compare(suite, FINE, *ONE_ARM)

    check(f"add_dirs {entry!r}", result, {"D18": ["cases.evals/bad", "?aggregates.*", "?suite.*"]})


def test_variables(suite: Suite) -> None:
    hook = {
        "hooks": {
            "SessionStart": [
                {"hooks": [{"type": "command", "command": 'echo "X-$EVAL_X-$EVAL_-$EVAL_Y9-X"'}]}
            ]
        }
    }
    suite.write("hooks/hooks.json", str(hook).replace("'", '"').replace('""', '"'))
    shown = {"shown": regex("X-case--9-X", target="trace"), "says": regex("fine")}
    suite.case("set", shown, front={"env": {"EVAL_X": "case", "EVAL_Y9": "9"}})
    suite.case("unset", {"shown": regex("X-user--user-X", target="trace")})

    result = compare(suite, FINE, *ONE_ARM, env={"EVAL_X": "user", "EVAL_Y9": "user"})

    check("env", result)


def test_appended_prompt(suite: Suite) -> None:
    suite.case(
        "appended", {"says": regex("pirate")}, front={"append_system_prompt": '-- a PIRATE, "x"'}
    )
    suite.case("plain", {"says": regex("plain")})
    answers = script(
        rule(contains='-- a PIRATE, \\"x\\"', turns=["pirate"]),
        rule(contains="a PIRATE", turns=["pirate"]),
        rule(turns=["plain"]),
    )

    result = compare(suite, answers)

    check("append_system_prompt", result)


@pytest.mark.parametrize(
    ("options", "env"),
    [
        ((), {}),
        ((), {"ANTHROPIC_MODEL": "claude-opus-4-1"}),
        (("--model", "claude-sonnet-4-5"), {"ANTHROPIC_MODEL": "claude-opus-4-1"}),
    ],
    ids=["default", "environment", "option"],
)
def test_model(suite: Suite, options: tuple[str, ...], env: Mapping[str, str]) -> None:
    names = {"own": "haiku-4-5", "option": "sonnet-4-5", "environment": "opus-4-1"}
    says = {name: regex(name, match="contains", weight=k + 1) for k, name in enumerate(names)}
    suite.case("named", says, front={"model": "claude-haiku-4-5"})
    suite.case("unnamed", says)
    answers = script(
        *(rule(model=f"*{model}*", turns=[name]) for name, model in names.items()),
        rule(turns=["default"]),
    )

    result = compare(suite, answers, *options, env=env)

    check(f"model, {' '.join([*options, *env]) or 'default'}", result)


def test_endings_with_fixtures(suite: Suite) -> None:
    conversation(suite, "capped", history())
    yaml = {"max_turns": 1, "prompt": "Do capped."}
    suite.case_yaml(
        "capped",
        name="capped",
        execution=yaml,
        context={"history_file": "h.jsonl", "scaffold_script": "stage.sh"},
        graders=graders(last=regex("looking"), old=regex("Noted"), judged=llm("Is it nice?")),
    )
    suite.write("evals/capped/stage.sh", "echo x > a.x\n")
    look = [text("looking"), tool("Glob", pattern="*.x")]
    answers = script(
        judge("PASS", contains="Is it nice?"), rule(turns=[look, turn("more")], end=None)
    )

    result = compare(suite, answers, "--scaffold")

    check("turn cap after history and scaffold", result)
