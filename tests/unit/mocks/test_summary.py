"""What is told of mocks: the line of the plan, warnings, and the field of the document."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.mock import MockServer, Place, PlacedServer
from pytest_plugin_eval.mocks.responder import MockResult, RunResponder
from pytest_plugin_eval.mocks.summary import (
    budget_text,
    mocked_text,
    mocks_fields,
    placing_warnings,
)
from tests.support.mocks import Model, agent_tool, mock_tool, placed, run_mocks

TRACKER = placed(mock_tool(name="create_issue"), agent_tool(name="find"))
WEATHER = PlacedServer(
    place=Place.STANDALONE,
    key="weather",
    segment="weather",
    mock=MockServer(name="weather", tools=(mock_tool(name="now"),)),
)
MAIL = PlacedServer(place=Place.WITHHELD, key="plugin:p:mail", segment="plugin_p_mail")


def test_the_line_of_the_plan() -> None:
    assert mocked_text([TRACKER, WEATHER, MAIL]) == (
        "mocked: tracker(create_issue=fixed, find=agent), weather[standalone](now=fixed),"
        " plugin_p_mail[not started: no mock]"
    )


def test_pinned_recordings_are_told(tmp_path: Path) -> None:
    tool = agent_tool(file=tmp_path / "mocks" / "tracker" / "t.md")
    tool.replay_directory.mkdir(parents=True)
    for digit in "01":
        (tool.replay_directory / f"t-{digit * 64}.json").write_text("{}", encoding="utf-8")

    assert mocked_text([placed(tool)]) == "mocked: tracker(t=agent; replay: 2 pinned)"


def test_the_budget() -> None:
    assert budget_text(10) == (
        "mock budget: 40 agent-answered calls a run, 4 for each turn, shared by all servers"
    )


@pytest.mark.parametrize(
    ("real_servers", "expected"),
    [
        (False, "plugin:p:mail has no mock and is not started, expected mocks/<server>/ or --eval"),
        (True, "plugin:p:mail has no mock, so what the plugin declares is really started, as you,"),
    ],
)
def test_servers_that_stand_alone_or_are_missing_are_warned_of(
    real_servers: bool, expected: str
) -> None:
    standing, missing = placing_warnings([TRACKER, WEATHER, MAIL], real_servers=real_servers)

    assert standing == (
        "mocks/weather/ stands for no server of the plugins and is served as one of its own; they"
        " declare plugin:demo:tracker, plugin:p:mail"
    )
    assert missing.startswith(expected)


def test_a_suite_without_declared_servers_is_not_warned() -> None:
    assert placing_warnings([WEATHER], real_servers=False) == ()


def test_the_field_of_the_document() -> None:
    responder = RunResponder(run_mocks(TRACKER, ask=Model("ERROR: gone")))
    responder.answer(TRACKER, "create_issue", {})
    responder.answer(TRACKER, "find", {})

    fields = mocks_fields(
        [TRACKER, WEATHER, MAIL],
        responder.close(),
        unmocked={"tracker/zz": 2},
        warnings=["careful"],
    )

    assert json.loads(json.dumps(fields)) == {
        "servers": [
            {
                "server": "tracker",
                "kind": "shadow",
                "tools": [
                    {"tool": "create_issue", "responder": "fixed"},
                    {"tool": "find", "responder": "agent"},
                ],
            },
            {
                "server": "weather",
                "kind": "standalone",
                "tools": [{"tool": "now", "responder": "fixed"}],
            },
            {"server": "plugin_p_mail", "kind": "shadow", "withheld": True, "tools": []},
        ],
        "warnings": ["careful"],
        "calls": {
            "total": 2,
            "errors": 1,
            "unmocked": [{"tool": "tracker/zz", "count": 2}],
            "costUsd": 0.25,
            "replay": {"hits": 0, "misses": 1},
        },
    }


def test_an_unknown_cost_is_null() -> None:
    result = replace(MockResult(), cost_usd=None)

    fields = mocks_fields([], result, unmocked={})

    assert json.loads(json.dumps(fields))["calls"]["costUsd"] is None
