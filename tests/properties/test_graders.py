"""Globs against a slow reading of their rules, and plain patterns against the engine."""

from __future__ import annotations

from functools import cache

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_plugin_eval.graders.glob import Glob
from pytest_plugin_eval.graders.javascript import Failure, Question, ask
from pytest_plugin_eval.graders.well_formed import is_well_formed

LINE_ENDS = "\n\r\u2028\u2029"


def slow_match(glob: str, path: str) -> bool:
    """Try every way in which a glob of BMP characters may match."""

    @cache
    def match(i: int, j: int) -> bool:
        if i == len(glob):
            return j == len(path)
        rest = range(j, len(path) + 1)
        if glob.startswith("**/", i):
            return match(i + 3, j) or any(
                path[k - 1 : k] == "/" and on_one_line(j, k - 1) and match(i + 3, k)
                for k in rest[1:]
            )
        if glob.startswith("**", i):
            return any(on_one_line(j, k) and match(i + 2, k) for k in rest)
        if glob[i] == "*":
            return any("/" not in path[j:k] and match(i + 1, k) for k in rest)
        if j == len(path):
            return False
        if glob[i] == "?":
            return path[j] not in LINE_ENDS and match(i + 1, j + 1)
        return glob[i] == path[j] and match(i + 1, j + 1)

    def on_one_line(start: int, end: int) -> bool:
        return not set(path[start:end]) & set(LINE_ENDS)

    return match(0, 0)


@given(st.text("ab/*?*", max_size=8), st.text("ab/", max_size=8))
@example("***/a", "a")
@example("**/**/a", "a")
def test_glob_agrees_with_trying_every_way(glob: str, path: str) -> None:
    assert Glob(glob).matches(path) is slow_match(glob, path)


@given(st.text("a/*?\n", max_size=7), st.text("a/\n\r\u2028", max_size=7))
def test_glob_agrees_at_line_ends(glob: str, path: str) -> None:
    assert Glob(glob).matches(path) is slow_match(glob, path)


@given(st.text())
def test_glob_without_signs_matches_itself_alone(text: str) -> None:
    name = text.replace("*", "").replace("?", "")

    assert Glob(name).matches(name)
    assert not Glob(name).matches(name + "x")


WORDS = st.text("aAkKsSiI-|\u00e9\u0130\u0131\u017f\u212a\n", max_size=4)


@given(WORDS, WORDS.flatmap(lambda word: st.text(max_size=3).map(lambda text: word + text)))
def test_plain_patterns_are_answered_as_the_engine_does(source: str, text: str) -> None:
    # The d flag changes no match and keeps a question from the shortcut.
    questions = [
        (Question(source, flags, text, counting), Question(source, flags + "d", text, counting))
        for flags in ("", "g", "i", "gi")
        for counting in (False, True)
    ]

    answers = ask([question for pair in questions for question in pair], 30.0)

    assert [answers[plain] for plain, _ in questions] == [answers[hard] for _, hard in questions]


PATTERN_PARTS = [
    *"abz09-^$.|()[]{}*+?,/é\\",
    r"\d",
    r"\b",
    r"\.",
    "(?:",
    "(?=",
    "(?<!",
    "[^",
    "a-z",
]
PATTERN_PARTS += ["{2,}", "{3}", "{1,2}", "{2,1}"]


@given(
    parts=st.lists(st.sampled_from(PATTERN_PARTS), max_size=14),
    flags=st.sampled_from(["", "g", "m", "is", "dy"]),
)
def test_patterns_believed_without_the_engine_compile(parts: list[str], flags: str) -> None:
    source = "".join(parts)
    # An empty class: one that the engine certainly has to be asked about.
    asked = Question(f"(?:{source})[]", flags, "")

    answers = ask([asked], 30.0)

    assert not (is_well_formed(source, flags) and isinstance(answers[asked], Failure))
