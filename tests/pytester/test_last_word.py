"""The last line of a session agrees with its exit status, whatever led to it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_plugin_eval.records.model import Ending
from tests.pytester.conftest import Suite

Make = Callable[[Suite], None]


def _good(suite: Suite) -> None:
    suite.case("good")
    suite.records("good", "hh", "g")


def _bad(suite: Suite) -> None:
    _good(suite)
    suite.case("bad")
    suite.records("bad", "hg", "g")


def _lost(suite: Suite) -> None:
    _good(suite)
    suite.case("gone")
    suite.record("gone", "with", 1, ending=Ending.NO_RESULT, error="killed")


def _broken(suite: Suite) -> None:
    _good(suite)
    suite.case("broken", graders={"hello": "---\ntype: nothing\n---\n"})


def _other(suite: Suite) -> None:
    _good(suite)
    text = "def test_bad(): assert 0\ndef test_good(): pass\n"
    (suite.root / "test_other.py").write_text(text, encoding="utf-8")


def _interrupt(suite: Suite) -> None:
    _good(suite)
    text = "def test_it(): raise KeyboardInterrupt\n"
    (suite.root / "test_other.py").write_text(text, encoding="utf-8")


SESSIONS: list[tuple[str, Make, list[str], str]] = [
    ("good", _good, [], "0: the one case met its threshold"),
    ("bad", _bad, [], "1: 1 of 2 cases missed the threshold (bad)"),
    (
        "reported",
        _bad,
        ["--eval-report-only"],
        "0: scores are only reported (--eval-report-only): 1 of 2 cases missed the threshold (bad)",
    ),
    ("low", _bad, ["--eval-threshold=0.5"], "0: each of the 2 cases met its threshold"),
    (
        "delta",
        _bad,
        ["--eval-threshold=0.5", "--eval-min-delta=0.8"],
        "1: 1 of 2 cases missed --eval-min-delta (bad)",
    ),
    ("lost", _lost, [], "1: 1 of 4 runs was not measured (gone)"),
    ("lost reported", _lost, ["--eval-report-only"], "1: 1 of 4 runs was not measured (gone)"),
    ("broken", _broken, [], "1: 1 case did not load"),
    ("broken reported", _broken, ["--eval-report-only"], "1: 1 case did not load"),
    ("composite", _good, ["--eval-min-composite=99"], "1: *--eval-min-composite 99*"),
    (
        "composite reported",
        _good,
        ["--eval-min-composite=99", "--eval-report-only"],
        "0: scores are only reported (--eval-report-only): *--eval-min-composite 99*",
    ),
    ("without", _good, ["-k", "without"], "0: no case got a verdict, *"),
    ("none", _good, ["-k", "nothing"], "5: no case was run"),
    ("other", _other, ["test_other.py"], "1: 1 other test failed"),
    # xdist calls it an interrupt.
    ("exitfirst", _bad, ["-x"], "[12]: *1 of 2 cases missed the threshold (bad)*"),
]


# What the status comes of reaches it by another way there; what options make of it does not.
UNDER_XDIST = ("bad", "lost", "broken", "composite", "none", "other", "exitfirst")


@pytest.mark.parametrize(
    ("make", "options", "text", "workers"),
    [
        pytest.param(*row, workers, id=f"{name}-{workers}")
        for name, *row in SESSIONS
        for workers in ("0", "2")
        if workers == "0" or name in UNDER_XDIST
    ],
)
def test_last_line_agrees_with_the_status(
    suite: Suite, make: Make, options: list[str], text: str, workers: str
) -> None:
    make(suite)

    result = suite.replay("evals", "-n", workers, *options)

    last = [line for line in result.outlines if line.strip()][-1]
    assert last.startswith(f"exit status {int(result.ret)}: "), last
    result.stdout.fnmatch_lines([f"exit status {text}"])


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--eval-min-composite=1"], "0: 2 skills reached the least composite score"),
        (["--eval-min-composite=99"], "1: 2 of 2 skills are below the least composite score"),
        (
            ["--eval-min-composite=99", "--eval-report-only"],
            "0: scores are only reported (--eval-report-only): "
            "2 of 2 skills are below the least composite score",
        ),
    ],
    ids=["reached", "below", "reported"],
)
def test_session_of_skills_alone_says_why(
    suite: Suite, options: list[str], text: str, workers: str
) -> None:
    for name in ("one", "two"):
        skill = suite.root / "skills" / name / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(f"---\nname: {name}\ndescription: Says {name}.\n---\nSay it.\n")

    result = suite.pytester.runpytest("skills", "--eval-score", "-n", workers, *options)

    assert result.outlines[-1] == f"exit status {text}"


def test_skill_that_cannot_be_scored_is_no_low_score(suite: Suite) -> None:
    skill = suite.root / "skills" / "one" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_bytes(b"\xff\xfe\x00")

    result = suite.pytester.runpytest("skills", "--eval-score", "--eval-min-composite=1")

    assert result.outlines[-1] == f"exit status {int(result.ret)}: 1 skill could not be scored"


def test_interrupt_says_so(suite: Suite) -> None:
    _interrupt(suite)

    result = suite.pytester.runpytest_subprocess("--eval-mode=replay", "evals", "test_other.py")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert result.outlines[-1] == "exit status 2: the session was interrupted"


def test_evals_that_nobody_named_say_why_nothing_ran(suite: Suite) -> None:
    _good(suite)

    result = suite.pytester.runpytest()

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert result.outlines[-1] == (
        "exit status 5: no case was run, since no argument names the evals"
    )


def test_status_of_another_plugin_is_not_claimed(suite: Suite) -> None:
    _good(suite)
    suite.pytester.makeconftest(
        "import pytest\n"
        "@pytest.hookimpl(trylast=True)\n"
        "def pytest_sessionfinish(session): session.exitstatus = 9\n"
    )

    result = suite.replay("evals")

    assert result.outlines[-1] == ("exit status 9: a check of pytest's or of another plugin failed")


@pytest.mark.parametrize("options", [[], ["--collect-only"], ["-qq"]], ids=" ".join)
def test_nothing_is_said_without_evals_or_where_nothing_is_wanted(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    pytester.makepyfile("def test_it(): pass")

    result = pytester.runpytest(*options)

    assert "exit status" not in result.stdout.str()


@pytest.mark.parametrize(("option", "is_told"), [("-q", True), ("-qq", False)])
def test_quiet_sessions_keep_the_line_until_nothing_is_left(
    suite: Suite, option: str, is_told: bool
) -> None:
    _good(suite)

    result = suite.replay("evals", option)

    assert ("exit status 0: " in result.stdout.str()) is is_told
