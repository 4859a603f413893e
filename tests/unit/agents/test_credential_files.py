"""Secrets in credential files named by variables."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from pytest_plugin_eval.agents.credential_files import credential_paths, file_secrets

KEY = "-----BEGIN PRIVATE KEY-----\nfirst-line\nsecond-line\n-----END PRIVATE KEY-----"
ACCOUNT = {
    "type": "service_account",
    "project_id": "project-1",
    "private_key_id": "id-of-the-key",
    "private_key": f"{KEY}\n",
    "client_email": "me@project-1.example",
    "token_uri": "https://oauth.example/token",
}
USER = {"client_id": "client-1", "client_secret": "secret-1", "refresh_token": "refresh-1"}
CACHE = {"AccessToken": {"x": {"secret": "azure-1", "realm": "realm-1"}}, "list": [USER]}
PROFILES = """
[default]
aws_access_key_id = AKIA1
aws_secret_access_key=s/e+c=1
region = us-east-1
# role_arn = arn
[other]
  AWS_SESSION_TOKEN : session-1
"""


@pytest.mark.parametrize(
    ("variable", "name", "text", "secrets"),
    [
        (
            "GOOGLE_APPLICATION_CREDENTIALS",
            "gcp.json",
            json.dumps(ACCOUNT),
            {"id-of-the-key", KEY, "first-line", "second-line"},
        ),
        ("GOOGLE_APPLICATION_CREDENTIALS", "u.json", json.dumps(USER), {"secret-1", "refresh-1"}),
        ("AWS_SHARED_CREDENTIALS_FILE", "aws", PROFILES, {"AKIA1", "s/e+c=1", "session-1"}),
        ("AWS_CONFIG_FILE", "config", PROFILES, {"AKIA1", "s/e+c=1", "session-1"}),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "token", "a.b.c\n", {"a.b.c"}),
        ("AWS_REGION", "token", "a.b.c\n", set()),
        ("GOOGLE_APPLICATION_CREDENTIALS", "broken.json", "{", set()),
        ("GOOGLE_APPLICATION_CREDENTIALS", "list.json", "[1, null]", set()),
        ("GOOGLE_APPLICATION_CREDENTIALS", "deep.json", "[" * 100_000, set()),
        (
            "GOOGLE_APPLICATION_CREDENTIALS",
            "large.json",
            json.dumps({"token": "t" * 1024 * 1024}),
            set(),
        ),
    ],
    ids=[
        "service-account",
        "user",
        "aws",
        "aws-config",
        "token-file",
        "other-variable",
        "broken",
        "list",
        "deep",
        "large",
    ],
)
def test_secrets_of_a_file(
    tmp_path: Path, variable: str, name: str, text: str, secrets: set[str]
) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")

    assert set(file_secrets({variable: str(file)})) == secrets


@pytest.mark.parametrize(
    ("variable", "name", "secrets"),
    [
        (
            "CLOUDSDK_CONFIG",
            "application_default_credentials.json",
            {"azure-1", "secret-1", "refresh-1"},
        ),
        ("AZURE_CONFIG_DIR", "msal_token_cache.json", {"azure-1", "secret-1", "refresh-1"}),
    ],
)
def test_secrets_of_a_directory(
    tmp_path: Path, variable: str, name: str, secrets: set[str]
) -> None:
    (tmp_path / name).write_text(json.dumps(CACHE), encoding="utf-8")

    assert set(file_secrets({variable: str(tmp_path)})) == secrets


@pytest.mark.parametrize("place", ["", "{tmp}", "{tmp}/missing", "a\0b"])
def test_what_is_no_file_holds_nothing(tmp_path: Path, place: str) -> None:
    path = place.format(tmp=tmp_path)

    assert file_secrets({"GOOGLE_APPLICATION_CREDENTIALS": path}) == ()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
def test_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert file_secrets({"AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "pipe")}) == ()


def test_paths_of_credentials_are_those_that_variables_name() -> None:
    env = {
        "GOOGLE_APPLICATION_CREDENTIALS": "/srv/google.json",
        "AWS_CONFIG_FILE": "/srv/aws",
        "AZURE_CLIENT_CERTIFICATE_PATH": "/srv/cert.pem",
        "AZURE_FEDERATED_TOKEN_FILE": "relative",
        "AWS_SHARED_CREDENTIALS_FILE": "",
        "SSL_CERT_FILE": "/srv/authorities",
    }

    assert credential_paths(env) == (
        Path("/srv/google.json"),
        Path("/srv/aws"),
        Path("/srv/cert.pem"),
    )
