"""A Messages API on 127.0.0.1 that answers by a script, for the real agent binary and for judges.

README.md beside this file describes the script. As a process of its own:
`python -m tests.support.scripted_api --script FILE --port-file FILE`.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote

from tests.support.answer import address, error_body, error_event, json_body, stream_events
from tests.support.conversation import Conversation, read_conversation
from tests.support.playback import Choice, Playback
from tests.support.script_model import Fault, parse_script

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream; charset=utf-8"
_CLOUD_PATH = re.compile(r"/model/([^/]+)/invoke$|/publishers/anthropic/models/([^/]+):rawPredict$")
"""Where Amazon Bedrock and Google Vertex AI are asked, which name the model in the path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest:
    """A request; header names are in lower case, `choice` is `None` for all but messages."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, object]
    choice: Choice | None = None


class ScriptedApi:
    """A server that plays one script, from `start` to `close`; or as a context manager."""

    def __init__(self, script: object, *, port: int = 0, keep_requests: bool = True) -> None:
        """Check the script and bind the port, a free one for 0."""
        self._playback = Playback(parse_script(script))
        self._keep_requests = keep_requests
        self._requests: list[ApiRequest] = []
        self._arrival = threading.Condition()
        self._server = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def port(self) -> int:
        """Return the port that is listened on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Return the base URL, to be given as `ANTHROPIC_BASE_URL`."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> tuple[ApiRequest, ...]:
        """Return every request so far, in order of arrival."""
        with self._arrival:
            return tuple(self._requests)

    @property
    def messages(self) -> tuple[ApiRequest, ...]:
        """Return the requests for a message so far."""
        return tuple(request for request in self.requests if request.choice is not None)

    def wait_for_messages(self, count: int, timeout_s: float = 30.0) -> tuple[ApiRequest, ...]:
        """Return the requests for a message once there are `count`, or raise `TimeoutError`."""
        with self._arrival:
            if not self._arrival.wait_for(lambda: len(self.messages) >= count, timeout_s):
                raise TimeoutError(f"{len(self.messages)} of {count} messages after {timeout_s} s")
            return self.messages

    def start(self) -> Self:
        """Begin to answer."""
        self._thread.start()
        return self

    def close(self) -> None:
        """End every connection, waiting ones too, and free the port."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.end_connections()
        self._server.server_close()

    def __enter__(self) -> Self:
        """Begin to answer."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the server."""
        self.close()

    def choose(self, conversation: Conversation) -> Choice:
        """Return what the script answers to a request for a message."""
        return self._playback.choose(conversation)

    def record(self, request: ApiRequest) -> None:
        """Add a request to the log."""
        if self._keep_requests:
            with self._arrival:
                self._requests.append(request)
                self._arrival.notify_all()


