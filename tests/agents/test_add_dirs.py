"""Directories of a case that the agent may read, and what stays hidden beside them."""

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

SECRET = "GRADER-PATTERN"
FILES = {
    "evals/hello/data/x.txt": "OPENED x",
    "evals/hello/data/sub/y.txt": "OPENED y",
    "evals/hello/data2/x.txt": SECRET,
    "evals/hello/more/deep/z.txt": "OPENED z",
    "evals/hello/more/hidden.txt": SECRET,
    "evals/other/prompt.md": SECRET,
    "evals/loose.txt": SECRET,
    "evals/results/1/trace.jsonl": SECRET,
}
MANY = {f"evals/c{number:03}/prompt.md": SECRET for number in range(400)}
MANY |= {"evals/hello2/prompt.md": SECRET, "evals/.dot/prompt.md": SECRET, "evals/h": SECRET}


def calls(root: Path) -> list[TurnData]:
    case = root / "evals" / "hello"
    opened = ("data/x.txt", "data/sub/y.txt", "more/deep/z.txt")
    closed = (
        *("data/grader", "data/graders-of-it/says.md", "data/far", "data2/x.txt"),
        *("more/hidden.txt", "prompt.md", "graders/says.md", "../other/prompt.md", "../loose.txt"),
        *("../results/1/trace.jsonl", "../hello/data/../graders/says.md", "../c007/prompt.md"),
        *("../hello2/prompt.md", "../.dot/prompt.md", "../h"),
    )
    return [
        [tool("Read", file_path=str(case / name)) for name in opened],
        [tool("Read", file_path=f"{case}/{name}") for name in closed],
        [
            tool("Glob", pattern="**/*.txt", path=str(case / "data")),
            tool("Grep", pattern="OPENED", path=str(case / "more" / "deep")),
            tool("Grep", pattern="GRADER.PATTERN", path=str(case / "data")),
            tool("Grep", pattern="GRADER..ATTERN", path=str(case)),
            tool("Grep", pattern="GRADER...TTERN", path=str(root / "evals")),
        ],
        [
            tool("Write", file_path=str(case / "data" / "new.txt"), content="x"),
            tool("Write", file_path="{cwd}/here.txt", content="x"),
        ],
        "done",
    ]


@pytest.fixture(scope="module", params=[{}, MANY], ids=["few", "many"])
def runs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[Arm, RunRecord]]:
    base = tmp_path_factory.mktemp("opened")
    root = write_plugin(base / "demo", {**FILES, **request.param})
    data = root / "evals" / "hello" / "data"
    (data / "grader").symlink_to("../graders/says.md")
    (data / "graders-of-it").symlink_to("../graders", target_is_directory=True)
    (base / "far.txt").write_text(SECRET)
    (data / "far").symlink_to(base / "far.txt")
    case = make_case(root, add_dirs=("data", "./more/../more/deep/"))
    with ScriptedApi(script(rule(turns=calls(root)))) as api:
        backend = make_backend(api, base)
        yield {
            arm: backend.run(
                make_request(
                    case, arm, allow_tools=("Write",), hidden=(root / "evals" / "results",)
                )
            )
            for arm in Arm
        }
        backend.close()


@pytest.mark.parametrize("arm", list(Arm))
def test_opened_directories_are_read_only_and_nothing_else_is_open(
    runs: Mapping[Arm, RunRecord], arm: Arm
) -> None:
    results = tool_results(runs[arm])

    fine = [call for call, result in results.items() if not result.startswith("!")]
    assert sorted(f"{call.split(' ')[0]} {call.rsplit('/', 1)[-1]}" for call in fine) == [
        "Glob *.txt",
        "Grep Grep GRADER.PATTERN",
        "Grep Grep OPENED",
        "Read x.txt",
        "Read y.txt",
        "Read z.txt",
        "Write here.txt",
    ]
    assert "OPENED" in "".join(results.values())


@pytest.mark.parametrize("arm", list(Arm))
def test_nothing_of_the_suite_is_seen(runs: Mapping[Arm, RunRecord], arm: Arm) -> None:
    assert SECRET not in "".join(tool_results(runs[arm]).values())
