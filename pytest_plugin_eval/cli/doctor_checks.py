"""What `plugin-eval doctor` sees of the machine: agent, sign-in, directories, extras."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from pytest_plugin_eval import __version__
from pytest_plugin_eval.agents.binary import find_binary, find_git
from pytest_plugin_eval.agents.sandbox import (
    RunRoot,
    default_run_root,
    kept_directories,
    leftovers,
)
from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.errors import AgentError, EvalError
from pytest_plugin_eval.execution.machine import check_run_root
from pytest_plugin_eval.execution.sign_in import BASE_URL, service, sign_in
from pytest_plugin_eval.settings import Settings
from pytest_plugin_eval.storage.space import RESERVE_BYTES
from pytest_plugin_eval.text import one_line, without_surrogates

__all__ = ["Check", "Sign", "machine_checks", "place_checks", "refused", "run_root_check"]

MIB = 1024 * 1024
NEEDED_BYTES = 2 * RESERVE_BYTES
"""What a session sets aside, and as much again for the next record."""
SCARCE_BYTES = 512 * MIB
"""Below this the workspaces of a suite may fill the disk."""
EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "judge": (("anthropic", "genai_prices"), "judges over the Messages API, and prices"),
    "mocks": (("mcp",), "stand-ins for MCP servers"),
    "stats": (("scipy",), "Clopper-Pearson intervals"),
    "claude": (("claude_agent_sdk",), "agent binary but one on PATH"),
}
_NO_SIGN_IN = (
    "set ANTHROPIC_API_KEY, or CLAUDE_CODE_OAUTH_TOKEN to what 'claude setup-token' prints, or"
    " start claude once and sign in (a sign-in in the keychain of macOS cannot be used)"
)


class Sign(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    """A session would start, and may not do what is expected."""
    PROBLEM = "problem"
    """A session would be refused, or could not end well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    sign: Sign
    text: str
    remedy: str = ""
    """What to do about it; empty when nothing is to be done, or the text says it."""
    details: tuple[str, ...] = ()

    def fields(self) -> dict[str, object]:
        """Return the check for scripts."""
        fields: dict[str, object] = {"name": self.name, "sign": self.sign.value}
        fields["text"] = _clean(self.text)
        fields["remedy"] = _clean(self.remedy) or None
        return fields | {"details": list(map(_clean, self.details))}


def refused(name: str, error: EvalError | OSError | RuntimeError, remedy: str = "") -> Check:
    """Return a check that ended in a refusal."""
    text = one_line(str(error)) or type(error).__name__
    return Check(name=name, sign=Sign.PROBLEM, text=text, remedy=remedy)


def machine_checks(settings: Settings, env: Mapping[str, str], now_s: float) -> Iterator[Check]:
    """Yield what no suite is needed for."""
    yield _versions()
    yield from _agent(settings, env)
    yield _sign_in(env, now_s)
    yield _service(env)
    yield _extras()


def place_checks(bases: Iterable[Path], run_root: Path | None) -> Iterator[Check]:
    """Yield whether results can be written to *bases*, and whether there is room."""
    places = tuple(bases)
    for base in places:
        yield _writable(base)
    yield _room((*places, *_root_of(run_root)))


def _versions() -> Check:
    text = (
        f"pytest-plugin-eval {__version__}, pytest {metadata.version('pytest')},"
        f" Python {platform.python_version()} on {platform.system()}"
    )
    return Check(name="versions", sign=Sign.OK, text=text)


def _agent(settings: Settings, env: Mapping[str, str]) -> Iterator[Check]:
    try:
        git = find_git(env)
    except AgentError as error:
        yield refused("git", error, "upgrade git, or leave it out of PATH")
        yield Check(name="agent", sign=Sign.WARNING, text="not looked at, for want of a usable git")
        return
    text = git or "not installed, and not needed"
    yield Check(name="git", sign=Sign.OK, text=text)
    try:
        binary = find_binary(settings.agent_path, env)
    except AgentError as error:
        yield refused("agent", error)
        return
    yield Check(name="agent", sign=Sign.OK, text=binary.description)


