"""The environment of the agent process: an allow-list, then fixed values. Spec: agent-run, 2.1."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_plugin_eval.agents.sandbox import Sandbox

__all__ = ["agent_environment", "given", "inherited", "secret_names", "secret_values"]

_INHERITED_TEXT = """
    PATH LANG LANGUAGE TERM COLORTERM TZ USER LOGNAME SHELL CI NODE_ENV FORCE_COLOR NO_COLOR
    npm_config_registry NPM_CONFIG_REGISTRY SystemRoot COMSPEC PATHEXT IS_SANDBOX IS_DEMO
    API_TIMEOUT_MS USE_BUILTIN_RIPGREP MAX_THINKING_TOKENS MAX_MCP_OUTPUT_TOKENS
    MAX_STRUCTURED_OUTPUT_RETRIES SLASH_COMMAND_TOOL_CHAR_BUDGET
    CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR CLAUDE_AUTOCOMPACT_PCT_OVERRIDE
    FALLBACK_FOR_ALL_PRIMARY_MODELS ENABLE_TOOL_SEARCH NODE_TLS_REJECT_UNAUTHORIZED MSI_ENDPOINT
    IDENTITY_ENDPOINT CLOUD_ML_REGION GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT
    GCLOUD_PROJECT MCP_TIMEOUT MCP_TOOL_TIMEOUT HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy
    https_proxy all_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE
    CURL_CA_BUNDLE
"""
_INHERITED = frozenset(_INHERITED_TEXT.split())
_PREFIXES_TEXT = """
    LC_ EVAL_ ANTHROPIC_ CLAUDE_CODE_ AWS_ AZURE_ CLOUDSDK_ VERTEX_REGION_ DISABLE_ BASH_DEFAULT_
    BASH_MAX_
"""
_PREFIXES = tuple(_PREFIXES_TEXT.split())
# What an agent session sets for its children: tests started by an agent must not join its session.
_WITHHELD_TEXT = """
    CLAUDE_CODE_SSE_PORT CLAUDE_CODE_SESSION_ID CLAUDE_CODE_REMOTE CLAUDE_CODE_PLUGIN_CACHE_DIR
    CLAUDE_CODE_PLUGIN_SEED_DIR CLAUDE_CODE_DEBUG_LOGS_DIR CLAUDE_CODE_MESSAGING_SOCKET
    CLAUDE_CODE_MESSAGING_TOKEN CLAUDE_CODE_CHILD_NOTES_DIR CLAUDE_CODE_CHILD_SESSION
    CLAUDE_CODE_SESSION_ATTENDED
"""
_WITHHELD = frozenset(_WITHHELD_TEXT.split())
_FIXED = {
    "CLAUDE_CODE_ENTRYPOINT": "sdk-cli",
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "ENABLE_CLAUDEAI_MCP_SERVERS": "false",
    "DISABLE_AUTOUPDATER": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_PROXY_COMMAND": "",
}
# Nothing that a repository's own configuration names is run by the git commands of the agent.
_GIT_CONFIG = {
    "core.fsmonitor": "",
    "core.hooksPath": "/dev/null",
    "core.askPass": "",
    "protocol.ext.allow": "never",
    "core.alternateRefsCommand": "true",
    "submodule.recurse": "false",
    "log.showSignature": "false",
    "format.pretty": "medium",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "diff.autoRefreshIndex": "false",
    "core.pager": "cat",
    "core.editor": "true",
    "credential.helper": "",
}
_GIT_HOOKS_TEXT = """
    applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg
    commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update
    proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc
    post-rewrite sendemail-validate fsmonitor-watchman p4-changelist p4-prepare-changelist
    p4-post-changelist p4-pre-submit post-index-change
"""
_GIT_HOOKS = tuple(_GIT_HOOKS_TEXT.split())

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:(?:API)?KEY|TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)?|PAT|CREDENTIALS?"
    r"|CONNECTION_STRING)(?:_|$)",
    re.IGNORECASE,
)
# Such a variable names a place, not a secret, and its value is an ordinary path or address.
_PLACE_NAME = re.compile(
    r"_(?:FILE|PATH|DIR|URL|URI|ENDPOINT|HELPER|TTL_MS)$|^GOOGLE_APPLICATION_CREDENTIALS$",
    re.IGNORECASE,
)
_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
# Services that hand out credentials to whoever asks.
_IDENTITY_SERVICES = (
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "IDENTITY_ENDPOINT",
    "MSI_ENDPOINT",
)
_URL_PASSWORD = re.compile(r"^[a-z0-9+.-]+://[^/@]*?:([^/]+)@", re.IGNORECASE)


def inherited(env: Mapping[str, str]) -> dict[str, str]:
    """Return what the agent gets of the operator's environment."""
    return {name: value for name, value in env.items() if _passes(name)}


def given(env: Mapping[str, str]) -> dict[str, str]:
    """Return the above with the places where the operator's sign-ins to clouds are by default."""
    return {**_cloud_logins(env), **inherited(env)}


def agent_environment(
    env: Mapping[str, str], sandbox: Sandbox, case_env: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of a run."""
    return {
        **given(env),
        **case_env,
        **_FIXED,
        **_git_variables(),
        **_places(sandbox),
    }


def secret_values(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that no record may hold, of those variables that the agent gets."""
    return tuple(dict.fromkeys(value for value in _secrets(inherited(env)) if value))


def secret_names(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables that a granted shell does not get, of those that the agent gets.

    ``EVAL_`` variables are meant for what runs in the workspace.
    """
    return tuple(
        name for name in sorted(env) if not name.startswith("EVAL_") and _is_secret(name, env[name])
    )


def _passes(name: str) -> bool:
    if name in _WITHHELD:
        return False
    return name in _INHERITED or name.startswith(_PREFIXES)


def _cloud_logins(env: Mapping[str, str]) -> dict[str, str]:
    # The tools of the providers look below HOME, which is another one in the run.
    home = env.get("HOME") or env.get("USERPROFILE")
    if not home:
        return {}
    return {
        "AWS_SHARED_CREDENTIALS_FILE": str(Path(home, ".aws", "credentials")),
        "AWS_CONFIG_FILE": str(Path(home, ".aws", "config")),
        "CLOUDSDK_CONFIG": str(Path(home, ".config", "gcloud")),
        "AZURE_CONFIG_DIR": str(Path(home, ".azure")),
    }


def _git_variables() -> dict[str, str]:
    pairs = [*_GIT_CONFIG.items(), *((f"hook.{name}.enabled", "false") for name in _GIT_HOOKS)]
    variables = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for number, (key, value) in enumerate(pairs):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables


def _places(sandbox: Sandbox) -> dict[str, str]:
    home, tmp = sandbox.home, str(sandbox.tmp)
    return {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "TMPDIR": tmp,
        "TMP": tmp,
        "TEMP": tmp,
        "CLAUDE_CODE_TMPDIR": tmp,
        "CLAUDE_CONFIG_DIR": str(sandbox.config),
    }


def _secrets(env: Mapping[str, str]) -> Iterator[str]:
    for name, value in env.items():
        if name == _HEADERS:
            yield from (line.partition(":")[2].strip() for line in value.splitlines())
            continue
        yield from _URL_PASSWORD.findall(value)
        if _has_secret_name(name):
            yield value


def _is_secret(name: str, value: str) -> bool:
    return (
        name in (_HEADERS, *_IDENTITY_SERVICES)
        or _has_secret_name(name)
        or _URL_PASSWORD.search(value) is not None
    )


def _has_secret_name(name: str) -> bool:
    return bool(_SECRET_NAME.search(name) and not _PLACE_NAME.search(name))
