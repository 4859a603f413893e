"""`plugin-eval score --judge-replies`: replies that were got elsewhere make the judge layer."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.quality.judge_replies import LONGEST
from tests.support.skills import ORCHESTRATION, OUTPUT_QUALITY, SCOPE, TRIGGERING, write_skill

Captured = pytest.CaptureFixture[str]

REPLIES: Mapping[str, object] = {
    "triggering": TRIGGERING,
    "orchestration": ORCHESTRATION,
    "output_quality": OUTPUT_QUALITY,
    "scope": SCOPE,
}
MERGED = 62.533602150537634
"""Of ``w1`` with the judge's replies of the worked example. Spec: quality-score, 15, example 5."""
FENCE = "```"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory with a skill and a plugin, where asking a model would fail the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pytest_plugin_eval.execution.judging.find_judge", _asked)
    write_skill(tmp_path / "w1")
    write_skill(tmp_path / "demo" / "skills" / "w1")
    (tmp_path / "demo" / ".claude-plugin").mkdir()
    return tmp_path


def _asked(**_: object) -> object:
    raise AssertionError("a model was looked for")


def _write(replies: object) -> None:
    Path("replies.json").write_text(json.dumps(replies), encoding="utf-8")


def _score(captured: Captured, *options: str) -> dict[str, Any]:
    """Return the report; the command must succeed."""
    code = main(["score", "w1", "--judge-replies", "replies.json", "--output", "json", *options])
    assert code == 0
    report: dict[str, Any] = json.loads(captured.readouterr().out)
    return report


def test_replies_are_blended_as_those_of_a_judge_that_was_asked(capsys: Captured) -> None:
    _write(REPLIES)

    report = _score(capsys)

    judge = report["layers"][1]
    assert report["composite"]["score"] == pytest.approx(MERGED, abs=1e-9)
    assert report["composite"]["confidence_label"] == "Assessed"
    assert (judge["layer"], judge["score"]) == ("judge", pytest.approx(0.6875))
    assert {key: judge["metadata"][key] for key in REPLIES} == REPLIES
    assert judge["metadata"]["unmeasured"] == []


def test_report_says_where_the_replies_come_from_and_claims_no_model(capsys: Captured) -> None:
    _write(REPLIES)

    main(["score", "w1", "--judge-replies", "replies.json", "--output", "json"])
    out, err = capsys.readouterr()

    assert json.loads(out)["layers"][1]["metadata"]["replies_from"] == "replies.json"
    assert json.loads(out)["model_usage"] == {}
    assert "judge: replies from replies.json, nothing is asked" in err
    assert "experimental" in err
    assert "spent" not in err


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("plain", json.dumps(REPLIES)),
        ("fenced", f"Here it is:\n{FENCE}json\n{json.dumps(REPLIES)}\n{FENCE}\n"),
        ("byte order mark", "\ufeff" + json.dumps(REPLIES)),
    ],
)
def test_stdin_is_read_in_the_forms_an_agent_writes(
    form: str, text: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO(text.encode()))
    monkeypatch.setattr("sys.stdin", stdin)

    code = main(["score", "w1", "--judge-replies", "-", "--output", "json"])

    assert code == 0, form
    report = json.loads(capsys.readouterr().out)
    assert report["composite"]["score"] == pytest.approx(MERGED, abs=1e-9)
    assert report["layers"][1]["metadata"]["replies_from"] == "stdin"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"assessment": "fine"}, "score is missing"),
        ({"score": 1.5}, "score must be a number from 0 to 1, got 1.5"),
        ({"score": True}, "score must be a number from 0 to 1, got True"),
        ({"score": "0.5"}, "score must be a number from 0 to 1, got '0.5'"),
        ("fine", "the reply is 'fine', expected a JSON object"),
        ([0.5], "expected a JSON object"),
        (None, "expected a JSON object"),
    ],
)
def test_reply_that_is_not_in_order_is_unmeasured_and_never_zero(
    reply: object, reason: str, capsys: Captured
) -> None:
    _write({**REPLIES, "scope": reply})

    main(["score", "w1", "--judge-replies", "replies.json", "--output", "json"])
    out, err = capsys.readouterr()

    judge = json.loads(out)["layers"][1]
    assert "scope_calibration" not in judge["sub_scores"]
    assert judge["metadata"]["unmeasured"] == ["scope_calibration"]
    assert reason in err


def test_reply_that_is_missing_is_unmeasured_without_advice_on_clients(capsys: Captured) -> None:
    _write({key: REPLIES[key] for key in ("triggering", "orchestration", "output_quality")})

    main(["score", "w1", "--judge-replies", "replies.json", "--output", "json"])
    out, err = capsys.readouterr()

    assert json.loads(out)["layers"][1]["metadata"]["unmeasured"] == ["scope_calibration"]
    assert "replies.json holds no reply 'scope'" in err
    assert "pip install" not in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "replies.json: the reply is empty"),
        (b"score: 1", "replies.json: the reply is no JSON"),
        (b"[]", "replies.json: the reply is [], expected a JSON object"),
        (b"{}", "replies.json: the object is empty"),
        (b'{"scop": {"score": 1}}', "replies.json: unknown reply 'scop', did you mean 'scope'"),
        (b'{"elegance": {}}', "unknown reply 'elegance', expected the replies triggering, "),
        (b"\xff\xfe", "replies.json: byte 0 is not UTF-8"),
        (b'"' + b"x" * LONGEST * 2 + b'"', "expected at most"),
    ],
)
def test_file_without_replies_is_one_line_and_exit_2(
    content: bytes, message: str, capsys: Captured
) -> None:
    Path("replies.json").write_bytes(content)

    code = main(["score", "w1", "--judge-replies", "replies.json"])
    out, err = capsys.readouterr()

    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["w1", "--depth", "quick"], "goes with --depth standard, got 'quick'"),
        (["w1", "--depth", "thorough"], "goes with --depth standard, got 'thorough'"),
        (["w1", "w1"], "is about one skill, got 2 paths"),
        (["demo"], "demo: is a plugin, expected the one skill"),
        (["nowhere"], "nowhere"),
    ],
)
def test_replies_that_cannot_be_about_the_target_are_refused(
    arguments: list[str], message: str, capsys: Captured
) -> None:
    _write(REPLIES)

    code = main(["score", *arguments, "--judge-replies", "replies.json"])
    out, err = capsys.readouterr()

    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("gone.json", "gone.json: cannot be read: No such file"),
        ("w1", "w1: cannot be read: Is a directory"),
        ("", "cannot be read: Is a directory"),
    ],
)
def test_file_that_cannot_be_read_is_refused(file: str, message: str, capsys: Captured) -> None:
    code = main(["score", "w1", "--judge-replies", file])

    assert code == 2
    assert message in capsys.readouterr().err


def test_threshold_counts_the_merged_score(capsys: Captured) -> None:
    _write(REPLIES)

    codes = [
        main(["score", "w1", "--judge-replies", "replies.json", "--threshold", threshold])
        for threshold in ("62", "63")
    ]

    assert codes == [0, 1]
    assert "is below --threshold 63" in capsys.readouterr().err
