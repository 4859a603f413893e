"""What authors may have overlooked in prompts, cases and suites: told where it is due."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from pytest_plugin_eval.cases.case import Plugin
from pytest_plugin_eval.cases.hints import (
    Circumstances,
    SkillUse,
    hints,
    skill_use,
    suite_hints,
)
from pytest_plugin_eval.cases.mock import MockServer
from pytest_plugin_eval.cases.plugin_skills import Skill
from tests.support.hints import (
    COINED,
    FILE,
    FIRED,
    SAID,
    SKILL,
    Fields,
    case_of,
    file,
    found_in_python,
    regex,
    told,
    used,
)
from tests.support.mocks import mock_tool
from tests.support.suites import write_tree


@pytest.mark.parametrize(
    ("prompt", "skill"),
    [
        ("Use the greet skill for Ann", SKILL),
        ("Greet Ann with the skill `greet`.", SKILL),
        ("use greet on Ann", SKILL),
        ("Please run demo:greet for Ann", SKILL),
        ("Now /greet Ann", SKILL),
        ("/demo:greet Ann", SKILL),
        ("I need a commit-message for this.", COINED),
        ("Call commit-message.", COINED),
    ],
)
def test_prompt_that_names_the_skill_is_told(prompt: str, skill: Skill) -> None:
    [text] = told(case_of(SAID, FIRED, prompt=prompt), skills=(skill,))

    assert text.startswith("the prompt names the skill (")


@pytest.mark.parametrize(
    ("prompt", "skill"),
    [
        ("Greet Ann", SKILL),
        ("Would you greet Ann?", SKILL),
        ("Put that into our changelog", Skill("demo", "changelog")),
        ("Start CHANGELOG.md", Skill("demo", "changelog")),
        ("Read docs/greet and say what is in it", SKILL),
        ("Write the commit message", COINED),
        ("Read commit-message.md", COINED),
        ("Look at my-commit-message", COINED),
        ("Use the greet skill for Ann", Skill("demo", "greet", user_only=True)),
    ],
)
def test_prompt_that_does_not_name_the_skill_is_not_told(prompt: str, skill: Skill) -> None:
    assert told(case_of(SAID, FIRED, prompt=prompt), skills=(skill,)) == []


def test_command_is_not_told_where_nobody_asks_how_the_skill_was_found() -> None:
    assert told(case_of(SAID, used("Read"), prompt="/demo:greet Ann"), skills=(SKILL,)) == []


@pytest.mark.parametrize(
    "graders",
    [
        [SAID],
        [SAID, {"type": "llm", "criteria": "x"}],
        [{**SAID, "weight": 2}, regex("bye"), {**FIRED, "weight": 5}],
        [{**SAID, "target": "trace"}],
        [{**SAID, "flags": "i", "pattern": "HELLO"}],
    ],
)
def test_answer_that_repeats_the_prompt_is_told(graders: list[Fields]) -> None:
    case = case_of(*graders, prompt="Say hello to Ann")

    [text] = told(case, unscored=frozenset({"c"}))

    assert text.startswith("grader 'a' would pass on an answer that only repeats the prompt")


@pytest.mark.parametrize(
    "graders",
    [
        [regex("good day")],
        [SAID, regex("good day"), regex("Ann, dear")],
        [{**SAID, "match": "count:1"}],
        [{**SAID, "target": FILE}],
        [SAID, {**regex("good day"), "weight": 2}],
    ],
)
def test_small_share_for_repeating_the_prompt_is_not_told(graders: list[Fields]) -> None:
    assert told(case_of(*graders, prompt="Say hello to Ann")) == []


def test_engine_is_not_asked_where_its_answer_would_not_matter() -> None:
    asked: list[str] = []

    def matches(pattern: str, flags: str, text: str) -> bool:
        asked.append(pattern)
        return found_in_python(pattern, flags, text)

    case = case_of(regex("^hard$"), regex("plain"), file("a.txt"), prompt="Say hello")

    assert told(case, matches=matches) == []
    assert asked == ["plain"]


def test_answer_that_quotes_the_prompt_is_told_of_a_pattern_to_be_absent() -> None:
    case = case_of(regex("reset --hard", "not_contains"), prompt="Never use git reset --hard")

    [text] = told(case)

    assert text.startswith("grader 'a' would fail an answer that quotes the prompt")


def test_case_of_tool_calls_only_is_told() -> None:
    [text] = told(case_of(FIRED, used("Read")), skills=(SKILL,))

    assert text.startswith("no grader looks at what came of it")


def test_case_of_a_forbidden_call_only_is_not_told() -> None:
    case = case_of({**FIRED, "min": 0, "max": 0, "arm": "both"})

    assert told(case, skills=(SKILL,)) == []


def test_case_that_does_not_tell_whether_a_skill_was_used_is_told() -> None:
    [text] = told(case_of(SAID), skills=(SKILL,))

    assert text.startswith("no grader tells whether a skill was used")


@pytest.mark.parametrize(
    ("grader", "skills"),
    [
        (regex("greet", target="trace"), (SKILL,)),
        (used("Agent"), (SKILL,)),
        ({"type": "llm", "criteria": "x", "focus": "trace"}, (SKILL,)),
        (regex("x"), ()),
        (regex("x"), (Skill("demo", "greet", user_only=True),)),
    ],
)
def test_case_that_may_tell_whether_a_skill_was_used_is_not_told(
    grader: Fields, skills: tuple[Skill, ...]
) -> None:
    assert told(case_of(SAID, grader), skills=skills) == []


def test_forbidden_skill_that_does_not_count_is_told() -> None:
    case = case_of(SAID, {**FIRED, "min": 0, "max": 0})

    [text] = told(case, unscored=frozenset({"b"}))

    assert text.startswith("grader 'b' asks that a skill is not used, and does not count")
    assert told(case, unscored=frozenset()) == []


@pytest.mark.parametrize(
    ("weights", "runs", "threshold", "text"),
    [
        (
            [1],
            3,
            0.8,
            "1 scored grader × 3 runs: the score can only be 0, 0.33, 0.67 or 1, so the threshold "  # noqa: RUF001  # it is one
            "0.8 means 1.0",
        ),
        (
            [1],
            3,
            0.67,
            "1 scored grader × 3 runs: the score can only be 0, 0.333, 0.667 or 1, so the "  # noqa: RUF001  # it is one
            "threshold 0.67 means 1.0",
        ),
        (
            [1],
            1,
            0.5,
            "1 scored grader × 1 run: the score can only be 0 or 1, so the threshold 0.5 means 1.0",  # noqa: RUF001  # it is one
        ),
        (
            [1, 1, 1],
            3,
            0.9,
            "3 scored graders × 3 runs: the score can be 0.89 or 1 and nothing between, so the "  # noqa: RUF001  # it is one
            "threshold 0.9 means 1.0",
        ),
        (
            [3, 1],
            1,
            0.4,
            "2 scored graders × 1 run: the score can only be 0, 0.25, 0.75 or 1, so the threshold "  # noqa: RUF001  # it is one
            "0.4 means 0.75",
        ),
    ],
)
def test_threshold_that_no_score_meets_is_told(
    weights: list[float], runs: int, threshold: float, text: str
) -> None:
    case = case_of(*({**SAID, "weight": weight} for weight in weights))

    assert told(case, runs=runs, threshold=threshold) == [text]


@pytest.mark.parametrize(
    ("weights", "runs", "threshold"),
    [
        ([1], 3, 1.0),
        ([1], 3, 0.0),
        ([1], 3, 0.66),
        ([1], 2, 0.5),
        ([1] * 5, 3, 0.8),
        ([1] * 5, 3, 0.75),
        ([1, 2, 4], 50, 0.95),
        ([1, 2, 4, 8, 16, 32, 64], 50, 0.95),
    ],
)
def test_threshold_that_a_score_meets_is_not_told(
    weights: list[float], runs: int, threshold: float
) -> None:
    case = case_of(*({**SAID, "weight": weight} for weight in weights))

    assert told(case, runs=runs, threshold=threshold) == []


@pytest.mark.parametrize(
    ("grader", "max_turns", "count"),
    [
        (FIRED, 1, 1),
        (file("a.txt"), 1, 1),
        (regex("x", target=FILE), 1, 1),
        (regex("a", target="files"), 1, 1),
        ({"type": "tool_order", "before": "Read", "after": "Write"}, 1, 1),
        (FIRED, 2, 0),
        (used("Write", min=0, max=0), 1, 0),
        (file("a.txt", exists=False), 1, 0),
        (regex("a", "not_contains", "files"), 1, 0),
        (regex("x"), 1, 0),
    ],
)
def test_single_turn_with_a_tool_check_is_told(grader: Fields, max_turns: int, count: int) -> None:
    texts = told(case_of(SAID, grader, max_turns=max_turns))

    assert sum(text.startswith("max_turns: 1 ends the run") for text in texts) == count
    assert len(texts) == count


def test_judge_without_criteria_is_told() -> None:
    [text] = told(case_of(SAID, {"type": "llm", "criteria": " \n"}))

    assert text == "grader 'b' has no criteria for the judge to vote by"


def test_hint_names_its_grader_and_no_case() -> None:
    [hint] = hints(
        case_of(SAID, used("Read", min=0)), Circumstances(offer=None, matches=found_in_python)
    )

    assert hint.grader == "b"
    assert "evals/it" not in hint.text


@pytest.mark.parametrize(
    ("grader", "use"),
    [
        (FIRED, SkillUse(wanted=True, unwanted=False)),
        ({**FIRED, "min": 0, "max": 0}, SkillUse(wanted=False, unwanted=True)),
        ({**FIRED, "max": 0}, SkillUse(wanted=False, unwanted=True)),
        (used("Bash", min=0, max=0), SkillUse(wanted=False, unwanted=False)),
        (
            regex('"name":"Skill"', "not_contains", "trace"),
            SkillUse(wanted=False, unwanted=True),
        ),
        (regex("x", "not_contains", "trace"), SkillUse(wanted=False, unwanted=False)),
    ],
)
def test_case_asks_for_or_against_skills(grader: Fields, use: SkillUse) -> None:
    assert skill_use(case_of(SAID, grader)) == use


WANTED, UNWANTED, NEITHER = SkillUse(True, False), SkillUse(False, True), SkillUse(False, False)


@pytest.mark.parametrize(
    ("uses", "count"),
    [
        ([WANTED, WANTED, NEITHER], 1),
        ([WANTED, WANTED, UNWANTED], 0),
        ([WANTED, WANTED], 0),
        ([NEITHER, NEITHER, NEITHER], 0),
        ([], 0),
    ],
)
def test_suite_without_a_negative_case_is_told(uses: list[SkillUse], count: int) -> None:
    assert len(suite_hints(uses)) == count


OWN = MappingProxyType({".mcp.json": '{"mcpServers": {"tracker": {"command": "false"}}}'})
CALLED = regex("x", target="mock_calls")
JUDGED: Fields = {"type": "llm", "criteria": "x", "focus": "mock_calls"}


def one_sided(root: Path, *graders: Fields, server: str = "tracker", **more: Any) -> list[str]:
    """Return the hints on Δ of a case whose plugin declares a tracker, with a mock."""
    write_tree(root, OWN)
    case = case_of(
        *graders,
        mocks=(MockServer(name=server, tools=(mock_tool(),)),),
        plugins=(Plugin(name="demo", path=root),),
    )
    return [text for text in told(case, **more) if "Δ says nothing" in text]


@pytest.mark.parametrize(
    ("graders", "names"),
    [
        ([CALLED], "grader 'a' looks at"),
        ([CALLED, JUDGED], "graders 'a' and 'b' look at"),
        ([{**CALLED, "arm": "both"}], "grader 'a' looks at"),
        ([FIRED, CALLED], "grader 'b' looks at"),
    ],
)
def test_case_that_only_the_with_arm_can_pass_is_told(
    tmp_path: Path, graders: list[Fields], names: str
) -> None:
    [text] = one_sided(tmp_path, *graders)

    assert text.startswith(f"{names} calls of the plugin's own servers")


@pytest.mark.parametrize(
    ("graders", "more"),
    [
        ([CALLED, SAID], {}),
        ([CALLED, SAID], {"unscored": frozenset("a")}),
        ([CALLED, used("Skill", min=0, max=0)], {}),
        ([FIRED], {}),
        ([CALLED], {"two_arms": False}),
        ([CALLED], {"server": "solo"}),
    ],
    ids=["another", "as it is", "negative", "no mock", "one arm", "standalone"],
)
def test_case_that_both_arms_can_pass_is_not_told(
    tmp_path: Path, graders: list[Fields], more: dict[str, Any]
) -> None:
    assert one_sided(tmp_path, *graders, **more) == []
