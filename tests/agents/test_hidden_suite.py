"""The agent cannot read how it is graded, and writes only where it may."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from pytest_plugin_eval.records.model import Arm, RunRecord
from tests.agents.conftest import make_backend
from tests.support.agents import make_case, make_request, tool_results, write_plugin
from tests.support.script import TurnData, rule, script, tool
from tests.support.scripted_api import ScriptedApi

pytestmark = pytest.mark.agent

ODD = "de,mo [1] (x)"
"""Characters that permission rules or lists of them might take for their own."""


def calls(root: Path) -> list[TurnData]:
    grader = root / "evals" / "hello" / "graders" / "says.md"
    return [
        [
            tool("Read", file_path=str(grader)),
            tool("Glob", pattern=str(root / "evals" / "**")),
            tool("Glob", pattern="*.md", path=str(root)),
            tool("Grep", pattern="GRADER-PATTERN", path=str(root / "evals")),
            tool("Grep", pattern="GRADER.PATTERN", path=str(root)),
            tool("Grep", pattern="GRADER..ATTERN", path=str(root.parent)),
            tool("Read", file_path=str(root / "results" / "1" / "trace.jsonl")),
            tool("Read", file_path=str(root / "notes.txt")),
            tool("Grep", pattern="bonjour", path=str(root / "skills")),
        ],
        [
            tool("Write", file_path="in.txt", content="x"),
            tool("Write", file_path="{cwd}/sub/absolute.txt", content="x"),
            tool("Write", file_path=str(root / "evil.txt"), content="x"),
            tool("Write", file_path=str(root.parent / "evil.txt"), content="x"),
            tool("Write", file_path="{cwd}/.git/evil", content="x"),
            tool("Write", file_path="{cwd}/../../out/evil", content="x"),
        ],
        "done",
    ]


@pytest.fixture(scope="module", params=["demo", ODD], ids=["plain", "odd-names"])
def runs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[Arm, RunRecord]]:
    base = tmp_path_factory.mktemp("hidden")
    root = write_plugin(base / str(request.param), {"results/1/trace.jsonl": "GRADER-PATTERN"})
    case = make_case(root, allowed_tools=("Read",))
    with ScriptedApi(script(rule(turns=calls(root)))) as api:
        backend = make_backend(api, base, run_root=base / "runs [2]")
        yield {
            arm: backend.run(
                make_request(case, arm, allow_tools=("Write",), hidden=(root / "results",))
            )
            for arm in Arm
        }
        backend.close()


def fine(record: RunRecord) -> list[str]:
    """Return what was let through, by tool and file name or pattern."""
    results = tool_results(record)
    return [
        f"{call.split(' ')[0]} {call.rsplit('/', 1)[-1].rsplit(' ', 1)[-1]}"
        for call, result in results.items()
        if not result.startswith("!")
    ]


def test_with_arm_reads_the_plugin_and_nothing_of_the_suite(
    runs: Mapping[Arm, RunRecord],
) -> None:
    assert sorted(fine(runs[Arm.WITH])) == [
        "Grep bonjour",
        "Read notes.txt",
        "Write absolute.txt",
        "Write in.txt",
    ]


def test_without_arm_reads_neither(runs: Mapping[Arm, RunRecord]) -> None:
    assert sorted(fine(runs[Arm.WITHOUT])) == ["Write absolute.txt", "Write in.txt"]


@pytest.mark.parametrize("arm", list(Arm))
def test_grader_is_never_seen(runs: Mapping[Arm, RunRecord], arm: Arm) -> None:
    assert "GRADER-PATTERN" not in "".join(tool_results(runs[arm]).values())
    assert [file.path for file in runs[arm].files if file.created] == ["in.txt", "sub/absolute.txt"]
