"""Whatever a model answers, what comes of it is nothing or a case that loads as it was shown."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_plugin_eval.authoring.contract import read
from pytest_plugin_eval.authoring.loading import load_problems
from pytest_plugin_eval.authoring.names import free_name
from pytest_plugin_eval.authoring.rendering import files_of
from pytest_plugin_eval.authoring.view import PluginView, SkillView
from pytest_plugin_eval.cases.discovery import EvalDirectory
from pytest_plugin_eval.cases.loader import load_case
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.storage.new_files import NewDirectories, write_new_directory
from tests.support.proposals import grader, positive, reply

VIEW = PluginView(
    name="demo",
    skills=(SkillView(name="greet", aliases=("greet",), description="", content=""),),
)
SKILLS = ["greet"]
TEXTS = st.text(max_size=60) | st.sampled_from(
    ["---", "'", '"', "a: b", "../x", "\x00", "\ud800", "yes", "- x", "#", "a\n---\nb", "\t", "{{"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
KEYS = ("name", "skill", "should_trigger", "prompt", "why", "graders")
NAMES = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,11}", fullmatch=True)
GRADERS = st.lists(
    st.builds(
        lambda name, kind, text, flag: {
            "regex": grader(name=name, pattern=text, match=flag),
            "llm": grader("llm", name, criteria=text),
            "file_exists": grader("file_exists", name, path=text),
            "tool_used": grader("tool_used", name, tool=text, input_match=text, max=2),
        }[kind],
        NAMES,
        st.sampled_from(["regex", "llm", "file_exists", "tool_used"]),
        TEXTS,
        st.sampled_from(["contains", "not_contains"]),
    ),
    max_size=3,
)


@given(st.text() | JSON.map(json.dumps))
def test_no_reply_raises(text: str) -> None:
    reading = read(text, skills=SKILLS)

    assert all(one.problems for one in reading.refused)
    assert reading.proposals or reading.refused


@given(st.dictionaries(st.sampled_from(KEYS), JSON))
def test_odd_fields_make_no_case_or_a_sound_one(changes: dict[str, Any]) -> None:
    reading = read(reply(positive(**changes)), skills=SKILLS)

    assert len(reading.proposals) + len(reading.refused) == 1
    for proposal in reading.proposals:
        assert Path(proposal.name).name == proposal.name
        assert not proposal.name.startswith((".", "-"))
        assert proposal.name.isascii()


@given(TEXTS, TEXTS, GRADERS)
@example("a\rb", "x", [])
@example("x", "\u00a0", [grader(name="con", pattern="'")])
def test_accepted_case_loads_as_it_was_proposed(
    prompt: str, why: str, graders: list[dict[str, Any]]
) -> None:
    reading = read(reply(positive(prompt=prompt, why=why, graders=graders)), skills=SKILLS)

    for proposal in reading.proposals:
        files = files_of(proposal, VIEW)
        if any("regular expression" in problem for problem in load_problems(proposal, files)):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(os.path.realpath(scratch))
            directory = root / "evals" / proposal.name
            write_new_directory(directory, files)
            place = EvalDirectory(path=root / "evals", root=root, cases=(directory,))
            case = load_case(directory, place)
        loaded = {one.name: one.model_dump() for one in case.graders}
        assert (case.prompt, case.description) == (proposal.prompt, proposal.why)
        assert (case.env, case.model, case.plugins) == ({}, None, ())
        assert len(loaded) == len(proposal.graders) + 1
        for one in proposal.graders:
            wanted = {**one.fields} | ({"criteria": one.criteria} if one.criteria else {})
            assert wanted.items() <= loaded[one.name].items()


@given(NAMES, st.lists(NAMES, max_size=8))
def test_new_names_differ_from_all_there_are(name: str, taken: list[str]) -> None:
    found = free_name(name, taken)

    assert found.casefold() not in {one.casefold() for one in taken}
    assert found == name or name.casefold() in {one.casefold() for one in taken}


@given(st.lists(NAMES, max_size=6), st.lists(NAMES, max_size=6), st.sets(NAMES, max_size=4))
def test_nothing_that_exists_is_overwritten_or_removed(
    existing: list[str], proposed: list[str], kept: set[str]
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for name in existing:
            (root / name).mkdir(exist_ok=True)
            (root / name / "prompt.md").write_text("mine", "utf-8")
        with NewDirectories() as new:
            for name in proposed:
                try:
                    new.write(root / name, {"prompt.md": "ours"})
                except EvalError:
                    continue
                if name in kept:
                    new.keep(root / name)

        left = {path.name: (path / "prompt.md").read_text("utf-8") for path in root.iterdir()}

    ours = {name: "ours" for name in proposed if name in kept}
    assert left == {**ours, **dict.fromkeys(existing, "mine")}
