"""A machine to log in to: sshd on 127.0.0.1, with keys of its own, as the user of the tests."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["missing_ssh", "remote_host"]

READY_S = 30.0
_EMPTY = Path("/run/sshd")
MARK = "plugin-eval-tests-"
_PROGRAMS = ("ssh", "ssh-keygen")


def missing_ssh() -> str | None:
    """Return what of OpenSSH is not installed, ``None`` where a server can be started."""
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    if _sshd() is None:
        missing.append("sshd")
    return " and ".join(missing) or None


@contextlib.contextmanager
def remote_host(directory: Path, env: Mapping[str, str] | None = None) -> Iterator[Path]:
    """Start sshd; yield a configuration by which ``ssh -F`` reaches it as ``elsewhere``.

    *env* is the environment of whoever logs in. All that was begun ends with the block.
    """
    directory.mkdir(mode=0o700)
    for name in ("host_key", "user_key"):
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name))
    (directory / "authorized_keys").write_bytes((directory / "user_key.pub").read_bytes())
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    _write_files(directory, port, env or {})
    log = directory / "sshd.log"
    with _privilege_separation(), _server(directory, log) as server:
        _log_in(directory, server, log)
        yield directory / "ssh_config"


@contextlib.contextmanager
def _server(directory: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        server = subprocess.Popen(
            [f"{_sshd()}", "-D", "-e", "-f", str(directory / "sshd_config")],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        server.wait(READY_S)


@contextlib.contextmanager
def _privilege_separation() -> Iterator[None]:
    """Have the directory that Debian's sshd wants where root starts it.

    Several tests may want it at once: each leaves a mark there, whose text tells whether it was
    there before all of them and is to stay.
    """
    if os.geteuid() != 0:
        yield
        return
    mark = _EMPTY / f"{MARK}{secrets.token_hex(8)}"
    with _alone():
        others = list(_EMPTY.glob(f"{MARK}*"))
        stays = others[0].read_text("utf-8") if others else "yes" if _EMPTY.is_dir() else "no"
        _EMPTY.mkdir(mode=0o755, exist_ok=True)
        mark.write_text(stays, encoding="utf-8")
    try:
        yield
    finally:
        with _alone():
            mark.unlink()
            if stays == "no" and not any(_EMPTY.iterdir()):
                _EMPTY.rmdir()


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    handle = os.open(_EMPTY.parent, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _sshd() -> str | None:
    # It has to be started by its absolute path.
    return shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def _write_files(directory: Path, port: int, env: Mapping[str, str]) -> None:
    server = [
        f"Port {port}",
        "ListenAddress 127.0.0.1",
        f"HostKey {directory}/host_key",
        f"AuthorizedKeysFile {directory}/authorized_keys",
        f"PidFile {directory}/sshd.pid",
        "StrictModes no",
        "UsePAM no",
        "PasswordAuthentication no",
        "PermitRootLogin prohibit-password",
        *([f"SetEnv {' '.join(f'{name}={value}' for name, value in env.items())}"] if env else []),
        "",
    ]
    client = [
        "Host elsewhere",
        "  HostName 127.0.0.1",
        f"  Port {port}",
        f"  User {getpass.getuser()}",
        f"  IdentityFile {directory}/user_key",
        "  IdentitiesOnly yes",
        "  BatchMode yes",
        "  StrictHostKeyChecking no",
        f"  UserKnownHostsFile {directory}/known_hosts",
        "  LogLevel ERROR",
        "",
    ]
    (directory / "sshd_config").write_text("\n".join(server), encoding="utf-8")
    (directory / "ssh_config").write_text("\n".join(client), encoding="utf-8")


def _log_in(directory: Path, server: subprocess.Popen[bytes], log: Path) -> None:
    """Log in once, as soon as the server listens."""
    config = str(directory / "ssh_config")
    tries = ("-o", f"ConnectionAttempts={READY_S:.0f}")
    done = subprocess.run(
        ["ssh", "-F", config, *tries, "elsewhere", sys.executable, "-V"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=2 * READY_S,
        check=False,
    )
    if done.returncode != 0 or server.poll() is not None:
        told = log.read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"no way in by ssh: {done.stderr.decode(errors='replace')}{told}")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
