"""One loopback server for the stand-ins of all runs of a session. Spec: agent-run, 7.

A process for each stand-in, as the reference starts them, would cost the import of the protocol's
package a run and server; here it is paid once, and a call takes about a millisecond. What keeps
runs apart is a path of their own that cannot be guessed.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from pytest_plugin_eval.cases.mock import PlacedServer
from pytest_plugin_eval.errors import AgentError
from pytest_plugin_eval.mocks.responder import MockResult, RunMocks, RunResponder

if TYPE_CHECKING:
    from uvicorn import Server as HttpServer

    from pytest_plugin_eval.mocks.protocol import Endpoint

__all__ = ["MockService", "OpenMocks", "check_packages"]

HOST = "127.0.0.1"
START_S = 60.0
END_S = 10.0
_TOKEN_BYTES = 32


def check_packages() -> None:
    """Raise `AgentError` when what serves mocks is not installed."""
    try:
        import pytest_plugin_eval.mocks.protocol  # noqa: F401 -- whether it can be
    except ImportError as error:
        raise AgentError(
            f"mocked servers need the package {error.name}, install it with"
            " pip install 'pytest-plugin-eval[mocks]' or pass --eval-mocks off"
        ) from error


class OpenMocks:
    """The stand-ins of one run, being served."""

    def __init__(self, service: MockService, token: str, run: RunMocks, *, port: int) -> None:
        """Stand for a run under a token; `MockService.open` does so."""
        self._service = service
        self._token = token
        self._base = f"http://{HOST}:{port}/{token}"
        self.responder = RunResponder(run)
        self.servers = tuple(server for server in run.servers if server.mock is not None)

    @property
    def config(self) -> Mapping[str, object]:
        """What the agent's ``--mcp-config`` file has to hold."""
        return {
            "mcpServers": {
                server.key: {"type": "http", "url": f"{self._base}/{number}"}
                for number, server in enumerate(self.servers)
            }
        }

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of all mocked tools, to be allowed."""
        return tuple(
            server.tool_name(tool.name)
            for server in self.servers
            if server.mock is not None
            for tool in server.mock.tools
        )

    def close(self) -> MockResult:
        """Stop serving and return what was answered."""
        self._service.forget(self._token)
        return self.responder.close()


class _Running(NamedTuple):
    port: int
    thread: threading.Thread
    http: HttpServer


class MockService:
    """Serves stand-ins; several threads may open and close runs at once.

    The server is started with the first run. `close` ends it; without that it ends with the
    process.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._runs: dict[str, OpenMocks] = {}

    def open(self, run: RunMocks) -> OpenMocks:
        """Serve the stand-ins of a run until they are closed.

        Raises `AgentError` when the extra is missing or no port can be had.
        """
        with self._lock:
            if self._running is None:
                self._running = self._start()
            token = secrets.token_urlsafe(_TOKEN_BYTES)
            opened = OpenMocks(self, token, run, port=self._running.port)
            self._runs[token] = opened
        return opened

    def forget(self, token: str) -> None:
        """Answer nothing further under a token."""
        with self._lock:
            self._runs.pop(token, None)

    def close(self) -> None:
        """End the server; runs that are still open are answered no more."""
        with self._lock:
            running, self._running = self._running, None
            self._runs.clear()
        if running is not None:
            running.http.should_exit = running.http.force_exit = True
            running.thread.join(END_S)

    def _found(self, path: str) -> tuple[OpenMocks, PlacedServer] | None:
        """Return the run and server that a path stands for."""
        token, _, number = path.removeprefix("/").partition("/")
        with self._lock:
            run = self._runs.get(token)
        if run is None or not number.isdecimal() or int(number[:4]) >= len(run.servers):
            return None
        return run, run.servers[int(number[:4])]

    def _endpoint(self, path: str) -> Endpoint | None:
        from pytest_plugin_eval.mocks.protocol import Endpoint

        found = self._found(path)
        if found is None or (mock := found[1].mock) is None:
            return None
        run, server = found
        return Endpoint(
            tools=mock.tools,
            answer=lambda tool, inputs: run.responder.answer(server, tool, inputs),
        )

    def _start(self) -> _Running:
        check_packages()
        from pytest_plugin_eval.mocks.protocol import http_server

        for name in ("mcp", "uvicorn.error"):
            # Otherwise their warnings would go to standard error where nobody configured logging.
            logging.getLogger(name).addHandler(logging.NullHandler())
        listener = socket.socket()
        try:
            listener.bind((HOST, 0))
            listener.listen(128)
        except OSError as error:
            listener.close()
            raise AgentError(f"{HOST}: no port for mocked servers: {error}") from error
        http, serve = http_server(self._endpoint, listener)
        ready = threading.Event()

        def main() -> None:
            with suppress(asyncio.CancelledError), listener:
                asyncio.run(serve(ready))

        thread = threading.Thread(target=main, name="mocked-servers", daemon=True)
        thread.start()
        if not ready.wait(START_S):
            http.should_exit = http.force_exit = True
            raise AgentError(f"{HOST}: mocked servers did not start within {START_S:g} s")
        return _Running(listener.getsockname()[1], thread, http)
