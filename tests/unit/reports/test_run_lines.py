"""The text that explains one run: its graders, what a judge saw, its reply."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_plugin_eval.reports.run_lines import fitted, run_failure_text
from pytest_plugin_eval.scoring.model import Verdict
from tests.support.golden import check_golden
from tests.support.results import aborted, attempted, judged, lost, run, unjudged, verdict


def _lines(*graded: Verdict, ascii_only: bool = False) -> list[str]:
    text = run_failure_text(run("with-1", graded), threshold=1.0, ascii_only=ascii_only)
    return text.splitlines()


def test_failed_run_is_explained() -> None:
    graded = (
        verdict("P", "flag", weight=3),
        verdict("F", "style", explanation="y" * 300),
        judged("F", "PF?", "tone", evidence="the reply", judge_model="claude-haiku-4-5-20251001"),
        verdict("F", "fired", with_only=True, scored=False),
        verdict("S", "nice", explanation="free graders only", scored=False),
    )

    text = run_failure_text(run("with-2", graded), threshold=1.0)

    check_golden("run-failure.txt", text + "\n")


def test_run_that_was_not_measured_says_so() -> None:
    text = run_failure_text(lost("with-2"), threshold=1.0)

    assert text.startswith(
        "not measured: API Error: 529 overloaded\n  no score: the run was not measured\n"
    )


def test_error_that_is_also_the_reply_is_told_once() -> None:
    report = lost("with-1")
    error = report.outcome.error or ""
    told = replace(report, last_message=f"{error}\n")

    text = run_failure_text(told, threshold=1.0)

    assert error
    assert text.count(error) == 1
    assert "reply" not in text


@pytest.mark.parametrize(
    ("evidence", "line"),
    [
        ("I looked.\nNothing found.", "      judged: the reply"),
        ("I looked.", "      judged: I looked."),
        ("", "      judged: empty text"),
    ],
)
def test_reply_that_was_judged_is_told_once(evidence: str, line: str) -> None:
    graded = (judged("F", "FFF", evidence=evidence),)
    report = replace(run("with-1", graded), last_message="I looked.\nNothing found.\n")

    lines = run_failure_text(report, threshold=1.0).splitlines()

    assert line in lines
    assert lines.count("    Nothing found.") == 1


def test_reply_of_one_long_line_is_cut_in_the_middle() -> None:
    report = replace(run("with-1", "F"), last_message=f"begin {'x' * 9999} end")

    lines = run_failure_text(report, threshold=1.0).splitlines()

    shown = lines[lines.index("  reply ends:") + 1]
    assert shown.startswith("    begin xxx")
    assert shown.endswith("xxx end")
    assert len(shown) < 300


@pytest.mark.parametrize("width", [40, 80])
def test_text_fits_the_terminal_but_for_what_is_copied(width: int) -> None:
    copied = [f"  trace: a b{'/c d' * 30}", f"    pytest {'--opt=1 ' * 20}-x"]
    text = "\n".join(
        [
            f"wrong: {'word ' * 40}",
            f"  ✗ g (weight 1): {'word ' * 40}",
            copied[0],
            f"  next: {'try it ' * 20}",
            copied[1],
        ]
    )

    lines = fitted(text, width).split("\n")

    assert [line for line in lines if len(line) > width] == copied
    assert "".join(text.split()) == "".join("".join(lines).split())
    assert lines[1].startswith("    word")
    assert [line for line in lines if line.startswith("      word")]


def test_aborted_run_says_which_mock_and_why() -> None:
    lines = run_failure_text(aborted("with-2"), threshold=1.0).splitlines()

    assert lines[:2] == [
        "aborted by a mock: tracker/find: x is bad",
        "  score 0.00, threshold 1.00",
    ]


def test_passed_run_is_explained_without_its_reply() -> None:
    text = run_failure_text(run("with-1"), threshold=1.0)

    assert text == "  score 1.00, threshold 1.00\n  ✓ g1 (weight 1): matched x"


def test_failure_text_without_unicode() -> None:
    text = run_failure_text(run("with-1", "PFS"), threshold=1.0, ascii_only=True)

    assert [line[2] for line in text.splitlines()[2:5]] == ["+", "x", "-"]
    assert text.isascii()


def test_run_of_several_attempts_says_so() -> None:
    text = run_failure_text(attempted(run("with-1"), 2), threshold=1.0)

    assert text.startswith("  score 1.00, threshold 1.00 (2 attempts)\n")


@pytest.mark.parametrize(
    ("evidence", "shown"),
    [
        ("one line", ["judged: one line"]),
        ("", ["judged: empty text"]),
        (" \n ", ["judged: empty text"]),
        ("a\nb\n", ["judged:", "  | a", "  | b"]),
        ("\x1b[2Ja\x00b", ["judged: \ufffd[2Ja\ufffdb"]),
        ("a\r\nb", ["judged:", "  | a", "  | b"]),
        ("\ud800", ["judged: \ufffd"]),
        (
            "\n".join(map(str, range(11))),
            ["judged:", *(f"  | {number}" for number in range(11))],
        ),
        (
            "\n".join(map(str, range(100))),
            [
                "judged:",
                *(f"  | {number}" for number in range(6)),
                "  | [… 90 lines left out]",
                *(f"  | {number}" for number in range(96, 100)),
            ],
        ),
        ("a" * 150 + "b" * 100 + "c" * 50, [f"judged: {'a' * 150} [… +100 chars] {'c' * 50}"]),
    ],
    ids=[
        "line",
        "empty",
        "blank",
        "lines",
        "control characters",
        "lines of another system",
        "surrogate",
        "not worth a cut",
        "many lines",
        "long line",
    ],
)
def test_failed_judge_grader_shows_head_and_tail_of_what_was_judged(
    evidence: str, shown: list[str]
) -> None:
    lines = _lines(judged("F", "FFF", evidence=evidence))

    at = lines.index("      judge: claude-haiku-4-5") + 1
    assert lines[at : at + len(shown)] == [f"      {line}" for line in shown]
    assert lines[at + len(shown)] == "  reply ends:"


def test_evidence_of_any_size_takes_few_short_lines() -> None:
    lines = _lines(judged("F", "FFF", evidence="\n".join(["z" * 5000] * 5000)))

    assert len(lines) < 25
    assert max(map(len, lines)) < 250


def test_evidence_without_unicode() -> None:
    evidence = "\n".join("größe" for _ in range(20))

    lines = _lines(judged("F", "FFF", evidence=evidence), ascii_only=True)

    assert "".join(lines).isascii()
    assert "        | [... 10 lines left out]" in lines


def test_passed_judge_grader_is_one_line() -> None:
    assert _lines(judged("P", "PFP"))[1:] == ["  ✓ tone (weight 1): judge votes: PASS FAIL PASS"]


def test_baseline_grader_has_votes_and_no_evidence() -> None:
    lines = _lines(replace(judged("F", "FFF", evidence=None), type="baseline"))

    assert lines[2:4] == [
        "  ✗ tone (weight 1): judge votes: FAIL FAIL FAIL",
        "      judge: claude-haiku-4-5",
    ]
    assert "judged:" not in "".join(lines)


@pytest.mark.parametrize(
    ("votes", "note"),
    [("PF?", ", 1 vote unreadable, as FAIL"), ("???", ", 3 votes unreadable, as FAIL")],
)
def test_unreadable_votes_are_told(votes: str, note: str) -> None:
    assert f"      judge: claude-haiku-4-5{note}" in _lines(judged("F", votes))


@pytest.mark.parametrize(
    ("status", "headline", "mark", "why"),
    [
        (
            "E",
            "a grader errored: grader tone came to no verdict, ",
            "!",
            "the judge gave no answer: 529 overloaded",
        ),
        (
            "S",
            "not judged: grader 'tone' skipped: ",
            "\N{EN DASH}",
            "cost ceiling $0.12 reached",
        ),
    ],
)
def test_run_that_no_judge_judged_was_not_measured(
    status: str, headline: str, mark: str, why: str
) -> None:
    lines = _lines(verdict("P"), unjudged(status, why))

    assert lines[:2] == [f"{headline}{why}", "  no score: the run was not measured"]
    assert lines[3] == f"  {mark} tone (weight 1): {why}"
