"""Secrets in the files that variables of the agent's environment name. Spec: decisions, 15."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

__all__ = ["credential_paths", "file_secrets"]

SIZE_LIMIT = 1024 * 1024
"""A larger file holds something else than credentials."""

_JSON_FILES = {
    "GOOGLE_APPLICATION_CREDENTIALS": "",
    "CLOUDSDK_CONFIG": "application_default_credentials.json",
    "AZURE_CONFIG_DIR": "msal_token_cache.json",
}
_AWS_FILES = {"AWS_SHARED_CREDENTIALS_FILE": "", "AWS_CONFIG_FILE": ""}
_WHOLE_FILES = {
    "AWS_WEB_IDENTITY_TOKEN_FILE": "",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "",
    "AZURE_FEDERATED_TOKEN_FILE": "",
}
# Read by nobody here, since their forms are many.
_OTHER_PLACES = (
    "AZURE_CLIENT_CERTIFICATE_PATH",
    "GOOGLE_GHA_CREDS_PATH",
    "CLAUDE_CODE_CLIENT_CERT",
    "CLAUDE_CODE_CLIENT_KEY",
)
# Whole names: `token_uri` and the like are ordinary addresses.
_JSON_KEYS_TEXT = """
    private_key private_key_id client_secret refresh_token access_token id_token api_key secret
    password token
"""
_JSON_KEYS = frozenset(_JSON_KEYS_TEXT.split())
_AWS_LINE = re.compile(
    r"^[ \t]*aws_(?:secret_access_key|access_key_id|session_token|security_token)[ \t]*[=:]"
    r"[ \t]*(\S+)",
    re.IGNORECASE | re.MULTILINE,
)


def file_secrets(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return what no record may hold of the files that the agent's variables name.

    Files that are missing, unreadable or not of the form expected hold nothing.
    """
    return tuple(dict.fromkeys(value for value in _values(env) if value))


def credential_paths(env: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the files and directories of credentials that the variables name."""
    names = (*_JSON_FILES, *_AWS_FILES, *_WHOLE_FILES, *_OTHER_PLACES)
    paths = (Path(env[name]) for name in names if env.get(name))
    return tuple(dict.fromkeys(path for path in paths if path.is_absolute()))


def _values(env: Mapping[str, str]) -> Iterator[str]:
    readers: tuple[tuple[Mapping[str, str], Callable[[str], Iterator[str]]], ...] = (
        (_JSON_FILES, _in_json),
        (_AWS_FILES, _in_profiles),
        (_WHOLE_FILES, _lines),
    )
    for files, read in readers:
        for name, inner in files.items():
            if env.get(name):
                yield from read(_text(Path(env[name], inner)))


def _text(file: Path) -> str:
    try:
        # The kind first: a pipe would be waited for.
        if not file.is_file() or file.stat().st_size >= SIZE_LIMIT:
            return ""
        return file.read_text(encoding="utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return ""


def _in_json(text: str) -> Iterator[str]:
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError):
        return
    pending = [("", data)]
    while pending:
        key, value = pending.pop()
        if isinstance(value, dict):
            pending += [(str(name).lower(), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            pending += [(key, inner) for inner in value]
        elif isinstance(value, str) and key in _JSON_KEYS:
            yield from _lines(value)


def _in_profiles(text: str) -> Iterator[str]:
    yield from _AWS_LINE.findall(text)


def _lines(text: str) -> Iterator[str]:
    """Yield a secret whole and line by line, as tools show keys of several lines."""
    yield text.strip()
    yield from (line for line in map(str.strip, text.splitlines()) if not line.startswith("-----"))
