"""`plugin-eval rescore` with a judge that answers from a list."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.interrupts import Interrupts
from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.judges.base import JudgeRequest
from tests.support.judges import FakeBackend
from tests.support.rescoring import Captured, Saved, session


def test_judge_that_says_the_same_changes_nothing(saved: Saved, capsys: Captured) -> None:
    before = (saved.results / "aggregate-result.json").read_bytes()

    assert saved.rescore(FakeBackend("PASS")) == 0

    out = re.sub(r"\$0\.\d{4}", "$N", capsys.readouterr().out)
    assert out.splitlines()[:-2] == [
        f"rescoring 4 runs of 1 case in {saved.results}",
        "judge: asking for 12 votes of judge-1, about $N, from a fake",
        "0 of 8 verdicts changed, in 0 of 1 case",
        "judge noise (same record, judged again): 0 %, 0 of 4 pairs of judgings disagree",
        "split votes: 0 %, 0 of 8 judgings not unanimous",
        "agent noise (other run), judge's graders: 0 %, 0 of 2 pairs of runs disagree",
        "agent noise (other run), all graders: 0 %, 0 of 4 pairs of runs disagree",
    ]
    assert out.splitlines()[-1] == "spent: $3.00"
    assert (saved.results / "aggregate-result.json").read_bytes() == before


def test_flipped_verdict(saved: Saved, capsys: Captured) -> None:
    # The votes of all runs go out together: which one the first answers are for, nobody knows.
    (saved.plugin / "evals/first/graders/tone.md").write_text(
        "---\ntype: llm\narm: with-only\n---\nIs it friendly?\n", encoding="utf-8"
    )
    for run in ("with-2", "without-1", "without-2"):
        (saved.results / f"runs/evals/first/{run}.jsonl").unlink()

    assert saved.rescore(FakeBackend("FAIL")) == 0

    out = capsys.readouterr().out
    assert "first with-1 tone: passed -> failed: judge votes: FAIL FAIL FAIL (before: PASS" in out
    assert "1 of 2 verdicts changed, in 1 of 1 case" in out
    assert "judge noise (same record, judged again): 100 %, 1 of 1 pair of judgings disagree" in out
    assert saved.votes() == [(1, n, True) for n in (1, 2, 3)] + [(2, n, False) for n in (1, 2, 3)]


def test_new_document(saved: Saved, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"

    saved.rescore(FakeBackend("FAIL"), json=copy)

    new = saved.newest()
    assert json.loads(copy.read_text("utf-8")) == new
    assert (new["harness"]["mode"], new["partial"]) == ("rescore", False)
    assert new["aggregates"]["overallScore"] == 0.5
    assert new["suite"]["spentUsd"] == 3.0
    assert new["suite"]["threshold"] == 1.0
    votes = new["cases"][0]["arms"]["with"][0]["graders"][1]["judgeVotes"]
    assert votes == [False, False, False]


def test_no_judge_grades_by_recorded_votes(saved: Saved, capsys: Captured) -> None:
    (saved.plugin / "evals/first/graders/hello.md").write_text(
        "---\ntype: regex\npattern: goodbye\n---\n", encoding="utf-8"
    )

    assert saved.rescore(None, no_judge=True) == 0

    out = capsys.readouterr().out
    assert "first with-1 hello: passed -> failed" in out
    assert "2 of 8 verdicts changed" in out
    assert "judge:" not in out
    assert len(saved.votes()) == 3


def test_no_judge_without_recorded_votes(plugin: Path, saved: Saved, capsys: Captured) -> None:
    (plugin / "evals/first/graders/tone.md").write_text(
        "---\ntype: llm\n---\nIs it rude?\n", encoding="utf-8"
    )

    assert saved.rescore(None, no_judge=True) == 1

    out = capsys.readouterr().out
    assert "judge: 12 votes not recorded, and --no-judge asks for none" in out
    assert "first: 4 runs not measured any more: grader 'tone' errored" in out
    assert "spent" not in out
    assert "first: score 1.00 -> —, Δ +0.50 -> —" in out


def test_free_only_session_is_judged_later(plugin: Path, capsys: Captured) -> None:
    saved = session(plugin, capsys)
    path = saved.results / "aggregate-result.json"
    path.write_text(path.read_text("utf-8").replace('"freeOnly": false', '"freeOnly": true'))

    assert saved.rescore(None, no_judge=True) == 0
    assert (
        "first: 4 verdicts -> skipped, of which 4 had passed: left out" in capsys.readouterr().out
    )
    assert saved.rescore(FakeBackend("PASS")) == 0
    assert "0 of 8 verdicts changed" in capsys.readouterr().out


def test_votes_and_model(saved: Saved) -> None:
    judge = FakeBackend("PASS")

    assert saved.rescore(judge, votes=5, judge_model="other") == 0

    assert len(judge.requests) == 20
    assert {request.model for request in judge.requests} == {"other"}
    assert saved.newest()["suite"]["judgeModel"] == "other"


def test_model_of_the_session_judges_again(plugin: Path, capsys: Captured) -> None:
    saved = session(plugin, capsys, judge_model="chosen", votes=5)
    judge = FakeBackend("PASS")

    saved.rescore(judge)

    assert len(judge.requests) == 20
    assert {request.model for request in judge.requests} == {"chosen"}


def test_ceiling_of_nothing_asks_nothing(saved: Saved, capsys: Captured) -> None:
    judge = FakeBackend("PASS")

    assert saved.rescore(judge, max_cost_usd=0.0) == 2

    assert judge.requests == []
    out = capsys.readouterr().out
    why = "cost ceiling $0 reached"
    assert f"first: 4 verdicts -> skipped, of which 4 had passed: {why}" in out
    assert f"first: 4 runs not measured any more: grader 'tone' skipped: {why}" in out
    assert out.splitlines()[-1] == "spent: $0.00, the ceiling was $0.00"
    assert saved.newest()["partialReason"] == "cost_ceiling"


def test_ceiling_keeps_what_was_paid_for(saved: Saved, capsys: Captured) -> None:
    judge = FakeBackend("PASS", price_usd=1.0)

    assert saved.rescore(judge, max_cost_usd=2.0) == 2

    runs = [f"{arm}-{number}" for arm in ("with", "without") for number in (1, 2)]
    kept = sum(len(saved.votes(run)) for run in runs)
    assert 2 <= len(judge.requests) < 12
    assert kept == 12 + len(judge.requests)
    last = capsys.readouterr().out.splitlines()[-1]
    spent = len(judge.requests)
    rest = "" if spent == 2 else ": the rest was in flight when it was reached"
    assert last == f"spent: ${spent}.00, the ceiling was $2.00{rest}"


def test_unknown_price(saved: Saved, capsys: Captured) -> None:
    assert saved.rescore(FakeBackend("PASS", price_usd=None)) == 0
    out = capsys.readouterr().out
    assert "asking for 12 votes of judge-1, at an unknown price, from" in out
    assert out.splitlines()[-1] == "spent: $0.00 and 12 calls of unknown cost"
    assert saved.rescore(FakeBackend("PASS", price_usd=None), max_cost_usd=5.0) == 2


def test_no_judge_to_be_found(saved: Saved) -> None:
    with pytest.raises(EvalError, match="no judge on this machine"):
        saved.rescore(None)

    assert not (saved.results / "rescored").exists()


def interrupt_once() -> Callable[[JudgeRequest], None]:
    """Return a function that presses Ctrl-C when it is called for the first time."""
    signals = iter((signal.SIGINT,))

    def press(_: JudgeRequest) -> None:
        for number in signals:
            os.kill(os.getpid(), number)

    return press


def test_interrupt_keeps_the_votes_paid_for(saved: Saved, capsys: Captured) -> None:
    judge = FakeBackend("PASS")
    judge.before = interrupt_once()
    former = signal.getsignal(signal.SIGINT)

    assert saved.rescore(judge) == 130

    kept = sum(len(saved.votes(f"{a}-{n}")) for a in ("with", "without") for n in (1, 2)) - 12
    assert kept == len(judge.requests) > 0
    out = capsys.readouterr().out
    assert f"interrupted: {kept} vote" in out
    assert out.splitlines()[-1].startswith("spent: $")
    assert [path.name for path in (saved.results / "rescored").iterdir()] == ["unfinished.json"]
    assert signal.getsignal(signal.SIGINT) is former


def test_fewer_votes_are_compared_with_as_many(saved: Saved, capsys: Captured) -> None:
    assert saved.rescore(FakeBackend("FAIL"), votes=5) == 0
    assert "judged again): 100 %, 4 of 4 pairs of judgings disagree" in capsys.readouterr().out
    assert saved.rescore(FakeBackend("PASS"), votes=1) == 0
    assert "judged again): 67 %, 8 of 12 pairs of judgings disagree" in capsys.readouterr().out


def test_votes_that_could_not_be_kept_are_not_asked_for(
    saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = FakeBackend("PASS")
    monkeypatch.setattr(os, "access", lambda *_: False)

    with pytest.raises(EvalError, match=r"runs/evals/first: cannot be written to, .* --no-judge"):
        saved.rescore(judge)

    assert judge.requests == []


def test_document_that_cannot_be_written_is_said_before_asking(saved: Saved) -> None:
    judge = FakeBackend("PASS")
    (saved.results / "rescored").touch()

    with pytest.raises(EvalError, match="the new document cannot be written: "):
        saved.rescore(judge)

    assert judge.requests == []


def test_output_without_unicode(saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))

    saved.rescore(FakeBackend("FAIL"))

    sys.stdout.flush()
    assert b"first: score 1.00 -> 0.50, delta +0.50 -> +0.50" in written.getvalue()


def test_second_signal_interrupts() -> None:
    stopped: list[str] = []
    former = signal.getsignal(signal.SIGTERM)

    with Interrupts(lambda: stopped.append("once")):
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    assert stopped == ["once"]
    assert signal.getsignal(signal.SIGTERM) is former


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "Missing argument 'RESULTS'", id="no-argument"),
        pytest.param(["gone"], "Error: gone: no such directory, expected a results", id="gone"),
        pytest.param(
            [".", "--votes", "2"],
            "--votes: expected an odd number from 1 to 99, got '2'",
            id="even",
        ),
        pytest.param([".", "--json", "x"], "--json: the path must end in .json", id="json"),
        pytest.param(
            [".", "--max-cost-usd", "-1"],
            "--max-cost-usd: expected a number of at least 0",
            id="usd",
        ),
        pytest.param([".", "--modle"], "No such option", id="misspelt"),
    ],
)
def test_input_errors_are_one_message(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["rescore", *arguments]) == 1

    out, err = capsys.readouterr()
    assert message in err
    assert out == ""


def test_help_says_what_it_does(capsys: Captured) -> None:
    assert main(["rescore", "--help"]) == 0
    assert "Grade saved records afresh" in capsys.readouterr().out
