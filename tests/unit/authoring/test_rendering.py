"""Proposals as files, and these files as the loader reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.authoring.contract import Proposal, read
from pytest_plugin_eval.authoring.loading import load_problems
from pytest_plugin_eval.authoring.rendering import files_of, skill_pattern
from pytest_plugin_eval.authoring.view import PluginView, SkillView
from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.graders.javascript import Question, ask
from tests.support.proposals import grader, negative, positive, reply
from tests.support.suites import case_of


def _view(name: str = "demo", skill: str = "greet", directory: str = "greet") -> PluginView:
    aliases = tuple(dict.fromkeys((skill, directory)))
    one = SkillView(name=skill, aliases=aliases, description="", content="")
    return PluginView(name=name, skills=(one,))


def _proposal(case: dict[str, Any]) -> Proposal:
    (proposal,) = read(reply(case), skills=["greet"]).proposals
    return proposal


def _loaded(case: dict[str, Any], root: Path) -> Case:
    proposal = _proposal(case)
    files = files_of(proposal, _view())
    assert load_problems(proposal, files) == ()
    return case_of(root, dict(files))


def test_case_that_should_trigger(tmp_path: Path) -> None:
    case = _loaded(positive(), tmp_path)

    assert (case.description, case.tags) == ("the plain form of the request", ("triggers",))
    assert (case.max_turns, case.allowed_tools) == (10, ("Read", "Glob", "Grep", "Skill"))
    assert [one.model_dump(exclude_defaults=True) for one in case.graders] == [
        {"name": "says-bonjour", "type": "regex", "pattern": "[Bb]onjour"},
        {
            "name": "skill-fired",
            "type": "tool_used",
            "tool": "Skill",
            "input_match": '"skill":"(?:demo:)?greet"',
        },
    ]


def test_case_that_should_not_trigger_counts_the_calls_it_must_not_have(tmp_path: Path) -> None:
    case = _loaded(negative(), tmp_path)

    assert [one.model_dump(exclude_defaults=True) for one in case.graders] == [
        {
            "name": "skill-stayed-out",
            "type": "tool_used",
            "tool": "Skill",
            "input_match": '"skill":"(?:demo:)?greet"',
            "min": 0,
            "max": 0,
            "arm": "both",
        }
    ]


def test_file_to_be_made_needs_the_tools_that_make_it(tmp_path: Path) -> None:
    made = grader("file_exists", path="card.txt")
    not_made = grader("file_exists", path="card.txt", exists=False)

    assert _loaded(positive(graders=[made]), tmp_path / "a").allowed_tools[-2:] == ("Write", "Edit")
    assert "Write" not in _loaded(positive(graders=[not_made]), tmp_path / "b").allowed_tools


def test_own_name_of_the_skills_grader_goes_before_one_of_the_model(tmp_path: Path) -> None:
    case = _loaded(positive(graders=[grader(name="Skill-Fired")]), tmp_path)

    assert [one.name for one in case.graders] == ["Skill-Fired", "skill-fired-2"]


@pytest.mark.parametrize(
    "text",
    [
        "---\nmodel: opus\n---",
        "--- \nenv: {EVAL_X: y}",
        "...\n--- !!python/object:os.system",
        "# a: b\n\n\n\tindented",
        "'; drop: [table]",
        "{{x}} ${HOME} @file <!-- x -->",
        "&a *a <<: !!binary |",
        "ä 漢 \U0001f600 \u00a0 end",
        "a\r\nb",
    ],
)
def test_prompt_and_criteria_are_texts_whatever_they_hold(text: str, tmp_path: Path) -> None:
    judged = grader("llm", criteria=text)
    plain = text.replace("\r\n", "\n")

    case = _loaded(positive(prompt=text, graders=[judged]), tmp_path)

    assert case.prompt == plain
    assert case.graders[0].model_dump()["criteria"] == plain
    assert (case.model, case.env, case.scaffold_script) == (None, {}, None)


@pytest.mark.parametrize(
    "line",
    [
        "yes", "null", "~", "0o17", "1e3", "2001-01-01", "a: b", "- a", "a # b", "'", "''", '"',
        "\\bfoo\\b", "it's: {a}", "[x", "&x", "*x", "!x", "|", ">", "%x", "@x", "`x", "a\tb",
        "regex", "both", "---", "...", "<<", "=", "\u00a0x",
    ],
)  # fmt: skip
def test_lines_are_strings_whatever_yaml_would_make_of_them(line: str, tmp_path: Path) -> None:
    exists = grader("file_exists", "made", path=line)

    case = _loaded(positive(why=line, graders=[exists]), tmp_path)

    assert case.description == line.strip()
    assert case.graders[0].model_dump()["path"] == line.strip()


def test_pattern_that_javascript_refuses_does_not_load() -> None:
    proposal = _proposal(
        positive(graders=[grader(pattern="(?P<x>a)"), grader(name="b", flags="q")])
    )

    problems = load_problems(proposal, files_of(proposal, _view()))

    assert len(problems) == 2
    assert any("is no JavaScript regular expression" in text for text in problems)
    assert all(text.startswith("graders/") for text in problems)


@pytest.mark.parametrize(
    ("view", "called", "other"),
    [
        (_view(), "demo:greet", "demo:greeting"),
        (_view(), "greet", "other:greet"),
        (_view(skill="welcome"), "demo:greet", "demo:we"),
        (_view(skill="welcome"), "demo:welcome", "welcomes"),
        (_view(name="a.b", skill="c++", directory="c++"), "a.b:c++", "axb:c++"),
        (_view(skill='say "hi"', directory="x"), 'say \\"hi\\"', "say"),
    ],
)
def test_pattern_of_a_skill_matches_its_calls_alone(
    view: PluginView, called: str, other: str
) -> None:
    pattern = skill_pattern(view.skills[0].name, view)
    inputs = [f'{{"skill":"{name}"}}' for name in (called, other)]

    questions = [Question(pattern, "", text) for text in inputs]
    answers = ask(questions, 10.0)

    assert [bool(answers[question]) for question in questions] == [True, False]
