"""Records as files: what is written, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.records.codec import decode, encode
from pytest_plugin_eval.records.model import FileEntry, FileKind, RunOutcome
from tests.support.records import file, link, record, said, vote

FULL = replace(
    record(
        said("fin"),
        "not json\r",
        "",
        "a\u2028b\0",
        files=(
            file("a.txt", "é\n"),
            file("b.bin", b"\xff\x00"),
            FileEntry(path="d", kind=FileKind.DIRECTORY, created=False),
            link("l", "a.txt"),
            link("out", leaves=True),
            file("unkept", None, created=False),
        ),
    ),
    provenance={"model": "m", "claude_version": "2.1.332"},
    notes=("b.bin is odd",),
    votes=(vote("a" * 64, number=1), vote("a" * 64, passed=False, number=2, cost_usd=None)),
)


def test_decoded_record_equals_the_encoded_one() -> None:
    decoded = decode(encode(FULL), "with-1.jsonl")

    assert decoded == FULL


def test_trace_lines_and_text_files_stand_in_the_file_as_they_are() -> None:
    lines = encode(FULL).decode().split("\n")

    assert json.loads(lines[0])["trace_lines"] == 4
    assert lines[1:5] == list(FULL.trace.lines)
    assert lines[5] == '{"path":"a.txt","kind":"file","created":true,"text":"é\\n"}'
    assert lines[6] == '{"path":"b.bin","kind":"file","created":true,"base64":"/wA="}'


def test_votes_stand_behind_the_files() -> None:
    lines = encode(FULL).decode().split("\n")

    assert json.loads(lines[0])["vote_lines"] == 2
    assert json.loads(lines[11]) == {
        "question": "a" * 64,
        "grader": "g",
        "judging": 1,
        "number": 1,
        "passed": True,
        "unreadable": False,
        "reply": "PASS",
        "asked_model": "judge-1",
        "model": "judge-1",
        "cost_usd": 0.001,
        "asked_at": "2026-01-31T00:00:00.000Z",
    }
    assert json.loads(lines[12])["cost_usd"] is None


def test_record_of_the_schema_without_votes_is_still_read() -> None:
    old = replace(FULL, votes=())
    first, rest = encode(old).decode().split("\n", 1)
    fields = {**json.loads(first), "schema": 1}
    del fields["vote_lines"]

    assert decode(f"{json.dumps(fields)}\n{rest}".encode(), "r") == old


def test_lone_surrogates_become_replacement_characters() -> None:
    decoded = decode(encode(record("x\ud83dy", files=(file("a\udcff"),))), "r")

    assert decoded.trace.lines == ("x\ufffdy",)
    assert decoded.files[0].path == "a\ufffd"


@pytest.mark.parametrize("cost", [None, 0.1 + 0.2, 0])
def test_cost_survives_at_full_precision_and_unknown_stays_unknown(cost: float | None) -> None:
    outcome = replace(FULL.outcome, cost_usd=cost)

    assert decode(encode(replace(FULL, outcome=outcome)), "r").outcome == outcome


def header(**changes: object) -> bytes:
    fields = json.loads(encode(record()).decode())
    return (json.dumps({**fields, **changes}) + "\n").encode()


def outcome(**changes: object) -> dict[str, object]:
    return {
        **{"ending": "completed", "error": None, "turns": 1, "cost_usd": 0.0, "duration_s": 1},
        **{"started_at": "", "attempts": 1},
        **changes,
    }


KEY = {"case": "c", "arm": "with", "number": 1}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(
            header(schema=3),
            "runs/with-1.jsonl: written by a newer version: schema 3, this version reads up to 2",
            id="newer",
        ),
        pytest.param(header(schema=0), "with-1.jsonl:1: expected the header of a run", id="zero"),
        pytest.param(header(kind="x"), "with-1.jsonl:1: expected the header of a run", id="kind"),
        pytest.param(header(schema="1"), "1: schema must be a whole number", id="schema text"),
        pytest.param(b"", "with-1.jsonl:1: expected a JSON object, got ''", id="empty"),
        pytest.param(b"[]\n", "with-1.jsonl:1: expected a JSON object, got []", id="list"),
        pytest.param(b"PNG", "with-1.jsonl:1: expected a JSON object, got 'PNG'", id="garbage"),
        pytest.param(b"{}\n\xff", "with-1.jsonl:2: a record is UTF-8 text", id="binary"),
        pytest.param(b"[" * 100_000, "with-1.jsonl:1: expected a JSON object", id="deep"),
        pytest.param(header(trace_lines=5), "with-1.jsonl:2: the file is cut", id="promised more"),
        pytest.param(header() + b"x\n", "with-1.jsonl:3: the file is cut or was", id="has more"),
        pytest.param(encode(FULL)[:-1], "with-1.jsonl:13: the file is cut", id="no last newline"),
        pytest.param(header(notes=[1]), "notes must be a list of strings, got [1]", id="notes"),
        pytest.param(header(provenance=[]), "provenance must be an object of", id="provenance"),
        pytest.param(header(key=None), "key must be an object, got None", id="key"),
        pytest.param(
            header(key={**KEY, "arm": "both"}), "arm must be a word of this version", id="arm"
        ),
        pytest.param(
            header(outcome=outcome(turns=True)), "turns must be a whole number", id="turns"
        ),
        pytest.param(
            header(outcome=outcome(cost_usd="1")),
            "runs/with-1.jsonl:1: cost_usd must be a number, got '1'",
            id="cost",
        ),
        pytest.param(header(outcome={"ending": 1}), "ending must be a string", id="ending"),
        pytest.param(
            header(file_lines=1) + b'{"path":"a","kind":"file","created":1}\n',
            "with-1.jsonl:2: created must be true or false, got 1",
            id="created",
        ),
        pytest.param(
            header(file_lines=1) + b'{"path":"a","kind":"file","created":true,"base64":"?"}\n',
            "with-1.jsonl:2: base64 must be base64, got '?'",
            id="base64",
        ),
        pytest.param(header(vote_lines=None), "vote_lines must be a whole number", id="votes"),
        pytest.param(header(vote_lines=1), "with-1.jsonl:2: the file is cut", id="a vote lost"),
        pytest.param(
            header(vote_lines=1) + b'{"question":"q","grader":"g","judging":1,"number":-1}\n',
            "with-1.jsonl:2: number must be a whole number from 0",
            id="vote",
        ),
    ],
)
def test_a_file_that_is_no_record_is_refused_by_name_and_line(data: bytes, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        decode(data, "runs/with-1.jsonl")

    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["cost_usd", "duration_s"])
@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "-0.5", f"1{'0' * 400}"])
def test_amount_that_is_not_finite_or_negative_is_refused(name: str, text: str) -> None:
    data = header(outcome=outcome(**{name: "@"})).replace(b'"@"', text.encode())

    with pytest.raises(RecordError, match=f"^r:1: {name} must be a finite number, 0 or more, got "):
        decode(data, "r")


@pytest.mark.parametrize("name", ["turns", "attempts"])
@pytest.mark.parametrize("value", [-1, 1.5, float("nan"), 2**63])
def test_count_that_is_no_count_is_refused(name: str, value: float) -> None:
    with pytest.raises(RecordError, match=f"^r:1: {name} must be a whole number"):
        decode(header(outcome=outcome(**{name: value})), "r")


def test_missing_outcome_fields_are_named() -> None:
    with pytest.raises(RecordError, match="started_at must be a string, got nothing"):
        decode(header(outcome={key: v for key, v in outcome().items() if key != "started_at"}), "r")


def test_default_outcome_survives() -> None:
    plain = replace(record(), outcome=RunOutcome(ending=FULL.outcome.ending))

    assert decode(encode(plain), "r") == plain
