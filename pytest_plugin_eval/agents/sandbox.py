"""The directory tree of one run, and the place where such trees lie. Spec: agent-run, 1."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from pytest_plugin_eval.errors import AgentError

__all__ = [
    "RunRoot",
    "Sandbox",
    "default_run_root",
    "kept_directories",
    "leftovers",
    "remove_tree",
]

PREFIX = "eval-"
KEPT = "kept-"
REMOVAL_ATTEMPTS = 3
# Where run directories were by default until they had to be in a shorter place.
_FORMER = Path("pytest-plugin-eval", "runs")
CREDENTIALS = ".credentials.json"
SETTINGS = "settings.json"

_GITCONFIG = "[user]\n\tname = Plugin Eval\n\temail = eval@example.invalid\n"
# A repository without commits, written as files: nothing above it is searched for project settings.
_REPOSITORY = {
    "HEAD": "ref: refs/heads/main\n",
    "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    "commondir": ".\n",
}
_CLAUDE_JSON = (
    '{"hasCompletedOnboarding":true,"autoUpdates":false,"bypassPermissionsModeAccepted":false}'
)
_DIRECTORIES = (
    "home",
    "home/.git",
    "home/.git/objects",
    "home/.git/refs",
    "home/.git/refs/heads",
    "home/.git/hooks",
    "home/cwd",
    "config",
    "out",
    "tmp",
)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The directories of one run; the workspace is the agent's working directory."""

    path: Path

    @property
    def home(self) -> Path:
        """Return the run's home directory."""
        return self.path / "home"

    @property
    def workspace(self) -> Path:
        """Return the agent's working directory."""
        return self.path / "home" / "cwd"

    @property
    def config(self) -> Path:
        """Return the agent's configuration directory."""
        return self.path / "config"

    @property
    def out(self) -> Path:
        """Return the directory of what the harness itself leaves behind."""
        return self.path / "out"

    @property
    def tmp(self) -> Path:
        """Return the directory for temporary files of the run."""
        return self.path / "tmp"

    def make(self, *, credentials: str | None = None, settings: str | None = None) -> None:
        """Make the tree.

        *credentials* is the text of a credentials file for the agent, *settings* that of a file of
        settings.
        """
        self.path.mkdir(mode=0o700)
        for name in _DIRECTORIES:
            Path(self.path, name).mkdir(mode=0o700)
        for name, text in _REPOSITORY.items():
            Path(self.home, ".git", name).write_text(text, encoding="utf-8")
        Path(self.home, ".gitconfig").write_text(_GITCONFIG, encoding="utf-8")
        Path(self.config, ".claude.json").write_text(_CLAUDE_JSON, encoding="utf-8")
        if credentials is not None:
            file = self.config / CREDENTIALS
            file.touch(mode=0o600)
            file.write_text(credentials, encoding="utf-8")
        if settings is not None:
            Path(self.config, SETTINGS).write_text(settings, encoding="utf-8")

    def foreign_configuration(self, *, has_settings: bool = False) -> tuple[str, ...]:
        """Return what stands in the configuration directory although we did not put it there.

        *has_settings*: the tree was made with settings.
        """
        names = {path.name for path in self.config.iterdir()}
        own = {".claude.json", CREDENTIALS, *((SETTINGS,) if has_settings else ())}
        return tuple(sorted(names - own))

    def forget_credentials(self) -> None:
        """Remove the credentials file, for a directory that is kept."""
        (self.config / CREDENTIALS).unlink(missing_ok=True)


