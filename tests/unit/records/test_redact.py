"""Secrets that get into a record do not stay there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_plugin_eval.records.codec import encode
from pytest_plugin_eval.records.redact import redacted, redactor
from tests.support.records import file, link, record, said

SECRET = 'sk-"é\\\n-0123456789'


@pytest.mark.parametrize(
    ("secrets", "text", "expected"),
    [
        pytest.param(["sk-12345"], "key sk-12345.", "key [***].", id="as it is"),
        pytest.param(["short"], "a short word", "a short word", id="shorter than eight"),
        pytest.param([], "anything", "anything", id="no secrets"),
        pytest.param(["12345678", "123456789"], "123456789", "[***]", id="longest first"),
        pytest.param(['a"b\\c\nd-e'], r"x a\"b\\c\nd-e x", "x [***] x", id="in JSON"),
        pytest.param(['a"b-----'], r"\\\"a\\\"b-----", r"\\\"[***]", id="in JSON in JSON"),
        pytest.param(["é-------"], r"\u00e9-------", "[***]", id="escaped to ASCII"),
        pytest.param(["a.c*e+g?"], "abcdefgh a.c*e+g?", "abcdefgh [***]", id="no pattern"),
        pytest.param(["[***]-[*"], "[***]-[***]", "[***]**]", id="made of marks"),
    ],
)
def test_redactor(secrets: list[str], text: str, expected: str) -> None:
    assert redactor(secrets)(text) == expected


def test_redacted_record_holds_the_secret_nowhere() -> None:
    leaky = record(
        said(f"the key is {SECRET}"),
        files=(
            file("bin", b"\xff" + SECRET.encode() + b"\xfe"),
            file("key.txt", SECRET),
            file(f"z{SECRET}"),
            link("l", SECRET),
        ),
    )
    leaky = replace(
        leaky,
        outcome=replace(leaky.outcome, error=f"exit 1: {SECRET}"),
        provenance={"model": SECRET},
        notes=(SECRET,),
    )

    clean = redacted(leaky, [SECRET])

    assert b"0123456789" not in encode(clean)
    assert clean.trace.last_message == "the key is [***]"
    assert clean.files[0].content == b"\xff[***]\xfe"
    assert [entry.path for entry in clean.files] == ["bin", "key.txt", "l", "z[***]"]


def test_record_without_secrets_is_the_same() -> None:
    plain = record(said("x"))

    assert redacted(plain, ["short"]) is plain
