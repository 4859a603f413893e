"""What readers are told of the mocks of a case and a run. Spec: agent-run, 7.1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pytest_plugin_eval.cases.mock import Place, PlacedServer
from pytest_plugin_eval.mocks.recordings import pinned_recordings
from pytest_plugin_eval.mocks.responder import BUDGET_PER_TURN, MockResult
from pytest_plugin_eval.text import plural

__all__ = ["budget_text", "mocked_text", "mocks_fields", "placing_warnings", "schema_warnings"]

Fields = dict[str, object]


def mocked_text(servers: Sequence[PlacedServer]) -> str:
    """Return a line for the plan: each server, its tools and who answers them."""
    return "mocked: " + ", ".join(map(_server_text, servers))


def budget_text(max_turns: int) -> str:
    """Return how many answers by a model a run may use up."""
    count = plural(BUDGET_PER_TURN * max_turns, "agent-answered call")
    return f"mock budget: {count} a run, {BUDGET_PER_TURN} for each turn, shared by all servers"


def placing_warnings(servers: Sequence[PlacedServer], *, real_servers: bool) -> tuple[str, ...]:
    """Return what an author should know of where mocks stand.

    *real_servers*: declared servers without a mock are started (``--eval-allow-real-servers``).
    """
    declared = [server.key for server in servers if server.place is not Place.STANDALONE]
    warnings = [
        f"mocks/{server.name}/ stands for no server of the plugins and is served as one of its own"
        f"; they declare {', '.join(declared)}"
        for server in servers
        if server.place is Place.STANDALONE and declared
    ]
    missing = [server.key for server in servers if server.place is Place.WITHHELD]
    if missing:
        have, are = ("has", "is") if len(missing) == 1 else ("have", "are")
        warnings.append(
            f"{', '.join(missing)} {have} no mock, so what the plugin declares is really started,"
            " as you, outside of any sandbox"
            if real_servers
            else f"{', '.join(missing)} {have} no mock and {are} not started, expected"
            " mocks/<server>/ or --eval-allow-real-servers"
        )
    return tuple(warnings)


def schema_warnings(servers: Iterable[PlacedServer]) -> tuple[str, ...]:
    """Return of which tools the agent was not told what they take."""
    unlisted = [
        (server.mock.name, [tool.name for tool in server.mock.tools if not tool.is_listed])
        for server in servers
        if server.mock is not None
    ]
    return tuple(
        f"mocks/{name}/_tools.json does not list {', '.join(tools)}, so the agent was told nothing"
        " of the input"
        for name, tools in unlisted
        if tools
    )


def mocks_fields(
    servers: Sequence[PlacedServer],
    result: MockResult,
    *,
    unmocked: Mapping[str, int],
    warnings: Iterable[str] = (),
) -> Fields:
    """Return the field ``mocks`` of a run in the result document."""
    return {
        "servers": [_server_fields(server) for server in servers],
        "warnings": list(warnings),
        "calls": {
            "total": len(result.calls),
            "errors": result.errors,
            "unmocked": [{"tool": tool, "count": count} for tool, count in unmocked.items()],
            "costUsd": result.cost_usd,
            "replay": {"hits": result.replay_hits, "misses": result.replay_misses},
        },
    }


def _server_text(server: PlacedServer) -> str:
    if server.mock is None:
        return f"{server.name}[not started: no mock]"
    tools = ", ".join(f"{tool.name}={tool.responder}" for tool in server.mock.tools)
    pinned = pinned_recordings(server.mock.tools)
    replay = f"; replay: {pinned} pinned" if pinned else ""
    mark = "[standalone]" if server.place is Place.STANDALONE else ""
    return f"{server.name}{mark}({tools}{replay})"


def _server_fields(server: PlacedServer) -> Fields:
    tools = server.mock.tools if server.mock is not None else ()
    fields: Fields = {
        "server": server.name,
        # A withheld server is one that would be shadowed, by nothing.
        "kind": "standalone" if server.place is Place.STANDALONE else "shadow",
    }
    if server.place is Place.WITHHELD:
        fields["withheld"] = True
    if pinned := pinned_recordings(tools):
        fields["replayPinned"] = pinned
    fields["tools"] = [{"tool": tool.name, "responder": str(tool.responder)} for tool in tools]
    return fields
