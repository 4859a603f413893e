"""The Model Context Protocol over HTTP: the one module that knows the packages for it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import anyio.to_thread
import mcp_types as types
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from pytest_plugin_eval.cases.mock import MockTool
from pytest_plugin_eval.mocks.responder import Answer

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Endpoint", "http_server"]

BODY_LIMIT = 64 << 20
THREADS = 64
"""Answers being worked out at once, over all runs."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What stands behind one path."""

    tools: Sequence[MockTool]
    answer: Callable[[str, Mapping[str, object]], Answer]
    """Called in a thread."""


Find: TypeAlias = Callable[[str], Endpoint | None]
Serve: TypeAlias = Callable[[threading.Event], Coroutine[None, None, None]]
"""Sets the event when requests are answered, and returns when the server was told to exit."""


def http_server(find: Find, listener: socket.socket) -> tuple[uvicorn.Server, Serve]:
    """Return a server for the endpoints that *find* knows, and what runs it.

    Nothing is kept between requests: each carries all that its answer needs, and a client that goes
    away leaves nothing behind.
    """
    port = listener.getsockname()[1]
    manager = StreamableHTTPSessionManager(
        _protocol(find),
        json_response=True,
        stateless=True,
        # A page in the operator's browser must not get here under a name of its own.
        security_settings=TransportSecuritySettings(
            allowed_hosts=[f"127.0.0.1:{port}"], allowed_origins=[]
        ),
        max_request_body_size=BODY_LIMIT,
    )
    config = uvicorn.Config(
        _application(find, manager),
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        http="h11",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)

    async def serve(ready: threading.Event) -> None:
        async with manager.run():
            ready.set()
            await server.serve(sockets=[listener])

    return server, serve


def _application(find: Find, manager: StreamableHTTPSessionManager) -> ASGIApp:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if find(scope["path"]) is None:
            await _refuse(send, 404)
        elif scope["method"] != "POST":
            # No stream from server to client: stand-ins never speak first.
            await _refuse(send, 405)
        else:
            await manager.handle_request(scope, receive, send)

    return application


def _protocol(find: Find) -> Server[dict[str, object]]:
    threads: list[anyio.CapacityLimiter] = []

    async def list_tools(
        context: ServerRequestContext, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=dict(tool.input_schema),
                )
                for tool in _endpoint(find, context).tools
            ]
        )

    async def call_tool(
        context: ServerRequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        endpoint = _endpoint(find, context)
        if not threads:
            threads.append(anyio.CapacityLimiter(THREADS))
        answer = await anyio.to_thread.run_sync(
            endpoint.answer,
            params.name,
            params.arguments or {},
            abandon_on_cancel=True,
            limiter=threads[0],
        )
        content = types.TextContent(type="text", text=answer.text)
        return types.CallToolResult(content=[content], is_error=answer.is_error)

    return Server("mock", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


def _endpoint(find: Find, context: ServerRequestContext) -> Endpoint:
    endpoint = find(context.request.scope["path"]) if context.request is not None else None
    # The run may have been closed since the request came in.
    return endpoint or Endpoint((), lambda _tool, _inputs: Answer("the run has ended", True))


async def _refuse(send: Send, status: int) -> None:
    headers = [(b"content-length", b"0")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
