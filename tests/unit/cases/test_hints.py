"""What authors may have overlooked: each hint where it is due, and silence where it is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from pytest_plugin_eval.cases.advisories import offer
from pytest_plugin_eval.cases.hints import (
    Circumstances,
    SkillUse,
    hints,
    skill_use,
    suite_hints,
)
from pytest_plugin_eval.cases.mock import MockServer
from pytest_plugin_eval.cases.model import Case, GraderSpec, Source
from pytest_plugin_eval.cases.plugin_skills import Skill
from tests.support.mocks import mock_tool

GRADER: TypeAdapter[GraderSpec] = TypeAdapter(GraderSpec)
Fields = dict[str, object]
FILE: Fields = {"source": "file", "path": "a.txt"}
SKILL = Skill("demo", "greet")
COINED = Skill("demo", "commit-message")
FIRED: Fields = {"type": "tool_used", "tool": "Skill"}
SAID: Fields = {"type": "regex", "pattern": "hello"}


def case_of(*graders: Fields, **fields: object) -> Case:
    """Return a case with these graders, named a, b, c unless they have names."""
    named = [{"name": "abcdefg"[number], **grader} for number, grader in enumerate(graders)]
    values: Fields = {
        "id": "evals/it",
        "directory": Path("evals/it"),
        "eval_dir": Path("evals"),
        "root": Path(),
        "name": "it",
        "source": Source.PROSE,
        "prompt": "Do it",
        "graders": tuple(map(GRADER.validate_python, named)),
        **fields,
    }
    return Case(**values)  # type: ignore[arg-type]  # fields of a test's choice


def found_in_python(pattern: str, flags: str, text: str) -> bool:
    """Search as JavaScript would, for patterns that mean the same to both."""
    return re.search(pattern, text, re.IGNORECASE if "i" in flags else 0) is not None


def told(case: Case, *, grants: tuple[str, ...] | None = ("Write",), **more: object) -> list[str]:
    """Return the texts of the hints of a case, with *grants*, ``None`` for a replay."""
    values: Fields = {
        "offer": None if grants is None else offer(case, grants=grants, disallowed=()),
        "matches": found_in_python,
        **more,
    }
    return [hint.text for hint in hints(case, Circumstances(**values))]  # type: ignore[arg-type]  # fields of a test's choice


def _regex(pattern: str, match: str = "contains", target: object = "last_message") -> Fields:
    return {"type": "regex", "pattern": pattern, "match": match, "target": target}


def _used(tool: str, **more: object) -> Fields:
    return {"type": "tool_used", "tool": tool, **more}


def _file(path: str, **more: object) -> Fields:
    return {"type": "file_exists", "path": path, **more}


@pytest.mark.parametrize(
    ("grader", "part"),
    [
        (_used("Read", min=0), "any number of calls"),
        (_used("Bash", min=0, max=0, input_match='"command": "rm'), "space after the colon"),
        (_file("./a.txt", exists=False), "matches no path"),
        (_file("*.{md,txt}", exists=False), "braces for themselves"),
        (_regex(""), "found in every text"),
        (_regex(".*"), "found in every text"),
        (_regex("^.*", target="trace"), "found in every text"),
        (_regex("one|two|"), "found in every text"),
        (_regex("one||two", target="files"), "found in every text"),
        (_regex(r"^[\s\S]*$"), "found in every text"),
    ],
)
def test_grader_that_cannot_fail_is_told(grader: Fields, part: str) -> None:
    [text] = told(case_of(SAID, grader))

    assert text.startswith("grader 'b' cannot fail: ")
    assert part in text


@pytest.mark.parametrize(
    "grader",
    [
        _used("Read", min=0, max=3),
        _used("Read", min=1),
        _used("Read"),
        _used("Bash", min=1, input_match=r'"command":\s*"rm'),
        _used("Bash", min=1, input_match='"command": ?"rm'),
        _used("Bash", min=1, input_match='"command": *"rm'),
        _used("Bash", min=1, input_match='"command":"rm|"command": "rm'),
        _used("Bash", min=1, input_match='"command":(?: "|")rm'),
        _file("a.txt", exists=False),
        _file("app/[id]/page.tsx"),
        _file("a{b}.txt"),
        _file("**/a.md"),
        _file(".github/*.yml"),
        _regex(".+"),
        _regex("^.*$"),
        _regex("(?:one|two|)x"),
        _regex("[|]"),
        _regex(r"one\|"),
        _regex("(one)"),
        _regex("", target=FILE),
        _regex("", match="count:3"),
        _regex("x", match="not_contains", target="files"),
        _regex("x", match="count:0", target="files"),
        {"type": "tool_order", "before": "Read", "after": "Write"},
        {"type": "tool_order", "before": "Read", "after": {"tool": "Read", "input_match": "x"}},
        {"type": "llm", "criteria": "It is nice"},
    ],
)
def test_grader_that_can_do_both_is_not_told(grader: Fields) -> None:
    case = case_of(SAID, grader, prompt="")

    assert told(case, grants=("Write", "Bash"), matches=lambda *_: False) == []


@pytest.mark.parametrize(
    ("grader", "part"),
    [
        (_used("Bash", min=0, max=0), "Bash is not granted"),
        (_used("WebFetch", min=0, max=2), "WebFetch is not granted"),
        (_used("Monitor", min=0, max=0), "no eval run offers Monitor"),
        (_used("Read", min=0, max=0), "Read is taken away"),
        (_file("a.txt", exists=False), "no granted tool can make a file"),
        (_regex("a", match="not_contains", target="files"), "no granted tool can make a file"),
        (_regex("a", match="count:0", target="files"), "no granted tool can make a file"),
    ],
)
def test_grader_that_the_grants_leave_nothing_to_fail_on_is_told(grader: Fields, part: str) -> None:
    case = case_of(SAID, grader, disallowed_tools=("Read",))

    [text] = told(case, grants=("WebSearch",))

    assert text.startswith("grader 'b' can hardly fail: ")
    assert part in text


def test_grants_are_not_guessed_in_a_replay() -> None:
    case = case_of(SAID, _used("Bash", min=0, max=0), _file("a", exists=False))

    assert told(case, grants=None) == []


def test_graders_of_one_cause_are_told_together() -> None:
    [text] = told(case_of(SAID, _used("Bash", min=0, max=0), _used("Bash", min=0, max=1)))

    assert text.startswith("graders 'b' and 'c' can hardly fail: ")


@pytest.mark.parametrize(
    ("grader", "part"),
    [
        (_file("/a.txt"), "matches no path"),
        (_file("a/../b.txt"), "matches no path"),
        (_file("out/"), "matches no path"),
        (_file(""), "matches no path"),
        (_file("{a,b}.txt"), "braces for themselves"),
        (_regex("x", target={"source": "file", "path": "*.md"}), "by that very name"),
        (_regex("x", target={"source": "file", "path": "/etc/x"}), "not in the workspace"),
        (_regex("x", target={"source": "file", "path": "a/../../x"}), "not in the workspace"),
        (_regex("x", target={"source": "file", "path": "."}), "is a directory"),
        (_regex("x", target="mock_calls"), "no mocks/ directory"),
        ({"type": "llm", "criteria": "x", "focus": "mock_calls"}, "no mocks/ directory"),
        (_regex("", match="not_contains"), "found in every text"),
        (_used("Bash", input_match='"command": "ls"'), "space after the colon"),
        (_used("Skill", input_match='"skill": "(?:demo:)?greet"'), "space after the colon"),
        ({"type": "tool_order", "before": "Read", "after": "Read"}, "cannot come before itself"),
    ],
)
def test_grader_that_cannot_pass_is_told(grader: Fields, part: str) -> None:
    [text] = told(case_of(SAID, grader))

    assert text.startswith("grader 'b' cannot pass: ")
    assert part in text


def test_grader_that_the_reference_tells_of_is_not_told_twice() -> None:
    assert told(case_of(SAID, _file("/a.txt")), advised=frozenset({"b"})) == []


def test_max_of_zero_alone_is_left_to_loading() -> None:
    assert told(case_of(SAID, _used("Bash", max=0), _used("Bash"))) == []


def test_mock_calls_of_a_case_with_mocks_can_pass() -> None:
    mocks = (MockServer(name="tracker", tools=(mock_tool(),)),)

    assert told(case_of(SAID, _regex("x", target="mock_calls"), mocks=mocks)) == []


def test_mock_calls_of_a_case_whose_mocks_are_off_cannot_pass() -> None:
    case = case_of(SAID, _regex("x", target="mock_calls"), mock_servers=("tracker",))

    [text] = told(case)

    assert text.endswith("no mocks/ directory applies to this case, or mocks are off")


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        (_regex("x"), _regex("x", "not_contains"), "the pattern 'x' in last_message"),
        (_regex("x", "count:2"), _regex("x", "count:3"), "the pattern 'x' in last_message"),
        (_regex("x", target=FILE), _regex("x", "count:0", FILE), "'x' in file a.txt"),
        (_file("a.txt"), _file("a.txt", exists=False), "the file 'a.txt'"),
        (_used("Read"), _used("Read", min=0, max=0), "calls of Read"),
        (_used("Read", input_match="x"), _used("Read", min=0, max=0), "calls of Read"),
        (_used("Read", min=3), _used("Read", max=2), "calls of Read"),
        (
            {"type": "tool_order", "before": "Glob", "after": "Read"},
            _used("Read", min=0, max=0),
            "calls of Read",
        ),
    ],
)
def test_graders_that_cannot_both_pass_are_told(one: Fields, other: Fields, what: str) -> None:
    texts = told(case_of(SAID, one, other))

    assert [text for text in texts if what in text] == [
        text for text in texts if text.startswith("graders 'b' and 'c' cannot both pass: ")
    ]
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_regex("x"), _regex("y", "not_contains")),
        (_regex("x"), _regex("x", "not_contains", "trace")),
        (_regex("x"), {**_regex("x", "not_contains"), "flags": "i"}),
        (_regex("x"), _regex("x", "count:2")),
        (_file("a.txt"), _file("b.txt", exists=False)),
        (_used("Read"), _used("Grep", min=0, max=0)),
        (_used("Read"), _used("Read", input_match="x", min=0, max=0)),
        (_used("Read", min=2), _used("Read", max=2)),
    ],
)
def test_graders_that_can_both_pass_are_not_told(one: Fields, other: Fields) -> None:
    assert told(case_of(SAID, one, other)) == []


SERVERS = (("demo", "tracker"),)


@pytest.mark.parametrize(
    ("tool", "part"),
    [
        ("search", "'mcp__plugin_demo_tracker__search'"),
        ("tracker__search", "'mcp__plugin_demo_tracker__search'"),
        ("mcp__tracker__search", "'mcp__plugin_demo_tracker__search'"),
        ("bash", "did you mean 'Bash'?"),
        ("Wrte", "did you mean 'Write'?"),
        ("Bash(git *)", "write tool: Bash"),
        ("greet", """input_match: '"skill":"(?:demo:)?greet"'"""),
        ("demo:greet", "is a skill and no tool"),
    ],
)
def test_tool_of_a_wrong_name_is_told(tool: str, part: str) -> None:
    case = case_of(SAID, _used(tool))

    [text] = told(case, servers=SERVERS, skills=(SKILL,))

    assert text.startswith("grader 'b': ")
    assert part in text


@pytest.mark.parametrize(
    "tool",
    ["Read", "Task", "mcp__plugin_demo_tracker__search", "mcp__other__search", "Monitor"],
)
def test_tool_of_a_right_name_is_not_told(tool: str) -> None:
    assert told(case_of(SAID, _used(tool)), servers=SERVERS) == []


@pytest.mark.parametrize("tool", ["search", "Frobnicate", "mcp__tracker__search"])
def test_unknown_tool_may_be_one_of_a_later_version(tool: str) -> None:
    assert told(case_of(SAID, _used(tool))) == []


def test_listed_tool_of_a_server_is_told_by_its_full_name() -> None:
    case = case_of(SAID, _used("Read"), allowed_tools=("Read", "search", "Wrte"))

    [text] = told(case, servers=SERVERS)

    assert text.startswith("allowed_tools: 'search' is no built-in tool")


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
    assert told(case_of(SAID, _used("Read"), prompt="/demo:greet Ann"), skills=(SKILL,)) == []


@pytest.mark.parametrize(
    "graders",
    [
        [SAID],
        [SAID, {"type": "llm", "criteria": "x"}],
        [{**SAID, "weight": 2}, _regex("bye"), {**FIRED, "weight": 5}],
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
        [_regex("good day")],
        [SAID, _regex("good day"), _regex("Ann, dear")],
        [{**SAID, "match": "count:1"}],
        [{**SAID, "target": FILE}],
        [SAID, {**_regex("good day"), "weight": 2}],
    ],
)
def test_small_share_for_repeating_the_prompt_is_not_told(graders: list[Fields]) -> None:
    assert told(case_of(*graders, prompt="Say hello to Ann")) == []


def test_engine_is_not_asked_where_its_answer_would_not_matter() -> None:
    asked: list[str] = []

    def matches(pattern: str, flags: str, text: str) -> bool:
        asked.append(pattern)
        return found_in_python(pattern, flags, text)

    case = case_of(_regex("^hard$"), _regex("plain"), _file("a.txt"), prompt="Say hello")

    assert told(case, matches=matches) == []
    assert asked == ["plain"]


def test_answer_that_quotes_the_prompt_is_told_of_a_pattern_to_be_absent() -> None:
    case = case_of(_regex("reset --hard", "not_contains"), prompt="Never use git reset --hard")

    [text] = told(case)

    assert text.startswith("grader 'a' would fail an answer that quotes the prompt")


def test_case_of_tool_calls_only_is_told() -> None:
    [text] = told(case_of(FIRED, _used("Read")), skills=(SKILL,))

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
        (_regex("greet", target="trace"), (SKILL,)),
        (_used("Agent"), (SKILL,)),
        ({"type": "llm", "criteria": "x", "focus": "trace"}, (SKILL,)),
        (_regex("x"), ()),
        (_regex("x"), (Skill("demo", "greet", user_only=True),)),
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
        (_file("a.txt"), 1, 1),
        (_regex("x", target=FILE), 1, 1),
        (_regex("a", target="files"), 1, 1),
        ({"type": "tool_order", "before": "Read", "after": "Write"}, 1, 1),
        (FIRED, 2, 0),
        (_used("Write", min=0, max=0), 1, 0),
        (_file("a.txt", exists=False), 1, 0),
        (_regex("a", "not_contains", "files"), 1, 0),
        (_regex("x"), 1, 0),
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
        case_of(SAID, _used("Read", min=0)), Circumstances(offer=None, matches=found_in_python)
    )

    assert hint.grader == "b"
    assert "evals/it" not in hint.text


@pytest.mark.parametrize(
    ("grader", "use"),
    [
        (FIRED, SkillUse(wanted=True, unwanted=False)),
        ({**FIRED, "min": 0, "max": 0}, SkillUse(wanted=False, unwanted=True)),
        ({**FIRED, "max": 0}, SkillUse(wanted=False, unwanted=True)),
        (_used("Bash", min=0, max=0), SkillUse(wanted=False, unwanted=False)),
        (
            _regex('"name":"Skill"', "not_contains", "trace"),
            SkillUse(wanted=False, unwanted=True),
        ),
        (_regex("x", "not_contains", "trace"), SkillUse(wanted=False, unwanted=False)),
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
