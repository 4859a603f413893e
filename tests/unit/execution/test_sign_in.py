"""What signs the agent in, and what is wrong with it; never a value of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_plugin_eval.execution.sign_in import service, sign_in

NOW_S = 1_800_000_000.0
KEY = "sk-ant-api03-0123456789"
TOKEN = "sk-ant-oat01-0123456789"

GOOD: dict[str, tuple[Mapping[str, str], str, str]] = {
    "key": ({"ANTHROPIC_API_KEY": KEY}, "an API key", "ANTHROPIC_API_KEY"),
    "token": (
        {"CLAUDE_CODE_OAUTH_TOKEN": TOKEN},
        "a token of a subscription",
        "CLAUDE_CODE_OAUTH_TOKEN",
    ),
    "bearer": ({"ANTHROPIC_AUTH_TOKEN": "a-gateway's"}, "a bearer token", "ANTHROPIC_AUTH_TOKEN"),
    "bedrock": ({"CLAUDE_CODE_USE_BEDROCK": "1"}, "Amazon Bedrock", "CLAUDE_CODE_USE_BEDROCK"),
    "vertex": ({"CLAUDE_CODE_USE_VERTEX": "true"}, "Google Vertex AI", "CLAUDE_CODE_USE_VERTEX"),
    "cloud-before-key": (
        {"ANTHROPIC_API_KEY": KEY, "CLAUDE_CODE_USE_BEDROCK": "1"},
        "Amazon Bedrock",
        "CLAUDE_CODE_USE_BEDROCK",
    ),
    "cloud-that-is-off": (
        {"CLAUDE_CODE_USE_BEDROCK": "0", "ANTHROPIC_API_KEY": KEY},
        "an API key",
        "ANTHROPIC_API_KEY",
    ),
    "cloud-beside-one-that-is-off": (
        {"CLAUDE_CODE_USE_BEDROCK": "0", "CLAUDE_CODE_USE_VERTEX": "1"},
        "Google Vertex AI",
        "CLAUDE_CODE_USE_VERTEX",
    ),
}


@pytest.mark.parametrize(("env", "kind", "origin"), GOOD.values(), ids=GOOD)
def test_sign_in_by_variables(env: Mapping[str, str], kind: str, origin: str) -> None:
    found = sign_in(env, NOW_S)

    assert found is not None
    assert (found.kind, found.origin, found.problems) == (kind, origin, ())


@pytest.mark.parametrize("env", [{}, {"HOME": "/nowhere"}, {"ANTHROPIC_API_KEY": ""}])
def test_nothing_signs_in(env: Mapping[str, str]) -> None:
    assert sign_in(env, NOW_S) is None


def test_variable_that_is_not_used_is_named() -> None:
    found = sign_in({"ANTHROPIC_API_KEY": KEY, "CLAUDE_CODE_OAUTH_TOKEN": TOKEN}, NOW_S)

    assert found is not None
    assert found.notes == ("CLAUDE_CODE_OAUTH_TOKEN is set too and is not used",)


WRONG = {
    "space-around": ("ANTHROPIC_API_KEY", f" {KEY}", "white space"),
    "line-break": ("ANTHROPIC_API_KEY", f"{KEY}\n", "white space"),
    "quotes": ("ANTHROPIC_API_KEY", f'"{KEY}"', "quotation mark"),
    "space-inside": ("ANTHROPIC_AUTH_TOKEN", "Bearer abcdefgh", "one word"),
    "not-ascii": ("ANTHROPIC_API_KEY", "sk-ant-äpi03", "one word"),
    "control": ("ANTHROPIC_API_KEY", "sk-ant\x07api03", "one word"),
    "placeholder": ("ANTHROPIC_API_KEY", "your-api-key", "placeholder"),
    "placeholder-angles": ("ANTHROPIC_API_KEY", "<key>", "placeholder"),
    "placeholder-not-expanded": ("ANTHROPIC_API_KEY", "${SECRET_KEY}", "placeholder"),
    "token-as-key": ("ANTHROPIC_API_KEY", TOKEN, "CLAUDE_CODE_OAUTH_TOKEN"),
    "key-as-token": ("CLAUDE_CODE_OAUTH_TOKEN", KEY, "ANTHROPIC_API_KEY"),
}


@pytest.mark.parametrize(("name", "value", "words"), WRONG.values(), ids=WRONG)
def test_malformed_value_is_told_without_showing_it(name: str, value: str, words: str) -> None:
    found = sign_in({name: value}, NOW_S)

    assert found is not None
    (problem,) = found.problems
    assert words in problem
    assert value.strip(' \n"') not in repr(found)


def test_short_value_cannot_be_kept_out_of_records() -> None:
    found = sign_in({"ANTHROPIC_API_KEY": "abc"}, NOW_S)

    assert found is not None
    assert found.notes == ("it is too short to be kept out of records",)


def signed_in(expires_ms: int) -> str:
    return json.dumps({"claudeAiOauth": {"accessToken": TOKEN, "expiresAt": expires_ms}})


FILES = {
    "good": (signed_in(1_900_000_000_000), None),
    "expired": (signed_in(1_700_000_000_000), "expired"),
    "no-json": ("{", "cannot be read"),
    "empty": ("{}", "holds no sign-in"),
    "list": ("[]", "holds no sign-in"),
    "null": ("null", "holds no sign-in"),
}


@pytest.mark.parametrize(("text", "words"), FILES.values(), ids=FILES)
@pytest.mark.parametrize("variable", ["HOME", "CLAUDE_CONFIG_DIR"])
def test_credentials_file(text: str, words: str | None, variable: str, tmp_path: Path) -> None:
    directory = tmp_path / ".claude" if variable == "HOME" else tmp_path
    directory.mkdir(exist_ok=True)
    file = directory / ".credentials.json"
    file.write_text(text, encoding="utf-8")

    found = sign_in({variable: str(tmp_path)}, NOW_S)

    assert found is not None
    assert (found.kind, found.origin) == ("a subscription", str(file))
    assert (words or "") in "".join(found.problems)
    assert bool(found.problems) == (words is not None)
    assert TOKEN not in repr(found)


def test_cloud_that_is_switched_off_leaves_the_file_in_force(tmp_path: Path) -> None:
    (tmp_path / ".credentials.json").write_text(signed_in(1_900_000_000_000), encoding="utf-8")

    found = sign_in({"CLAUDE_CONFIG_DIR": str(tmp_path), "CLAUDE_CODE_USE_BEDROCK": "0"}, NOW_S)

    assert found is not None
    assert (found.kind, found.problems) == ("a subscription", ())


def test_directory_in_place_of_the_credentials_file_signs_nobody_in(tmp_path: Path) -> None:
    (tmp_path / ".credentials.json").mkdir()

    assert sign_in({"CLAUDE_CONFIG_DIR": str(tmp_path)}, NOW_S) is None


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("", "the API of Anthropic, or of the cloud provider"),
        ("https://gate.example/v1?x=1", "https://gate.example"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ],
)
def test_service(url: str, address: str) -> None:
    found = service({"ANTHROPIC_BASE_URL": url})

    assert (found.address, found.problem, found.note) == (address, None, None)


@pytest.mark.parametrize(
    "url",
    [
        *("gate.example", "ftp://gate.example", "https:", "https:///v1", "http://a:port"),
        *("http://[", " http://a.b", "http://a b"),
    ],
)
def test_service_that_is_no_address(url: str) -> None:
    found = service({"ANTHROPIC_BASE_URL": url})

    assert found.problem is not None
    assert found.address == "ANTHROPIC_BASE_URL"


def test_password_in_an_address_is_told_and_not_shown() -> None:
    found = service({"ANTHROPIC_BASE_URL": "https://user:hunter2hunter2@gate.example:8443/"})

    assert (found.address, found.problem) == ("https://gate.example:8443", None)
    assert found.note == "holds a name or password of its own"
    assert "hunter2" not in repr(found)
