"""Patterns as V8 answers them, and the shortcuts that must not differ."""

from __future__ import annotations

import subprocess
import sys

import pytest
from py_mini_racer import JSEvalException, JSOOMException, JSTimeoutException

from pytest_plugin_eval.graders import javascript
from pytest_plugin_eval.graders.javascript import Failure, Question, ask, compile_errors

# Backtracks for longer than anybody waits.
ENDLESS = Question("(a+)+$", "", "a" * 40 + "b")
TEXT = "ab\n\U0001f600 aaaa"


def answer(source: str, flags: str = "", text: str = TEXT, *, counting: bool = False) -> object:
    question = Question(source, flags, text, counting)
    return ask([question], 30.0)[question]


@pytest.mark.parametrize(
    ("source", "flags", "expected"),
    [
        # Counts seen with the reference command on this very text.
        ("b", "y", 0),
        ("a", "gy", 1),
        ("", "", 11),
        ("", "u", 10),
        ("", "v", 10),
        (".", "", 9),
        (".", "u", 8),
        (".", "s", 10),
        (".", "d", 9),
        ("aa", "", 2),
        ("^.", "m", 2),
        ("A", "i", 5),
        ("a*?", "", 11),
        ("\ud83d", "", 1),
        ("\ud83d", "u", 0),
        ("\U0001f600", "", 1),
        ("\n", "", 1),
    ],
)
def test_counts(source: str, flags: str, expected: int) -> None:
    assert answer(source, flags, counting=True) == expected


@pytest.mark.parametrize(
    ("source", "flags", "text", "expected"),
    [
        pytest.param("a$", "", "a\n", 0, id="$ is the very end"),
        pytest.param("^b", "", "a\nb", 0, id="^ is the very start"),
        pytest.param(r"\w", "", "é", 0, id="word characters are ASCII"),
        pytest.param(r"\p{L}", "u", "é", 1, id="properties need u"),
        pytest.param(r"(?<=a)b", "", "ab", 1, id="lookbehind"),
        pytest.param(r"(?<n>.)\k<n>", "", "aa", 1, id="named group"),
        pytest.param(r"(?i:abc)", "", "ABC", 1, id="modifier group"),
        pytest.param(r"\Z", "", "Z", 1, id="identity escape"),
        pytest.param(r"{,2}", "", "{,2}", 1, id="literal braces"),
        pytest.param(r"\101", "", "A", 1, id="octal"),
        pytest.param("[^]", "", "\n", 1, id="any"),
        pytest.param("b", "y", "ab", 0, id="sticky"),
        pytest.param("", "", "", 1, id="empty"),
        pytest.param("one|two", "", "two", 1, id="words"),
        pytest.param("one|two", "", "tw", 0, id="no word"),
        pytest.param("|x", "", "", 1, id="empty word"),
        pytest.param("k", "i", "\u212a", 0, id="the kelvin sign is no k"),
        pytest.param("i", "i", "\u0130\u0131", 0, id="nor dotted and dotless I an i"),
        pytest.param("s", "i", "\u017f", 0, id="nor the long s an s"),
        pytest.param("s", "iu", "\u017f", 1, id="but with u it is"),
        pytest.param("É", "i", "é", 1, id="beyond ASCII the engine decides"),
        pytest.param("x", "", "\ud800x", 1, id="lone surrogate in the text"),
    ],
)
def test_searches(source: str, flags: str, text: str, expected: int) -> None:
    assert answer(source, flags, text) == expected


def test_compile_errors_are_the_engines_own_words() -> None:
    patterns = [("(?i)abc", ""), ("plain", ""), ("(", ""), ("a", "uv"), ("a", "ii"), ("[", "v")]

    errors = compile_errors(patterns)

    assert [error is None for error in errors] == [False, True, False, False, False, False]
    assert errors[0] == "Invalid regular expression: /(?i)abc/: Invalid group"
    assert compile_errors([("plain", ""), ("", "g")]) == [None, None]


def test_question_that_does_not_compile_fails_alone() -> None:
    bad, good = Question("(", "", "x"), Question("[x]", "", "x")

    answers = ask([bad, good], 30.0)

    assert answers[good] == 1
    assert answers[bad] == Failure("Invalid regular expression: /(/: Unterminated group")


def test_endless_pattern_is_stopped_and_its_neighbours_answered() -> None:
    before, after = Question("[a]", "", "a"), Question("[b]", "", "a")

    answers = ask([before, ENDLESS, after], 0.5)

    assert answers[before] == 1
    assert answers[ENDLESS] == Failure("the pattern was stopped after 0.5 s")
    assert answers[after] == 0


def test_call_that_is_stopped_before_it_begins_answers_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call = javascript._engine.call
    limits: list[float] = []

    def stopping(function: str, *arguments: object, timeout_s: float) -> object:
        if function == "ask":
            raise JSTimeoutException
        limits.append(timeout_s)
        return call(function, *arguments, timeout_s=timeout_s)

    assert answer("[a]", text="a") == 1
    monkeypatch.setattr(javascript._engine, "call", stopping)

    answers = ask([Question("[b]", "", "a")], 0.25)

    assert list(answers.values()) == [Failure("the pattern was stopped after 0.25 s")]
    # On a busy machine fetching what was answered takes its time too.
    assert min(limits) > 1


def test_engine_is_usable_after_a_stopped_pattern() -> None:
    ask([ENDLESS], 0.2)

    assert answer("[a]+", text="aaa", counting=True) == 1


def test_engine_is_not_imported_for_plain_patterns() -> None:
    code = (
        "import sys\n"
        "from pytest_plugin_eval.graders.javascript import Question, ask, compile_errors\n"
        "assert compile_errors([('one|two', 'i')]) == [None]\n"
        "assert list(ask([Question('one|two', 'i', 'TWO')], 1).values()) == [1]\n"
        "sys.exit('py_mini_racer' in sys.modules)\n"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (JSOOMException("heap"), "the pattern needs more memory than a grader may use"),
        (JSEvalException("Error: odd\nat x"), "Error: odd"),
    ],
    ids=["memory", "other"],
)
def test_question_that_breaks_the_engine_fails_alone(
    monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    good, bad = Question("[a]", "", "a"), Question("[b]", "", "a")
    call = javascript._engine.call

    def breaking(function: str, *arguments: object, timeout_s: float) -> object:
        if "[b]" in str(arguments):
            raise error
        return call(function, *arguments, timeout_s=timeout_s)

    monkeypatch.setattr(javascript._engine, "call", breaking)

    assert ask([good, bad], 30.0) == {good: 1, bad: Failure(reason)}