def _sign_in(env: Mapping[str, str], now_s: float) -> Check:
    found = sign_in(env, now_s)
    if found is None:
        text = "none found, neither in the environment nor in a credentials file"
        return Check(name="credentials", sign=Sign.PROBLEM, text=text, remedy=_NO_SIGN_IN)
    text = f"{found.kind}, by {found.origin}"
    if found.problems:
        return Check(
            name="credentials",
            sign=Sign.PROBLEM,
            text=f"{text}: {'; '.join(found.problems)}",
            remedy=f"mend {found.origin}",
            details=found.notes,
        )
    return Check(
        name="credentials",
        sign=Sign.OK,
        text=f"{text} (not tried)",
        details=found.notes,
    )


def _service(env: Mapping[str, str]) -> Check:
    found = service(env)
    if found.problem:
        text = f"{found.address} {found.problem}"
        return Check(
            name="service", sign=Sign.PROBLEM, text=text, remedy=f"mend {BASE_URL} or unset it"
        )
    sign = Sign.WARNING if found.note else Sign.OK
    text = f"{found.address} (not contacted)"
    return Check(name="service", sign=sign, text=f"{text}; it {found.note}" if found.note else text)


def run_root_check(settings: Settings, cases: Iterable[Case] = ()) -> Check:
    """Open the place of run directories as a session does, which clears up behind killed ones."""
    name = "run directories"
    try:
        check_run_root(settings, cases)
        root = RunRoot(settings.run_root)
        left, kept = len(leftovers(root.path)), len(kept_directories(root.path))
        root.open()
        root.close()
    except (EvalError, OSError, RuntimeError) as error:
        return refused(name, error, "name another place with --run-root (pytest: --eval-run-root)")
    details = []
    if left:
        was = "directory" if left == 1 else "directories"
        details.append(f"{left} {was} of killed sessions removed, as a session would have done")
    if kept:
        was = "directory" if kept == 1 else "directories"
        details.append(
            f"{kept} {was} kept by --keep-temp, to be removed by you: {root.path}/kept-*"
        )
    return Check(name=name, sign=Sign.OK, text=str(root.path), details=tuple(details))


def _extras() -> Check:
    missing = {
        extra: use
        for extra, (modules, use) in EXTRAS.items()
        if any(importlib.util.find_spec(module) is None for module in modules)
    }
    there = [extra for extra in EXTRAS if extra not in missing]
    text = f"installed: {', '.join(there) or 'none'}"
    details = tuple(
        f"without {extra}: no {use} (pip install 'pytest-plugin-eval[{extra}]')"
        for extra, use in missing.items()
    )
    return Check(name="extras", sign=Sign.OK, text=text, details=details)


def _writable(base: Path) -> Check:
    place = _nearest(base)
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        return Check(
            name="results",
            sign=Sign.PROBLEM,
            text=f"{base}: cannot be written: {error.strerror}",
            remedy="name another place with --output-dir (pytest: --eval-results-dir)",
        )
    return Check(name="results", sign=Sign.OK, text=str(base))


def _room(places: Iterable[Path]) -> Check:
    free: dict[Path, int] = {}
    for place in places:
        try:
            usage = shutil.disk_usage(_nearest(place))
        except OSError:
            continue
        if usage.total:  # some network file systems tell nothing
            free[place] = usage.free
    if not free:
        return Check(name="disk space", sign=Sign.OK, text="unknown")
    place = min(free, key=lambda one: free[one])
    text = f"{free[place] // MIB} MiB free for {place}"
    if free[place] < NEEDED_BYTES:
        need = f"free some, expected room for {NEEDED_BYTES // MIB} MiB"
        return Check(name="disk space", sign=Sign.PROBLEM, text=text, remedy=need)
    sign = Sign.WARNING if free[place] < SCARCE_BYTES else Sign.OK
    remedy = "" if sign is Sign.OK else "free some: records and workspaces of a suite take more"
    return Check(name="disk space", sign=sign, text=text, remedy=remedy)


def _root_of(run_root: Path | None) -> tuple[Path, ...]:
    try:
        return (run_root or default_run_root(),)
    except RuntimeError:  # no home, which has been said
        return ()


def _nearest(path: Path) -> Path:
    """Return the directory, or the one above it in which it would be made."""
    for place in (path, *path.parents):
        if os.path.lexists(place):
            return place
    return Path()


def _clean(text: str) -> str:
    return without_surrogates(one_line(text))
