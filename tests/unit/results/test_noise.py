"""Judge noise and agent noise, told apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_plugin_eval.records.model import Vote
from pytest_plugin_eval.results.noise import (
    Noise,
    Rate,
    agent_noise,
    disagreement,
    judge_noise,
    noise_lines,
    noise_of,
    split_votes,
)
from pytest_plugin_eval.scoring.model import RunReport
from tests.support.results import case, case_info, lost, run, verdict

INFO = case_info()


def judging(
    letters: str, number: int = 1, *, grader: str = "tone", question: str = "q", model: str = "m"
) -> tuple[Vote, ...]:
    """Return a vote a letter, `P` or `F`."""
    return tuple(
        Vote(
            question=question,
            grader=grader,
            judging=number,
            number=position,
            passed=letter == "P",
            asked_model=model,
            model=f"{model}-served",
            cost_usd=0.001,
            asked_at="2026-01-31T09:05:00.123Z",
        )
        for position, letter in enumerate(letters, 1)
    )


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        pytest.param("", Rate(0, 0), id="nothing"),
        pytest.param("P", Rate(0, 0), id="one-verdict-is-no-pair"),
        pytest.param("PP", Rate(0, 1), id="agree"),
        pytest.param("PF", Rate(1, 1), id="disagree"),
        pytest.param("PPF", Rate(2, 3), id="three"),
        pytest.param("PPFF", Rate(4, 6), id="four"),
    ],
)
def test_disagreement_counts_pairs(letters: str, expected: Rate) -> None:
    assert disagreement([letter == "P" for letter in letters]) == expected


def test_rate_of_nothing_is_not_known() -> None:
    assert (Rate(0, 0).share, Rate(1, 4).share) == (None, 0.25)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param([()], Rate(0, 0), id="no-votes"),
        pytest.param([judging("PPP")], Rate(0, 0), id="judged-once"),
        pytest.param([judging("PPP") + judging("PPF", 2)], Rate(0, 1), id="same-verdict"),
        pytest.param([judging("PPP") + judging("FFP", 2)], Rate(1, 1), id="other-verdict"),
        pytest.param(
            [judging("PPP") + judging("FFF", 2) + judging("PPP", 3)], Rate(2, 3), id="three-times"
        ),
        pytest.param([judging("PPP"), judging("FFF", 2)], Rate(0, 0), id="two-records"),
        pytest.param(
            [judging("PPP") + judging("FFF", 2)] * 2 + [judging("PPP") + judging("PPP", 2)],
            Rate(2, 3),
            id="records-are-summed",
        ),
        pytest.param(
            [judging("PPP") + judging("FFF", 2, question="other")], Rate(0, 0), id="other-question"
        ),
        pytest.param(
            [judging("PPP") + judging("FFF", 2, grader="b")], Rate(0, 0), id="other-grader"
        ),
        pytest.param([judging("PPP") + judging("FFF", 2, model="n")], Rate(0, 0), id="other-model"),
        pytest.param([judging("PPP") + judging("FF", 2)], Rate(0, 0), id="broken-off"),
        pytest.param([judging("PPP") + judging("PPFFF", 2)], Rate(0, 1), id="first-three-of-five"),
        pytest.param(
            [tuple(reversed(judging("PPP") + judging("PPFFF", 2)))], Rate(0, 1), id="any-order"
        ),
    ],
)
def test_judge_noise_is_of_one_record_and_question(
    records: list[tuple[Vote, ...]], expected: Rate
) -> None:
    assert judge_noise(records, needed=3) == expected


def test_judge_noise_by_other_number_of_votes() -> None:
    votes = judging("PFFFF") + judging("FPPPP", 2)

    assert judge_noise([votes], needed=1) == Rate(1, 1)
    assert judge_noise([votes], needed=5) == Rate(1, 1)
    assert judge_noise([votes], needed=7) == Rate(0, 0)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("PPP", Rate(0, 1)), ("PPF", Rate(1, 1)), ("FFF", Rate(0, 1)), ("PF", Rate(0, 0))],
)
def test_split_votes(letters: str, expected: Rate) -> None:
    assert split_votes([judging(letters)], needed=3) == expected


def judged(name: str, free: str, paid: str) -> RunReport:
    """Return a run with a free grader and one that asks the judge."""
    graded = (verdict(free, "flag"), replace(verdict(paid, "tone"), type="llm"))
    return run(name, graded, case=INFO)


@pytest.mark.parametrize(
    ("runs", "all_graders", "judged_graders"),
    [
        pytest.param([("with-1", "P", "P")], Rate(0, 0), Rate(0, 0), id="one-run"),
        pytest.param(
            [("with-1", "P", "P"), ("with-2", "P", "F")], Rate(1, 2), Rate(1, 1), id="judge's"
        ),
        pytest.param(
            [("with-1", "P", "P"), ("with-2", "F", "P")], Rate(1, 2), Rate(0, 1), id="free"
        ),
        pytest.param(
            [("with-1", "P", "P"), ("without-1", "F", "F")], Rate(0, 0), Rate(0, 0), id="two-arms"
        ),
        pytest.param(
            [(f"with-{n}", "P", letter) for n, letter in enumerate("PPFF", 1)],
            Rate(4, 12),
            Rate(4, 6),
            id="four-runs",
        ),
    ],
)
def test_agent_noise_is_between_runs_of_an_arm(
    runs: list[tuple[str, str, str]], all_graders: Rate, judged_graders: Rate
) -> None:
    result = case(INFO, *(judged(*one) for one in runs))

    assert agent_noise([result], judged_only=False) == all_graders
    assert agent_noise([result], judged_only=True) == judged_graders


def test_agent_noise_leaves_out_what_was_not_measured() -> None:
    result = case(INFO, run("with-1", "P", case=INFO), lost("with-2", case=INFO))

    assert agent_noise([result], judged_only=False) == Rate(0, 0)


def test_agent_noise_sums_cases() -> None:
    other = case_info("second")
    results = [
        case(one, run("with-1", "P", case=one), run("with-2", "F", case=one))
        for one in (INFO, other)
    ]

    assert agent_noise(results, judged_only=False) == Rate(2, 2)


def test_noise_of_puts_all_together() -> None:
    result = case(INFO, judged("with-1", "P", "P"), judged("with-2", "P", "F"))
    votes = [judging("PPP") + judging("PFF", 2), judging("FFF")]

    noise = noise_of([result], votes, needed=3)

    assert noise == Noise(
        judge=Rate(1, 1), split=Rate(1, 3), agent_judged=Rate(1, 1), agent_all=Rate(1, 2)
    )


def test_lines_have_n_beside_every_rate() -> None:
    noise = Noise(judge=Rate(1, 8), split=Rate(0, 0), agent_judged=Rate(3, 6), agent_all=Rate(1, 1))

    assert noise_lines(noise) == [
        "judge noise (same record, judged again): 13 %, 1 of 8 pairs of judgings disagree",
        "split votes: not known, 0 judgings to look at",
        "agent noise (other run), judge's graders: 50 %, 3 of 6 pairs of runs disagree",
        "agent noise (other run), all graders: 100 %, 1 of 1 pair of runs disagree",
    ]
