"""Grants with the real agent: what they open, and that they are refused before any request."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_plugin_eval.records.model import Arm, Ending
from tests.agents.conftest import make_backend
from tests.differential.suite import exists, used
from tests.support.agents import make_case, make_request, tool_results, write_files, write_plugin
from tests.support.reference import run_reference
from tests.support.script import rule, script, tool
from tests.support.scripted_api import ScriptedApi
from tests.support.sessions import Sessions

pytestmark = [
    pytest.mark.agent,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of Linux is tried"),
]

TOUCH = script(rule(turns=[[tool("Bash", command="touch a.txt")], "done"]))


@pytest.fixture
def base() -> Iterator[Path]:
    """Return a directory with a short path: the sandbox makes its sockets below it."""
    with tempfile.TemporaryDirectory(prefix="grants-") as path:
        yield Path(path)


@pytest.fixture
def session(base: Path, scripted_api: Callable[[object], ScriptedApi]) -> Sessions:
    """Return a session whose model makes a file with a shell, looked for by a case."""
    session = Sessions(base, scripted_api(TOUCH))
    session.suite.case(
        "a", {"made": exists("a.txt"), "ran": used("Bash")}, front={"allowed_tools": ["Bash"]}
    )
    return session


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_granted_shell_makes_a_file(session: Sessions, options: tuple[str, ...]) -> None:
    status, output = session.run("evals", "--eval-allow-tools", "Bash", *options)

    assert status == 0, output
    (case,) = session.document["cases"]
    assert case["aggregates"]["score"] == 1


def test_shell_that_is_not_granted_is_told_once(session: Sessions) -> None:
    status, output = session.run("evals", "--eval-runs", "2")

    assert status == 1, output
    assert output.count("not granted: Bash") == 1


def test_missing_sandbox_is_refused_before_any_request(session: Sessions, base: Path) -> None:
    # Everything else that a session needs is there.
    programs = base / "bin"
    programs.mkdir()
    for name in ("git", "bash", "sh", "env", "socat"):
        (programs / name).symlink_to(shutil.which(name) or name)
    command = ["env", f"PATH={programs}", sys.executable, "-m", "pytest", "--trust-plugin"]
    command.append("--trust-plugin")
    process = session.start_command([*command, "evals", "--eval-allow-tools", "Bash(git *)"])

    output, _ = process.communicate(timeout=120)

    assert process.returncode == 4
    assert "needs bubblewrap, install with: apt-get install bubblewrap" in output
    assert session.api.messages == ()


def test_run_root_without_room_for_sockets_is_refused(session: Sessions, base: Path) -> None:
    long = base / ("x" * 60)

    status, output = session.run(
        "evals", "--eval-allow-tools", "Bash", "--eval-run-root", str(long)
    )

    assert status == 4
    assert "name another place with --eval-run-root" in " ".join(output.split())
    assert session.api.messages == ()


def test_sandbox_that_does_not_start_is_no_measurement(base: Path) -> None:
    """Nobody checked here: the backend alone is asked, with a path that leaves no room."""
    case = make_case(write_plugin(base / "demo"), allowed_tools=("Bash",))

    with ScriptedApi(TOUCH) as api:
        backend = make_backend(api, base, run_root=base / ("x" * 60))
        record = backend.run(make_request(case, allow_tools=("Bash",)))
        backend.close()

    assert record.outcome.ending is Ending.SETUP_FAILED
    assert "the shell's sandbox does not start" in (record.outcome.error or "")


@pytest.mark.parametrize(
    ("listed", "granted"),
    [
        ([], ["Bash"]),
        (["Skill", "Read(in/**)"], ["Bash(touch *)"]),
        (["Read"], ["Bash"]),
        (["Grep(in/**)"], ["Bash"]),
        ([], ["Bash", "Glob(/etc/**)"]),
    ],
    ids=str,
)
def test_tools_with_a_shell_are_those_of_the_reference(
    base: Path, listed: list[str], granted: list[str]
) -> None:
    fields = json.dumps({"runs": 1, "allowed_tools": listed})
    root = write_plugin(base / "demo", {"evals/hello/prompt.md": f"---\n{fields}\n---\nGreet.\n"})
    case = make_case(root, allowed_tools=tuple(listed), prompt="Greet.")

    with ScriptedApi(script()) as api:
        run_reference(root, api, "--allow-tools", *granted)
        theirs = [request.body["tools"] for request in api.messages]
        backend = make_backend(api, base)
        for arm in Arm:
            backend.run(make_request(case, arm, allow_tools=tuple(granted)))
        backend.close()
        ours = [request.body["tools"] for request in api.messages[len(theirs) :]]

    assert len(theirs) == 2
    assert ours == theirs


def test_shell_reads_added_directories_and_nothing_around_them(base: Path) -> None:
    root = write_plugin(base / "demo")
    write_files(root / "evals/hello", {"data/in.txt": "IN-DATA", "other/no.txt": "IN-OTHER"})
    case = make_case(root, allowed_tools=("Bash",), add_dirs=("data",))
    place = f"{root}/evals/hello"
    commands = (
        f"cat {place}/data/in.txt",
        f"P={place}; cat $P/data/in.txt; ls $P; cat $P/other/no.txt $P/graders/*",
        f"P={place}; touch $P/data/new.txt; true",
    )

    with ScriptedApi(
        script(rule(turns=[[tool("Bash", command=text)] for text in commands]))
    ) as api:
        backend = make_backend(api, base)
        record = backend.run(make_request(case, Arm.WITHOUT, allow_tools=("Bash",)))
        backend.close()

    said = "\n".join(tool_results(record).values())
    assert "IN-DATA" in said
    assert "IN-OTHER" not in said
    assert "GRADER-PATTERN" not in said
    assert sorted(path.name for path in (root / "evals/hello/data").iterdir()) == ["in.txt"]
