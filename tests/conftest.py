"""Fixtures that hold for every test: nothing personal gets in, nothing leaves the machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.support.fixtures import scripted_api

__all__ = ["scripted_api"]

# No deadline: tests share the processors with child processes, one slow example means nothing.
hypothesis.settings.register_profile("dev", deadline=None, max_examples=50)
hypothesis.settings.register_profile(
    "ci", deadline=None, max_examples=200, derandomize=True, print_blob=True
)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")

# `CI` changes how much pytest prints, the proxies would take requests for 127.0.0.1 elsewhere, and
# git exports `GIT_DIR` to the hooks from which the suite may be started.
_FOREIGN_VARIABLES = (
    "ALL_PROXY",
    "BUILD_NUMBER",
    "CI",
    "FORCE_COLOR",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_COLOR",
    "NO_PROXY",
    "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS",
)
_FOREIGN_PREFIXES = ("ANTHROPIC_", "AWS_", "CLAUDE", "GIT_", "GOOGLE_", "PLUGIN_EVAL_", "XDG_")
_KEPT_VARIABLES = ("PLUGIN_EVAL_SHARED",)
_LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost", "", None)


def _is_foreign(name: str) -> bool:
    name = name.upper()
    if name in _KEPT_VARIABLES:
        return False
    return name in _FOREIGN_VARIABLES or name.startswith(_FOREIGN_PREFIXES)


# Both fixtures open their own MonkeyPatch: the `monkeypatch` fixture is function-scoped, and
# Hypothesis refuses tests that depend on such a fixture, be it by way of an automatic one.
@pytest.fixture(autouse=True)
def isolated_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the test an empty home directory and an environment without personal settings."""
    base = tmp_path_factory.getbasetemp()
    with (
        tempfile.TemporaryDirectory(prefix="home-", dir=base, ignore_cleanup_errors=True) as home,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name in tuple(filter(_is_foreign, os.environ)):
            patch.delenv(name)
        patch.setenv("HOME", home)
        patch.setenv("USERPROFILE", home)
        # pytester moves HOME into its own directory, where run directories would lie in the plugin.
        patch.setenv("XDG_CACHE_HOME", str(Path(home, ".cache")))
        yield Path(home)


def _refuse_foreign_host(family: int, address: object) -> None:
    if family not in (socket.AF_INET, socket.AF_INET6):
        return
    host = address[0] if isinstance(address, tuple) else address
    if host not in _LOCAL_HOSTS:
        pytest.fail(f"a test tried to reach {host!r}, only 127.0.0.1 is allowed", pytrace=True)


@pytest.fixture(autouse=True, scope="session")
def local_sockets_only() -> Iterator[None]:
    """Refuse connections and name look-ups that would leave the machine."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex
    getaddrinfo = socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: object) -> None:
        _refuse_foreign_host(self.family, address)
        connect(self, address)  # type: ignore[arg-type]  # any address the family takes

    def guarded_connect_ex(self: socket.socket, address: object) -> int:
        _refuse_foreign_host(self.family, address)
        return connect_ex(self, address)  # type: ignore[arg-type]  # as above

    def guarded_getaddrinfo(host: object, *args: object, **options: object) -> object:
        _refuse_foreign_host(socket.AF_INET, host)
        return getaddrinfo(host, *args, **options)  # type: ignore[arg-type]  # passed through

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
        yield


def _has_agent_binary() -> bool:
    return bool(shutil.which("claude") or importlib.util.find_spec("claude_agent_sdk"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests of the real agent, saying so, where there is none."""
    if _has_agent_binary():
        return
    skip = pytest.mark.skip(reason="no agent binary: pip install 'pytest-plugin-eval[claude]'")
    for item in items:
        if item.get_closest_marker("agent"):
            item.add_marker(skip)