class _Server(ThreadingHTTPServer):
    """The listening socket; it knows its open connections, so closing need not wait."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, place: tuple[str, int], api: ScriptedApi) -> None:
        self.api = api
        self.closing = threading.Event()
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(place, _Handler)

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        connection, peer = super().get_request()
        with self._open_lock:
            self._open.add(connection)
        return connection, peer

    def close_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        with self._open_lock:
            self._open.discard(request)
        super().close_request(request)

    def end_connections(self) -> None:
        self.closing.set()
        with self._open_lock:
            connections = tuple(self._open)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # the peer was faster

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Stay silent."""

    def do_HEAD(self) -> None:
        self._record({})
        self._send(200, JSON_TYPE, b"")

    def do_GET(self) -> None:
        self._record({})
        self._send(200, JSON_TYPE, b"{}")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            parsed: object = json.loads(raw or b"{}")
        except ValueError:
            parsed = None
        body = parsed if isinstance(parsed, dict) else {}
        path = self.path.partition("?")[0]
        if in_path := _CLOUD_PATH.search(path):
            self._answer({**body, "model": unquote(in_path[1] or in_path[2])})
            return
        match path:
            case "/v1/messages":
                self._answer(body)
            case "/v1/messages/count_tokens":
                self._record(body)
                self._send(200, JSON_TYPE, b'{"input_tokens":%d}' % (len(raw) // 4))
            case _:
                self._record(body)
                self._send(200, JSON_TYPE, b"{}")

    def _answer(self, body: Mapping[str, object]) -> None:
        conversation = read_conversation(body, self._lower_headers())
        choice = self.server.api.choose(conversation)
        self._record(body, choice)
        turn, fault, stream = choice.turn, choice.fault, bool(body.get("stream"))
        if turn.delay_s and self.server.closing.wait(turn.delay_s):
            self.close_connection = True
            return
        message = address(turn, model=conversation.model, seed=choice.seed, cwd=conversation.cwd)
        if fault is not None and fault.kind == "drop" and fault.after_events and not stream:
            self._send_half(json_body(message))
        elif fault is not None and (fault.after_events is None or not stream):
            self._disturb(fault, stream=stream)
        elif not stream:
            self._send(200, JSON_TYPE, json_body(message))
        elif fault is None and not turn.event_delay_s:
            self._send(200, STREAM_TYPE, b"".join(stream_events(message)))
        else:
            self._stream(stream_events(message), turn.event_delay_s, fault)

    def _disturb(self, fault: Fault, *, stream: bool) -> None:
        match fault.kind:
            case "error":
                self._send(fault.status, JSON_TYPE, error_body(fault), fault.headers)
            case "body":
                kind = STREAM_TYPE if stream else JSON_TYPE
                self._send(fault.status, kind, fault.content.encode())
            case "drop":
                self.close_connection = True

    def _stream(self, events: Sequence[bytes], delay_s: float, fault: Fault | None) -> None:
        """Send events one by one, up to the point where the fault comes in."""
        self.wfile.write(_head(200, STREAM_TYPE, "transfer-encoding: chunked", {}))
        good = events if fault is None else events[: fault.after_events]
        for event in good:
            self._send_chunk(event)
            if delay_s and self.server.closing.wait(delay_s):
                self.close_connection = True
                return
        if fault is not None and fault.kind == "drop":
            self.close_connection = True
            return
        if fault is not None:
            self._send_chunk(error_event(fault))
        self._send_chunk(b"")

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _send(
        self, status: int, content_type: str, content: bytes, headers: Mapping[str, str] = {}
    ) -> None:
        """Send head and body in one write: two would cost the client a second wake-up."""
        head = _head(status, content_type, f"content-length: {len(content)}", headers)
        self.wfile.write(head + content)

    def _send_half(self, content: bytes) -> None:
        head = _head(200, JSON_TYPE, f"content-length: {len(content)}", {})
        self.wfile.write(head + content[: len(content) // 2])
        self.close_connection = True

    def _lower_headers(self) -> Mapping[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _record(self, body: Mapping[str, object], choice: Choice | None = None) -> None:
        self.server.api.record(
            ApiRequest(
                method=self.command,
                path=self.path,
                headers=self._lower_headers(),
                body=body,
                choice=choice,
            )
        )


def _head(status: int, content_type: str, length: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", f"content-type: {content_type}", length]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; the port is written and printed once requests are answered."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.scripted_api")
    parser.add_argument("--script", type=Path, required=True, help="JSON file with the script")
    parser.add_argument("--port-file", type=Path, help="Written whole when ready")
    parser.add_argument("--port", type=int, default=0, help="A free one by default")
    options = parser.parse_args(arguments)
    script: object = json.loads(options.script.read_text(encoding="utf-8"))
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    # A process of its own serves benchmarks: thousands of kept bodies would only cost memory.
    with ScriptedApi(script, port=options.port, keep_requests=False) as api:
        if options.port_file is not None:
            part = options.port_file.with_suffix(".part")
            part.write_text(f"{api.port}\n", encoding="utf-8")
            part.replace(options.port_file)
        sys.stdout.write(f"{api.port}\n")
        sys.stdout.flush()
        ended.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
