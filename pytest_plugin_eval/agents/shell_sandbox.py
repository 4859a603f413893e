"""The agent's own sandbox for a granted shell: its settings, and whether this machine has one.

Spec: agent-run, 5.5; deviations, D14; decisions, 25 and 26.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pytest_plugin_eval.agents.add_dirs import open_directories
from pytest_plugin_eval.agents.credential_files import credential_paths
from pytest_plugin_eval.agents.environment import given, secret_names
from pytest_plugin_eval.agents.grants import SHELL, ToolEntry, parse_entry
from pytest_plugin_eval.agents.rules import closed_places, spellings
from pytest_plugin_eval.agents.sandbox import Sandbox
from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.text import cut, one_line, shown

__all__ = ["check_shell", "has_shell", "prepare_home", "shell_settings"]

PROGRAMS = {"bwrap": "bubblewrap", "socat": "socat"}
"""What the agent's sandbox runs on Linux, and the packages that bring it."""
SOCKET_PLACE = 74
"""Longest path, in bytes, of a directory in which the sandbox can make its sockets: of 107 that the
system allows it takes 33 for their names (Claude Code 2.1.332)."""
TRIAL_S = 20
REASON_LENGTH = 300

# Files and directories that programs outside of the sandbox read when they start in the run: the
# agent's git, its shell, hooks of the plugin. What a shell command left there they would obey.
_STARTUP_TEXT = """
    .gitconfig .gitmodules .config/git .git/config .git/hooks .git/commondir .git/info/exclude
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .inputrc .envrc
    .zshrc .zshenv .zprofile .zlogin .zlogout
    .claude .claude.json .mcp.json .ssh .npmrc .yarnrc .yarnrc.yml .bunfig.toml .pnpmfile.cjs
    .config/pip .pypirc .cargo .local/lib .curlrc .wgetrc .netrc
"""
_STARTUP = tuple(_STARTUP_TEXT.split())
# Of these, what a shell reads.
_SHELL_TEXT = """
    .bash_aliases .bash_login .bash_logout .bash_profile .bashrc .inputrc .profile
"""
_SHELL_FILES = tuple(_SHELL_TEXT.split())
# What the agent itself covers in the working directory while a command runs.
_COVERED_TEXT = """
    .bash_profile .bashrc .claude .gitconfig .gitmodules .idea .mcp.json .profile .ripgreprc
    .vscode .zprofile .zshrc
"""
_COVERED = tuple(_COVERED_TEXT.split())
# Of other sessions, other users and the machine.
_PRIVATE_TEXT = """
    /tmp /var/tmp /dev/shm /run/secrets /run/credentials /run/user /var/run/secrets
    /etc/shadow /etc/gshadow /etc/ssl/private /etc/ssh /etc/kubernetes /var/lib/kubelet
    /etc/npmrc /usr/etc/npmrc /usr/local/etc/npmrc /etc/pip.conf /etc/boto.cfg /etc/wgetrc
    /etc/git-credentials /etc/docker /run/docker.sock /var/run/docker.sock
    /run/containerd /run/podman
"""
_PRIVATE = tuple(_PRIVATE_TEXT.split())
# Directories that the agent lets every shell of the machine write.
_SHARED = ("/tmp/claude", "/private/tmp/claude")  # noqa: S108 - closed, not used
# Where a home is the root of the file system, closing it would close everything.
_IN_ROOT_TEXT = """
    .aws .azure .claude .claude.json .config .docker .gnupg .kube .netrc .npmrc .pypirc .ssh
    .git-credentials .cache .local
"""
_IN_ROOT = tuple(_IN_ROOT_TEXT.split())


def has_shell(entries: Sequence[ToolEntry]) -> bool:
    """Tell whether a shell may be used, whatever commands it may run."""
    return any(entry.tool == SHELL for entry in entries)


def shell_settings(
    case: Case,
    arm: Arm,
    sandbox: Sandbox,
    *,
    entries: Sequence[ToolEntry],
    env: Mapping[str, str],
    hidden: Sequence[Path] = (),
) -> str | None:
    """Return the text of the agent's settings file, ``None`` where no shell is granted.

    *entries* is what may be used; *env* is the operator's environment.
    """
    if not has_shell(entries):
        return None
    plugins = [plugin.path for plugin in case.plugins]
    readable = [sandbox.home, sandbox.tmp, *(plugins if arm is Arm.WITH else ())]
    readable += open_directories(case)
    closed = [
        *_homes(env),
        *map(Path, _PRIVATE),
        *(plugin.parent for plugin in plugins if plugin.parent != Path(plugin.anchor)),
        *(plugins if arm is Arm.WITHOUT else ()),
        *closed_places(case),
        *hidden,
        sandbox.path.parent,
        sandbox.config,
        sandbox.out,
    ]
    untouched = [sandbox.config, sandbox.out, *map(Path, _SHARED), *_startup(sandbox)]
    block = {
        "enabled": True,
        "failIfUnavailable": True,
        "autoAllowBashIfSandboxed": False,
        "allowUnsandboxedCommands": False,
        "network": {"allowedDomains": list(_domains(entries))},
        "filesystem": {
            "allowWrite": _rules([sandbox.home, sandbox.tmp]),
            "denyWrite": _rules(untouched),
            "denyRead": _rules(closed),
            "allowRead": _rules(readable),
        },
        "credentials": {
            "files": [{"path": path, "mode": "deny"} for path in _rules(credential_paths(env))],
            "envVars": [{"name": name, "mode": "deny"} for name in secret_names(given(env))],
        },
    }
    return json.dumps({"sandbox": block})


