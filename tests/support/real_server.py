"""An MCP server over standard input and output, with one tool, as a plugin would bring one."""

from __future__ import annotations

import os

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

ECHO = types.Tool(
    name="echo",
    description="Gives a text back.",
    input_schema={"type": "object", "properties": {"text": {"type": "string"}}},
)


async def list_tools(
    context: ServerRequestContext[object], params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    """Return the one tool."""
    del context, params
    return types.ListToolsResult(tools=[ECHO])


async def call_tool(
    context: ServerRequestContext[object], params: types.CallToolRequestParams
) -> types.CallToolResult:
    """Return the text, marked with what the server's own environment says."""
    del context
    text = f"{os.environ.get('SERVER', 'tracker')}: real {(params.arguments or {}).get('text')}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def main() -> None:
    """Serve until the client goes away."""
    server = Server("real", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
