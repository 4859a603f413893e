"""Records survive being written, and never keep a secret."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.records.codec import decode, encode
from pytest_plugin_eval.records.jsjson import parse, stringify
from pytest_plugin_eval.records.model import (
    Arm,
    Ending,
    FileEntry,
    FileKind,
    MockRecord,
    RunKey,
    RunOutcome,
    RunRecord,
    Vote,
)
from pytest_plugin_eval.records.redact import redacted, redactor
from pytest_plugin_eval.records.trace import Trace
from tests.support.records import called, file, record, said

UTF8 = st.text(st.characters(exclude_categories=["Cs"]))
LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"))
NUMBERS = st.floats(min_value=0, allow_infinity=False, allow_nan=False)
OPTIONAL = st.none() | UTF8
OUTCOMES = st.builds(
    RunOutcome,
    ending=st.sampled_from(Ending),
    error=OPTIONAL,
    turns=st.integers(0, 2**40),
    cost_usd=st.none() | NUMBERS,
    known_cost_usd=NUMBERS,
    duration_s=NUMBERS,
    started_at=UTF8,
    attempts=st.integers(0, 9),
)
FILES = st.builds(
    FileEntry,
    path=UTF8,
    kind=st.sampled_from(FileKind),
    created=st.booleans(),
    content=st.none() | st.binary() | UTF8.map(str.encode),
    target=OPTIONAL,
    leaves=st.booleans(),
)
VOTES = st.builds(
    Vote,
    question=UTF8,
    grader=UTF8,
    judging=st.integers(0, 2**40),
    number=st.integers(0, 2**40),
    passed=st.booleans(),
    unreadable=st.booleans(),
    reply=UTF8,
    asked_model=UTF8,
    model=UTF8,
    cost_usd=st.none() | NUMBERS,
    asked_at=UTF8,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | NUMBERS | UTF8,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(UTF8, inner, max_size=3),
    max_leaves=8,
)
MOCKS = st.builds(
    MockRecord,
    calls=OPTIONAL,
    fields=st.dictionaries(UTF8, VALUES, max_size=4),
    aborted=st.none() | st.dictionaries(UTF8, UTF8, max_size=4),
)
RECORDS = st.builds(
    RunRecord,
    key=st.builds(RunKey, case=UTF8, arm=st.sampled_from(Arm), number=st.integers(1, 2**40)),
    outcome=OUTCOMES,
    trace=st.lists(LINES).map(Trace),
    files=st.lists(FILES).map(tuple),
    provenance=st.dictionaries(UTF8, UTF8),
    notes=st.lists(UTF8).map(tuple),
    votes=st.lists(VOTES).map(tuple),
    mocks=st.none() | MOCKS,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
SECRETS = st.text(min_size=8, max_size=20)


@given(RECORDS)
@example(record("", "\r", "a\r", "\u2028\u2029\x85\x0b\x0c\x1c", "\0", "{", "null"))
def test_decode_undoes_encode(original: RunRecord) -> None:
    assert decode(encode(original), "r") == original


@given(st.lists(st.text(st.characters(exclude_characters="\n"))))
def test_any_text_becomes_a_record_that_stays_as_it_is(lines: list[str]) -> None:
    once = decode(encode(record(*lines)), "r")

    assert len(once.trace.lines) == len(lines)
    assert decode(encode(once), "r") == once


@given(RECORDS, st.data())
def test_no_part_of_a_record_passes_for_a_record(original: RunRecord, data: st.DataObject) -> None:
    whole = encode(original)
    part = whole[: data.draw(st.integers(0, len(whole) - 1))]

    with pytest.raises(RecordError, match=r"^r:\d+: "):
        decode(part, "r")


@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "replace")))
def test_decode_of_anything_else_is_a_record_error(data: bytes) -> None:
    with pytest.raises(RecordError, match=r"^r:\d+: "):
        decode(data, "r")


@given(JSON)
def test_stringify_keeps_the_value(value: object) -> None:
    assert parse(stringify(value)) == json.loads(json.dumps(value), parse_int=float)


@given(st.lists(LINES))
def test_views_of_any_trace_never_raise(lines: list[str]) -> None:
    trace = Trace([*lines, '{"type":"assistant","text":"tool_use"}'])

    assert trace.last_message == ""
    assert trace.tool_calls == ()


@given(st.lists(SECRETS, min_size=1, max_size=4), st.lists(st.text()), st.data())
def test_redactor_leaves_no_secret(
    secrets: list[str], parts: list[str], data: st.DataObject
) -> None:
    pieces = data.draw(st.permutations([*parts, *secrets]))

    clean = redactor(secrets)("".join(pieces))

    assert not [secret for secret in secrets if secret in clean]


@given(st.lists(st.text("[*]", min_size=8, max_size=9), min_size=1), st.text("[*]"))
def test_redactor_leaves_no_secret_that_looks_like_its_mark(secrets: list[str], text: str) -> None:
    clean = redactor(secrets)(text)

    assert not [secret for secret in secrets if secret in clean]


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=8), UTF8, UTF8)
def test_redacted_record_holds_no_secret(secret: str, before: str, after: str) -> None:
    text = f"{before}{secret}{after}"
    leaky = record(
        said(text), called("Read", file_path=text), said(json.dumps(text)), files=(file("f", text),)
    )

    clean = redacted(leaky, [secret])

    seen = [clean.trace.last_message, *(call.input_json for call in clean.trace.tool_calls)]
    content = clean.files[0].content
    assert content is not None
    assert secret not in content.decode()
    assert not [text for text in seen if secret in text]


@given(UTF8)
def test_redactor_without_secrets_changes_nothing(text: str) -> None:
    assert redactor(["short"])(text) == text
