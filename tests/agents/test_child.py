"""Endings that the real agent cannot be brought to, with a stand-in for its process."""

from __future__ import annotations

import os
import select
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.agents.child import Child, ChildResult, Limits

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs process groups")

RESULT = '{"type":"result","subtype":"success"}'
INIT = '{"type":"system","subtype":"init"}'
FOREVER_S = 600


def make_child(tmp_path: Path, code: str, **limits: Any) -> Child:
    """Return a child that runs Python code; ``say`` in it writes a line."""
    prelude = f"""
import json, os, signal, subprocess, sys, time
RESULT, INIT, FOREVER = {RESULT!r}, {INIT!r}, {FOREVER_S}
def say(line):
    os.write(1, f"{{line}}\\n".encode())
def spawn(code, **options):
    process = subprocess.Popen([sys.executable, "-SE", "-c", code], **options)
    open("pid", "w").write(str(process.pid))
"""
    command = [sys.executable, "-SE", "-c", prelude + textwrap.dedent(code)]
    env = {**os.environ, "CLAUDE_CONFIG_DIR": str(tmp_path / "config")}
    return Child(command, cwd=tmp_path, env=env, limits=Limits(**{"timeout_s": 60, **limits}))


def run(tmp_path: Path, code: str, prompt: str = "", **limits: Any) -> ChildResult:
    return make_child(tmp_path, code, **limits).run(prompt)


def stop_at_init(child: Child) -> ChildResult:
    def stop(line: str) -> bool:
        threading.Thread(target=child.stop).start()
        return False

    return child.run("", is_wrong=stop)


