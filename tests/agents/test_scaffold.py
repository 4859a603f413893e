"""Scripts of cases: what they get, what becomes of what they do, and of their failures."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_plugin_eval.agents.claude_cli import ClaudeCli
from pytest_plugin_eval.agents.sandbox import Sandbox
from pytest_plugin_eval.agents.scaffold import Scaffold
from pytest_plugin_eval.records.model import Arm, Ending, FileKind
from tests.agents.conftest import MakeBackend, make_backend
from tests.support.agents import make_case, make_request, tool_results, write_plugin
from tests.support.script import rule, script, tool
from tests.support.scripted_api import ScriptedApi

CONFIGURED = (
    "scaffold_script 'stage.sh' changed the configuration of the agent, "
    "expected files in the workspace"
)
LIMIT_S = 60.0
"""Of what has to end soon; with slack for a busy machine."""


@pytest.fixture
def scaffold(tmp_path: Path) -> Callable[..., Scaffold]:
    """Return a function that prepares a script in a run directory that is there."""
    sandbox = Sandbox(tmp_path / "run")
    sandbox.make()

    def prepare(text: str, timeout_s: float = LIMIT_S, **env: str) -> Scaffold:
        file = tmp_path / "make it.sh"
        file.write_text(text, encoding="utf-8")
        operator = {"PATH": os.environ["PATH"], **env}
        return Scaffold(file, sandbox, env=operator, timeout_s=timeout_s)

    return prepare


def is_gone(pid: int) -> bool:
    """Wait for the end of a process that was told to end; tell whether it came."""
    deadline = time.monotonic() + LIMIT_S
    while _is_alive(pid) and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    return not _is_alive(pid)


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_script_gets_the_directories_of_the_run_and_nothing_of_the_user(
    scaffold: Callable[..., Scaffold], tmp_path: Path
) -> None:
    text = 'env -u _ -u SHLVL | LC_ALL=C sort > "$TMPDIR/env"; pwd > "$TMPDIR/cwd"'

    problem = scaffold(text, EVAL_X="1", ANTHROPIC_API_KEY="k", GH_TOKEN="t", BASH_ENV="/x").run()

    home, tmp = tmp_path / "run" / "home", tmp_path / "run" / "tmp"
    assert problem is None
    assert (tmp / "cwd").read_text().strip() == str(home / "cwd")
    assert (tmp / "env").read_text().splitlines() == [
        "GIT_CONFIG_NOSYSTEM=1",
        f"HOME={home}",
        "NODE_ENV=production",
        f"PATH={os.environ['PATH']}",
        f"PWD={home / 'cwd'}",
        f"TEMP={tmp}",
        "TERM=dumb",
        *(f"{name}={tmp}" for name in ("TMP", "TMPDIR")),
        f"USERPROFILE={home}",
        "USER_TYPE=external",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("echo out; echo err >&2; exit 3", "scaffold failed (exit 3): err"),
        ("echo only out; exit 1", "scaffold failed (exit 1): only out"),
        ("exit 7", "scaffold failed (exit 7)"),
        ("kill -9 $$", "scaffold failed (signal 9)"),
        ('echo \'{"type": "result"}\'; read x; test -z "$x"', None),
    ],
    ids=["stderr", "stdout", "silent", "signal", "asks"],
)
def test_script_that_ends(
    scaffold: Callable[..., Scaffold], text: str, problem: str | None
) -> None:
    assert scaffold(text).run() == problem


@pytest.mark.parametrize("code", [0, 1])
def test_output_without_end_is_read_and_cut(scaffold: Callable[..., Scaffold], code: int) -> None:
    text = f"head -c 30000000 /dev/zero | tr '\\0' e >&2; head -c 30000000 /dev/zero; exit {code}"

    problem = scaffold(text).run()

    assert (problem is None) == (code == 0)
    assert len(problem or "") < 5000


def test_script_that_does_not_end_is_ended(scaffold: Callable[..., Scaffold]) -> None:
    start = time.monotonic()

    problem = scaffold("echo begun >&2; sleep 600", timeout_s=2).run()

    assert problem == ("scaffold_script 'make it.sh' did not end within 2 s and was ended: begun")
    assert time.monotonic() - start < LIMIT_S


@pytest.mark.parametrize(
    "start",
    [
        "sleep 600 &",
        "sleep 600 >/dev/null 2>&1 & disown",
        "trap '' HUP TERM INT; sleep 600 &",
        pytest.param(
            "setsid sleep 600 &",
            marks=pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc"),
        ),
    ],
    ids=["holds-output", "quiet", "stubborn", "own-session"],
)
@pytest.mark.parametrize("code", [0, 1])
def test_nothing_that_a_script_started_outlives_it(
    scaffold: Callable[..., Scaffold], tmp_path: Path, start: str, code: int
) -> None:
    begun = time.monotonic()

    problem = scaffold(f'{start}\necho $! > "$TMPDIR/pid"\nexit {code}').run()

    assert (problem is None) == (code == 0)
    assert is_gone(int((tmp_path / "run" / "tmp" / "pid").read_text()))
    assert time.monotonic() - begun < LIMIT_S


def test_stopped_script_is_ended(scaffold: Callable[..., Scaffold], tmp_path: Path) -> None:
    one = scaffold('echo $$ > "$TMPDIR/pid"; sleep 600')
    ended: list[str | None] = []
    thread = threading.Thread(target=lambda: ended.append(one.run()))
    thread.start()

    one.stop()
    thread.join(LIMIT_S)

    assert ended == ["scaffold_script 'make it.sh' was ended with the session"]


def staged(tmp_path: Path, text: str) -> Path:
    """Return the plugin with a script for its case."""
    return write_plugin(tmp_path / "demo", {"evals/hello/stage.sh": text})


@pytest.mark.agent
def test_agent_finds_what_the_script_made_and_it_does_not_count_as_created(
    backend: MakeBackend, tmp_path: Path
) -> None:
    root = staged(tmp_path, "git init -q .; mkdir sub; echo STAGED | tee a.txt > sub/b.txt\n")
    case = make_case(root, scaffold_script="stage.sh")
    calls = [
        [tool("Read", file_path="{cwd}/a.txt")],
        [
            tool("Write", file_path="{cwd}/a.txt", content="new"),
            tool("Write", file_path="{cwd}/sub/c.txt", content="new"),
        ],
        "done",
    ]

    with ScriptedApi(script(rule(turns=calls))) as api:
        records = [
            backend(api).run(make_request(case, arm, scaffold=True, allow_tools=("Write",)))
            for arm in Arm
        ]

    for record in records:
        assert record.outcome.ending is Ending.COMPLETED
        assert "STAGED" in "".join(tool_results(record).values())
        files = {file.path: file for file in record.files if file.kind is FileKind.FILE}
        assert {path: file.created for path, file in files.items()} == {
            "a.txt": False,
            "sub/b.txt": False,
            "sub/c.txt": True,
        }
        assert files["a.txt"].content == b"new"
        assert record.provenance["scaffold"]


@pytest.mark.agent
def test_script_is_not_run_unless_asked_for(backend: MakeBackend, tmp_path: Path) -> None:
    case = make_case(staged(tmp_path, "touch made\n"), scaffold_script="stage.sh")

    with ScriptedApi(script(rule(turns=["done"]))) as api:
        record = backend(api).run(make_request(case))

    assert record.outcome.is_measured
    assert record.files == ()
    assert "scaffold" not in record.provenance


@pytest.mark.agent
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("echo no $ANTHROPIC_API_KEY >&2; exit 3", "scaffold failed (exit 3): no"),
        ('echo "{}" > "$HOME/../config/settings.json"', CONFIGURED),
        ('echo "{}" > "$HOME/../config/.claude.json"', CONFIGURED),
        ('mkdir -p "$HOME/../config/skills/x"', CONFIGURED),
    ],
    ids=["fails", "settings", "what-stands-there", "skills"],
)
def test_failed_script_costs_nothing_and_is_not_measured(
    backend: MakeBackend, tmp_path: Path, text: str, error: str
) -> None:
    case = make_case(staged(tmp_path, f"{text}\n"), scaffold_script="stage.sh")

    with ScriptedApi(script(rule(turns=["done"]))) as api:
        record = backend(api).run(make_request(case, scaffold=True))

    assert record.outcome.error == error
    assert not record.outcome.is_measured
    assert api.messages == ()


@pytest.mark.agent
def test_stopping_the_session_ends_a_script(tmp_path: Path) -> None:
    case = make_case(
        staged(tmp_path, f"echo $$ > {tmp_path}/pid; sleep 600\n"), scaffold_script="stage.sh"
    )
    with ScriptedApi(script()) as api:
        backend: ClaudeCli = make_backend(api, tmp_path)
        endings: list[Ending] = []
        request = make_request(case, scaffold=True)
        thread = threading.Thread(
            target=lambda: endings.append(backend.run(request).outcome.ending)
        )
        thread.start()
        deadline = time.monotonic() + LIMIT_S
        while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
            thread.join(0.01)

        backend.stop()
        thread.join(LIMIT_S)

    assert endings == [Ending.INTERRUPTED]
    assert is_gone(int((tmp_path / "pid").read_text()))