class RunRoot:
    """The place where one process makes its run directories; safe to use from several threads.

    While the process lives it holds a lock beside its directories; what a killed process left
    behind is known by its free lock. Kept directories are named otherwise and never stale.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = (path or default_run_root()).absolute()
        self._former = None if path else user_cache(os.environ, sys.platform) / _FORMER
        self._session = PREFIX + secrets.token_hex(4)
        self._lock: FileLock | None = None
        self._guard = threading.Lock()
        self._count = 0
        self._remover: ThreadPoolExecutor | None = None
        self._left: list[str] = []

    def open(self) -> None:
        """Make the place and take the lock; raises `AgentError` where that cannot be done."""
        with self._guard:
            if self._lock is None:
                self._open()

    def new(self) -> Sandbox:
        """Return a sandbox still to be made, in a place of its own."""
        self.open()
        with self._guard:
            self._count += 1
            return Sandbox(self.path / f"{self._session}-{self._count}")

    def keep(self, sandbox: Sandbox) -> Path:
        """Give a run directory the name of one that is kept, and return its new place."""
        sandbox.forget_credentials()
        kept = sandbox.path.with_name(KEPT + sandbox.path.name.removeprefix(PREFIX))
        try:
            return sandbox.path.rename(kept)
        except OSError:
            return sandbox.path

    def remove(self, sandbox: Sandbox) -> None:
        """Have a run directory removed while the next run goes on; the sign-in goes at once."""
        with contextlib.suppress(OSError):
            sandbox.forget_credentials()
        with self._guard:
            if self._remover is None:
                # Not a daemon: the interpreter waits for it even where nobody calls `close`.
                self._remover = ThreadPoolExecutor(1, thread_name_prefix="run-directories")
            self._remover.submit(self._remove, sandbox.path)

    def close(self) -> tuple[str, ...]:
        """Wait for removals and give up the lock; return what could not be removed."""
        with self._guard:
            remover, self._remover = self._remover, None
            lock, self._lock = self._lock, None
        if remover is not None:
            remover.shutdown()
        if lock is not None:
            _give_up(lock)
        return tuple(self._left)

    def _remove(self, path: Path) -> None:
        if os.path.lexists(path) and not remove_tree(path):
            self._left.append(str(path))

    def _open(self) -> None:
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = self.path / f"{self._session}.lock"
            # The lock itself takes some errors of a place that cannot be written for a busy lock.
            file.touch(mode=0o600)
            lock = FileLock(file, thread_local=False)
            lock.acquire(timeout=10)
        except (OSError, Timeout) as error:
            raise AgentError(
                f"{self.path}: run directories cannot be made here: {error}, name another place"
                " with --eval-run-root"
            ) from error
        self._lock = lock
        for place in filter(None, (self.path, self._former)):
            self._remove_stale(place)

    def _remove_stale(self, place: Path) -> None:
        for lock, directories in _stale(place, but=self._session):
            for directory in directories:
                remove_tree(directory)
            _give_up(lock)


def leftovers(place: Path) -> tuple[Path, ...]:
    """Return the run directories that killed processes left in a place of such."""
    found: list[Path] = []
    for lock, directories in _stale(place):
        lock.release()
        found += directories
    return tuple(sorted(found))


def kept_directories(place: Path) -> tuple[Path, ...]:
    """Return the run directories that were to be kept."""
    return tuple(sorted(place.glob(f"{KEPT}*")))


def _stale(place: Path, *, but: str = "") -> Iterator[tuple[FileLock, list[Path]]]:
    """Yield the locks that no process holds, now held, and the directories of each."""
    for file in place.glob(PREFIX + "*.lock"):
        if file.stem == but:
            continue
        lock = FileLock(file, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except (OSError, Timeout):
            continue
        yield lock, list(place.glob(file.stem + "-*"))


def default_run_root() -> Path:
    """Return the place of run directories where the user names none.

    Its path is short, since the sandbox of a granted shell makes sockets in the run directories.
    """
    return user_cache(os.environ, sys.platform) / "plugin-eval"


def user_cache(env: Mapping[str, str], platform: str) -> Path:
    """Return the user's cache directory: ``XDG_CACHE_HOME``, else the platform's own.

    A relative value does not count (XDG Base Directory Specification, 0.8).
    """
    chosen = Path(env.get("XDG_CACHE_HOME", ""))
    if chosen.is_absolute():
        return chosen
    return Path.home() / ("Library/Caches" if platform == "darwin" else ".cache")


def remove_tree(path: Path) -> bool:
    """Remove a tree, closed directories included; tell whether nothing is left."""
    for attempt in range(REMOVAL_ATTEMPTS):
        if attempt:
            # A process of the run may still be writing into it while it is being killed.
            time.sleep(0.05 * attempt)
            _open_directories(path)
        with contextlib.suppress(OSError):
            shutil.rmtree(path)
        if not os.path.lexists(path):
            return True
    return False


def _open_directories(path: Path) -> None:
    pending = [path]
    while pending:
        directory = pending.pop()
        try:
            if stat.S_ISDIR(directory.lstat().st_mode):
                directory.chmod(0o700)
            pending += [
                each for each in directory.iterdir() if each.is_dir() and not each.is_symlink()
            ]
        except OSError:
            continue


def _give_up(lock: FileLock) -> None:
    with contextlib.suppress(OSError):
        Path(lock.lock_file).unlink(missing_ok=True)
    lock.release()
