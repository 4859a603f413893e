"""What signs the agent in, as far as that can be seen without asking the service.

No value of a credential leaves this module: messages name the variable or file alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from pytest_plugin_eval.agents.credentials import (
    credentials_file,
    credentials_text,
    expiry_note,
    secrets_in,
)
from pytest_plugin_eval.judges.models import cloud_of
from pytest_plugin_eval.records.redact import SECRET_LENGTH
from pytest_plugin_eval.text import one_line

__all__ = ["BASE_URL", "Service", "SignIn", "service", "sign_in"]

BASE_URL = "ANTHROPIC_BASE_URL"

_API_KEY = "ANTHROPIC_API_KEY"
_BEARER = "ANTHROPIC_AUTH_TOKEN"
_SUBSCRIPTION = "CLAUDE_CODE_OAUTH_TOKEN"
_KINDS = {
    _BEARER: "a bearer token",
    _API_KEY: "an API key",
    _SUBSCRIPTION: "a token of a subscription",
}
"""In the order in which the agent takes them."""
_SWITCH = "CLAUDE_CODE_USE_"
# How keys and tokens of Anthropic's begin.
_KEY_MARK, _TOKEN_MARK = "sk-ant-api", "sk-ant-oat"
_PLACEHOLDER = re.compile(r"[<$%{].*|your.*|change-?_?me|x{3,}|\.{3,}|todo|none|null", re.I | re.S)
_QUOTES = ("'", '"')


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """What signs the agent in, and what is wrong with it."""

    kind: str
    origin: str
    """The variable or the file."""
    problems: tuple[str, ...] = ()
    """For which the service or the agent would refuse it."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Where requests go."""

    address: str
    """Without a user's name and password."""
    problem: str | None = None
    note: str | None = None


def sign_in(env: Mapping[str, str], now_s: float) -> SignIn | None:
    """Return what the agent would sign in with, ``None`` where there is nothing."""
    if cloud := cloud_of(env):
        switches = {name: value for name, value in env.items() if name.startswith(_SWITCH)}
        switch = next(name for name, value in switches.items() if cloud_of({name: value}) is cloud)
        note = "the provider's own credentials are looked for when a run starts"
        return SignIn(kind=cloud.value, origin=switch, notes=(note,))
    given = [name for name in _KINDS if env.get(name)]
    if given:
        name, others = given[0], given[1:]
        notes = [f"{other} is set too and is not used" for other in others]
        if len(env[name]) < SECRET_LENGTH:
            notes.append("it is too short to be kept out of records")
        return SignIn(
            kind=_KINDS[name],
            origin=name,
            problems=tuple(_faults(name, env[name])),
            notes=tuple(notes),
        )
    return _of_file(env, now_s)


def service(env: Mapping[str, str]) -> Service:
    """Return where requests to the Messages API go, and whether that can be an address."""
    url = env.get(BASE_URL, "")
    if not url:
        return Service(address="the API of Anthropic, or of the cloud provider")
    wrong = "expected an address such as https://gateway.example"
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return Service(address=BASE_URL, problem=f"is no address, {wrong}")
    address = one_line(f"{parts.scheme}://{parts.hostname or ''}{port}")
    if parts.scheme not in ("http", "https") or not parts.hostname or url.split() != [url]:
        return Service(address=BASE_URL, problem=f"is no address of a server, {wrong}")
    has_password = parts.username is not None or parts.password is not None
    return Service(
        address=address, note="holds a name or password of its own" if has_password else None
    )


def _faults(name: str, value: str) -> Iterator[str]:
    if value != value.strip():
        yield "has white space around it, expected none"
    elif value[0] in _QUOTES:
        yield "begins with a quotation mark, expected the value alone"
    elif not value.isascii() or not value.isprintable() or " " in value:
        yield "has characters that no credential has, expected one word of ASCII"
    elif _PLACEHOLDER.fullmatch(value):
        yield "looks like a placeholder, expected a credential"
    elif name == _API_KEY and value.startswith(_TOKEN_MARK):
        yield f"holds a token of a subscription, expected that in {_SUBSCRIPTION}"
    elif name == _SUBSCRIPTION and value.startswith(_KEY_MARK):
        yield f"holds an API key, expected that in {_API_KEY}"


def _of_file(env: Mapping[str, str], now_s: float) -> SignIn | None:
    file = credentials_file(env)
    try:
        is_there = file is not None and file.is_file()
    except OSError:
        is_there = False
    if file is None or not is_there:
        return None
    text = credentials_text(env)
    problems: tuple[str, ...]
    if text is None:
        problems = ("cannot be read as JSON, start claude once to sign in again",)
    elif not isinstance(json.loads(text), dict) or not secrets_in(text):
        problems = ("holds no sign-in, start claude once to sign in",)
    else:
        problems = expiry_note(text, now_s)
    return SignIn(kind="a subscription", origin=str(file), problems=problems)
