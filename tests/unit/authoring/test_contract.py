"""What is taken of proposals, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_plugin_eval.authoring.contract import read
from tests.support.proposals import grader, negative, positive, reply

SKILLS = ("greet", "part")


def _problems(*cases: object) -> list[str]:
    return [text for one in read(reply(*cases), skills=SKILLS).refused for text in one.problems]


def test_good_reply_becomes_proposals() -> None:
    exists = grader("file_exists", "card-made", path="cards/*.txt")
    judged = grader("llm", "warm", criteria="Is it warm?\nSay no if it is formal.")
    case = positive(graders=[grader(flags="i"), exists, judged])

    reading = read(f"```json\n{reply(case, negative())}\n```", skills=SKILLS)

    assert reading.refused == ()
    first, second = reading.proposals
    assert (first.name, first.skill, first.should_trigger) == ("greets-maria", "greet", True)
    assert [(one.type, one.name, dict(one.fields), one.criteria) for one in first.graders] == [
        ("regex", "says-bonjour", {"pattern": "[Bb]onjour", "flags": "i"}, None),
        ("file_exists", "card-made", {"path": "cards/*.txt"}, None),
        ("llm", "warm", {}, "Is it warm?\nSay no if it is formal."),
    ]
    assert (second.should_trigger, second.graders) == (False, ())


def test_grader_on_the_skill_itself_is_made_here_and_not_taken() -> None:
    own = grader("tool_used", "mine", tool="Skill", input_match=".*", min=0)

    (proposal,) = read(reply(positive(graders=[own])), skills=SKILLS).proposals

    assert proposal.graders == ()


def test_count_of_none_gets_the_minimum_that_goes_with_it() -> None:
    never = grader("tool_used", "never-greps", tool="Grep", max=0)

    (proposal,) = read(reply(positive(graders=[never])), skills=SKILLS).proposals

    assert dict(proposal.graders[0].fields) == {"tool": "Grep", "max": 0, "min": 0}


def test_one_skill_need_not_be_named() -> None:
    case = positive()
    del case["skill"]

    (proposal,) = read(reply(case), skills=["greet"]).proposals

    assert proposal.skill == "greet"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": "../../etc/passwd"}, "name '../../etc/passwd' will not do"),
        ({"name": "/abs"}, "name '/abs' will not do"),
        ({"name": ".."}, "name '..' will not do"),
        ({"name": "a/b"}, "name 'a/b' will not do"),
        ({"name": "a\\b"}, "will not do"),
        ({"name": "-rf"}, "name '-rf' will not do"),
        ({"name": "results"}, "name 'results' will not do"),
        ({"name": "x" * 61}, "name has 61 characters, expected at most 60"),
        ({"name": "a\0b"}, r"name holds the character '\x00', which is not allowed"),
        ({"name": 7}, "name must be a string, got 7"),
        ({"name": None}, "name is missing"),
        ({"name": " "}, "name is blank"),
        ({"skill": "other"}, "skill 'other' is not asked for, expected one of greet, part"),
        ({"should_trigger": "yes"}, "should_trigger must be true or false, got 'yes'"),
        ({"prompt": "x" * 4001}, "prompt has 4001 characters, expected at most 4000"),
        ({"prompt": ["x"]}, "prompt must be a string, got ['x']"),
        ({"prompt": "\x1b[2J"}, r"prompt holds the character '\x1b', which is not allowed"),
        ({"prompt": "a\u202eb"}, r"prompt holds the character '\u202e', which is not allowed"),
        ({"prompt": "a\u2028b"}, r"prompt holds the character '\u2028', which is not allowed"),
        ({"prompt": "a\x85b"}, r"prompt holds the character '\x85', which is not allowed"),
        ({"why": "one\nscaffold_script: rm.sh"}, "why has several lines, expected one"),
        ({"allowed_tools": ["Bash"]}, "unknown key 'allowed_tools', expected only name"),
        ({"promt": "x"}, "unknown key 'promt', did you mean 'prompt'?"),
        ({"graders": "none"}, "graders must be a list of objects, got 'none'"),
        ({"graders": [grader(name=f"g{n}") for n in range(7)]}, "graders are 7, expected at most"),
        (
            {"graders": [grader(), grader(name="SAYS-bonjour")]},
            "have the name 'SAYS-bonjour' twice",
        ),
        ({"graders": [[]]}, "grader 1: must be an object, got []"),
        ({"graders": [grader("baseline")]}, "grader 1: type must be one of regex, tool_used, file"),
        ({"graders": [{"type": {"a": 1}, "name": "x"}]}, "grader 1: type must be one of"),
        ({"graders": [grader(name="../x")]}, "grader 1: name '../x' will not do"),
        ({"graders": [grader(pattern="a\nb")]}, "grader 1: pattern has several lines"),
        ({"graders": [grader(weight=1e308)]}, "grader 1: unknown key 'weight'"),
        ({"graders": [grader(match="count:1")]}, "match must be contains or not_contains, got"),
        ({"graders": [grader("tool_used", tool="Read", min=-1)]}, "min must be a whole number"),
        ({"graders": [grader("tool_used", tool="Read", max=True)]}, "max must be a whole number"),
        ({"graders": [grader("file_exists", path="x", exists="no")]}, "exists must be true or"),
        ({"graders": [grader("llm", criteria="x" * 2001)]}, "criteria has 2001 characters"),
    ],
)
def test_what_a_case_cannot_be_is_refused(change: dict[str, Any], problem: str) -> None:
    reading = read(reply(positive(**change), negative()), skills=SKILLS)

    assert [one.name for one in reading.proposals] == ["talks-of-rain"]
    (refused,) = reading.refused
    assert any(problem in text for text in refused.problems), refused.problems
    assert all(text.isprintable() for text in (refused.name, *refused.problems))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the reply is empty, expected a JSON object"),
        ("Sorry, I cannot.", "the reply is no JSON"),
        ("[]", "the reply is [], expected a JSON object"),
        ("{}", "cases must be a list of objects, got None"),
        ('{"cases": []}', "cases must be a list of objects, got []"),
        ('{"cases": {"a": 1}}', "cases must be a list of objects"),
        ("[" * 100_000, "nested too deeply"),
        ("x" * 300_000, "has 300000 characters"),
        ('{"cases": [' + "1" * 10_000 + "]}", "number that is too long"),
    ],
)
def test_reply_that_is_none_is_refused_as_a_whole(text: str, problem: str) -> None:
    reading = read(text, skills=SKILLS)

    assert reading.proposals == ()
    ((name, problems, raw),) = reading.refused
    assert (name, raw) == ("the reply", None)
    assert problem in problems[0]


def test_endless_list_is_cut() -> None:
    reading = read(reply(*[positive(name=f"n{n}") for n in range(500)]), skills=SKILLS)

    assert len(reading.proposals) == 12
    assert [one.problems for one in reading.refused] == [
        ("there are 500 cases, expected at most 12",)
    ]


def test_all_that_is_wrong_with_a_case_is_told() -> None:
    assert len(_problems(positive(name=1, prompt="", skill="x", graders=[3, grader(name="")]))) == 5