def check_shell(
    grants: Sequence[str],
    removals: Sequence[str],
    *,
    env: Mapping[str, str],
    run_root: Path,
    platform: str,
) -> None:
    """Raise `SettingsError` where a shell is granted that this machine cannot confine."""
    entries = [entry for text in grants if (entry := parse_entry(text))]
    if not has_shell(entries) or SHELL in removals or platform == "darwin":
        # macOS brings the sandbox that the agent uses there.
        return
    grant = shown(str(next(entry for entry in entries if entry.tool == SHELL)))
    if platform != "linux":
        raise SettingsError(
            f"--eval-allow-tools: {grant} is refused on {platform}: the agent has no sandbox"
            " there, run the evals on Linux, in WSL 2 or on macOS"
        )
    path = env.get("PATH", os.defpath)
    missing = [name for program, name in PROGRAMS.items() if not shutil.which(program, path=path)]
    if missing:
        raise SettingsError(
            f"--eval-allow-tools: {grant} is refused: the sandbox that confines a shell needs"
            f" {' and '.join(missing)}, install with: apt-get install {' '.join(missing)}"
            " (or your system's package manager)"
        )
    most = SOCKET_PLACE - len(str(Sandbox(Path("/eval-12345678-999")).tmp))
    length = len(os.fsencode(run_root))
    if length > most:
        raise SettingsError(
            f"--eval-allow-tools: {grant} is refused: the sandbox puts its sockets into the run's"
            f" directory, whose path is too long with {run_root} of {length} bytes, expected at"
            f" most {most}, name another place with --eval-run-root"
        )
    if problem := _trial(path):
        raise SettingsError(
            f"--eval-allow-tools: {grant} is refused: bubblewrap (bwrap) cannot make a sandbox"
            f" here: {problem}, expected user namespaces to be allowed to it"
        )


def prepare_home(sandbox: Sandbox) -> None:
    """Make the run's home one in which commands in the agent's sandbox work without complaints.

    The sandbox covers what is closed and missing by a device that nobody can read. So the files
    that a shell reads first are made, empty, and git does not meet the rest, where ``git add -A``
    would fail. ``.gitconfig`` stays listed, since it is in runs without a shell.
    """
    for name in _SHELL_FILES:
        (sandbox.home / name).touch(mode=0o600)
    hidden = [name for name in _STARTUP if name != ".gitconfig" and not name.startswith(".git/")]
    hidden += [f"{sandbox.workspace.name}/{name}" for name in _COVERED]
    exclude = sandbox.home / ".git" / "info" / "exclude"
    exclude.parent.mkdir(mode=0o700)
    exclude.write_text("".join(f"/{name}\n" for name in hidden), encoding="utf-8")


def _homes(env: Mapping[str, str]) -> Iterator[Path]:
    """Yield what is closed of the operator's home, by the environment and by the user database."""
    named = {env.get(name, "") for name in ("HOME", "USERPROFILE")}
    if sys.platform != "win32":
        import pwd  # not on Windows

        with contextlib.suppress(KeyError):
            named.add(pwd.getpwuid(os.getuid()).pw_dir)
    for home in sorted(map(Path, filter(None, named))):
        if home == Path(home.anchor):
            yield from (home / name for name in _IN_ROOT)
        elif home.is_absolute():
            yield home


def _startup(sandbox: Sandbox) -> Iterator[Path]:
    return (sandbox.home / name for name in _STARTUP)


def _domains(entries: Sequence[ToolEntry]) -> Iterator[str]:
    for entry in entries:
        kind, _, domain = (entry.pattern or "").partition(":")
        if (entry.tool, kind) == ("WebFetch", "domain") and domain:
            yield domain


def _rules(paths: Iterable[Path]) -> list[str]:
    """Return paths as the settings have them, from the root, by each of their names."""
    names = [f"/{path.as_posix()}" for place in paths for path in spellings(place)]
    return list(dict.fromkeys(names))


def _trial(path: str) -> str | None:
    """Make an empty sandbox as the agent would; return why that does not work."""
    command = ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--die-with-parent"]
    command += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--", "true"]
    try:
        done = subprocess.run(
            command,
            env={"PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TRIAL_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    said = one_line(done.stderr).strip()
    return cut(said, REASON_LENGTH) or f"it ended with status {done.returncode}"