def has_ended(pid: int) -> bool:
    """Wait for the end of a process that is none of our children."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with open(handle, "rb") as process:  # noqa: PTH123 - a handle, no path
        return bool(select.select([process], [], [], 30)[0])


def test_output_errors_and_exit_code(tmp_path: Path) -> None:
    found = run(tmp_path, "say('one'); say(RESULT); print('bad', file=sys.stderr); sys.exit(3)")

    assert (found.lines, found.exit_code, found.stderr) == (("one", RESULT), 3, "bad\n")
    assert (found.timed_out, found.stopped, found.notes) == (False, False, ())


def test_long_prompt_is_read_from_standard_input(tmp_path: Path) -> None:
    found = run(tmp_path, "say(len(sys.stdin.read()))", prompt="x" * 300_000)

    assert found.lines == ("300000",)


def test_prompt_that_nobody_reads_blocks_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, "say('bye')", prompt="x" * 300_000).lines == ("bye",)


def test_crash_names_the_signal(tmp_path: Path) -> None:
    found = run(tmp_path, "say('one'); os.kill(os.getpid(), signal.SIGKILL)")

    assert (found.lines, found.exit_code) == (("one",), -9)


def test_child_that_never_writes_is_ended_at_the_limit(tmp_path: Path) -> None:
    found = run(tmp_path, "time.sleep(FOREVER)", timeout_s=0.3)

    assert (found.lines, found.timed_out, found.exit_code) == ((), True, None)
    assert found.duration_s < 30


def test_broken_off_child_is_asked_for_its_accounts(tmp_path: Path) -> None:
    code = """
        def accounts(*_):
            say(RESULT)
            sys.exit(0)
        signal.signal(signal.SIGINT, accounts)
        say(INIT)
        time.sleep(FOREVER)
    """

    found = stop_at_init(make_child(tmp_path, code, farewell_s=30))

    assert (found.lines, found.farewell, found.stopped) == ((INIT,), (RESULT,), True)


def test_child_that_ignores_every_signal_is_ended(tmp_path: Path) -> None:
    code = """
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        say(INIT)
        time.sleep(FOREVER)
    """

    found = stop_at_init(make_child(tmp_path, code, farewell_s=0.2))

    assert (found.lines, found.farewell, found.exit_code) == ((INIT,), (), None)


def test_process_that_stays_after_its_result_is_ended(tmp_path: Path) -> None:
    found = run(tmp_path, "say(RESULT); time.sleep(FOREVER)", grace_s=0.2)

    assert (found.lines, found.timed_out, found.exit_code) == ((RESULT,), False, None)
    assert found.notes == ("the agent process did not end after its result and was ended",)


def test_later_results_are_waited_for(tmp_path: Path) -> None:
    found = run(tmp_path, "say(RESULT); time.sleep(0.3); say('more'); say(RESULT)", grace_s=30)

    assert found.lines == (RESULT, "more", RESULT)


def test_answer_on_its_way_when_the_run_is_stopped_belongs_to_it(tmp_path: Path) -> None:
    answer, refusal = '{"type":"assistant","message":{}}', '{"type":"user","message":{}}'
    code = f"""
        def leave(*_):
            say({answer!r}); say({refusal!r}); say({answer!r}); say(RESULT); sys.exit(1)
        signal.signal(signal.SIGINT, leave)
        say(INIT)
        time.sleep(FOREVER)
        """

    found = stop_at_init(make_child(tmp_path, code, farewell_s=30))

    assert found.lines == (INIT, answer)
    assert found.farewell == (refusal, answer, RESULT)


def test_stop_from_another_thread(tmp_path: Path) -> None:
    found = stop_at_init(make_child(tmp_path, "say(INIT); time.sleep(FOREVER)", farewell_s=0.2))

    assert (found.lines, found.stopped, found.timed_out) == ((INIT,), True, False)


def test_stop_before_the_start_ends_the_run_at_once(tmp_path: Path) -> None:
    child = make_child(tmp_path, "time.sleep(FOREVER)")
    child.stop()

    assert child.run("").stopped


def test_wrong_session_is_ended_at_its_init_line(tmp_path: Path) -> None:
    child = make_child(tmp_path, "say(INIT); time.sleep(FOREVER)")

    found = child.run("", is_wrong=bool)

    assert (found.lines, found.stopped, found.timed_out) == ((INIT,), False, False)


def test_flood_is_cut_and_the_result_still_found(tmp_path: Path) -> None:
    code = """
        for _ in range(400):
            sys.stdout.write('x' * 50_000 + chr(10))
            sys.stderr.write('y' * 50_000)
        say(RESULT)
    """

    found = run(tmp_path, code, output_bytes=1_000_000, stderr_bytes=1000)

    assert (len(found.lines), found.lines[-1]) == (21, RESULT)
    assert len(found.stderr) == 1000
    assert found.notes == ("the agent's output was cut after 1000000 bytes",)


@pytest.mark.skipif(sys.platform != "linux", reason="needs pidfd")
def test_grandchild_that_holds_the_output_is_ended(tmp_path: Path) -> None:
    found = run(tmp_path, "spawn('import time; time.sleep(600)'); say(RESULT)", drain_s=30)

    assert (found.lines, found.exit_code, found.notes) == ((RESULT,), 0, ())
    assert found.duration_s < 20
    assert has_ended(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="strays are found by /proc")
def test_daemon_in_a_session_of_its_own_is_ended(tmp_path: Path) -> None:
    code = "spawn('import time; time.sleep(600)', start_new_session=True); say(RESULT)"

    found = run(tmp_path, code, drain_s=30)

    assert (found.lines, found.notes) == (
        (RESULT,),
        ("a process outlived the agent and was ended",),
    )
    assert has_ended(int((tmp_path / "pid").read_text()))


def test_daemon_that_nobody_can_find_is_not_waited_for(tmp_path: Path) -> None:
    # Own session and no environment: the only trace of it is the output that it holds open.
    code = "spawn('import time; time.sleep(3)', start_new_session=True, env={}); say(RESULT)"

    start = time.monotonic()
    found = run(tmp_path, code, drain_s=0.2)

    assert time.monotonic() - start < 3
    assert found.lines == (RESULT,)
    assert found.notes == ("a process that outlived the agent still holds its output open",)


def test_program_that_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    child = Child(["/nonexistent"], cwd=tmp_path, env={}, limits=Limits(timeout_s=1))

    with pytest.raises(OSError, match="nonexistent"):
        child.run("")


def test_lines_that_arrive_after_the_end_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The reader is as late as a loaded machine may make it: after the process's end was noticed.
    child = make_child(tmp_path, "say(INIT); say(RESULT)")
    noticed = threading.Event()
    feed, farewell = child._lines.feed, child._farewell

    def late_feed(chunk: bytes) -> str:
        noticed.wait(30)
        return feed(chunk)

    def noticing_farewell(process: Any) -> int | None:
        result = farewell(process)
        noticed.set()
        return result

    monkeypatch.setattr(child._lines, "feed", late_feed)
    monkeypatch.setattr(child, "_farewell", noticing_farewell)

    result = child.run("")

    assert (result.lines, result.farewell) == ((INIT, RESULT), ())
