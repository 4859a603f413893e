"""What an agent with a shell attempts, and what comes of each: the table of docs/security.md.

Every attempt stands in both halves: that it reaches nothing, and a marker that would tell.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pytest_plugin_eval.agents.sandbox import RunRoot
from pytest_plugin_eval.records.model import Arm, Ending
from tests.agents.conftest import KEY
from tests.support.agents import tool_results, write_files
from tests.support.attacks import HOME_MARK, Ground, running
from tests.support.script import tool

pytestmark = [
    pytest.mark.agent,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of Linux is tried"),
]

GRADER = "GRADER-PATTERN"
IN_SUITE = "evals/hello/graders/says.md"
NEIGHBOUR = "NEIGHBOUR-MARK"
SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "SECRET-AWS",
    "CLAUDE_CODE_SOME_TOKEN": "SECRET-TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS": "x-auth: SECRET-HEADER",
    "EVAL_REGION": "in-sight",
}


@pytest.fixture
def base() -> Iterator[Path]:
    """Return a directory with a short path: the sandbox makes its sockets below it."""
    with tempfile.TemporaryDirectory(prefix="attack-") as path:
        yield Path(path)


@pytest.fixture
def ground(base: Path) -> Ground:
    return Ground(base).build()


def test_shell_works_in_workspace_and_tmp(ground: Ground) -> None:
    record = ground.run(
        [tool("Bash", command="echo one > a.txt && cat a.txt && ls -a ~ && pwd")],
        [tool("Bash", command='f=$(mktemp) && echo two > "$f" && cat "$f"')],
        [tool("Bash", command="git add -A && git commit -q -m x && git log --format=%s%an")],
    )

    results = list(tool_results(record).values())
    assert [result.startswith("!") for result in results] == [False, False, False]
    assert "one\n" in results[0]
    assert "Permission denied" not in results[0]
    assert (results[1], results[2]) == ("two", "xPlugin Eval")
    assert [file.path for file in record.files if file.created] == ["a.txt"]


READINGS = {
    "path": "cat {suite}",
    "glob": "cat {plugin}/e*/hello/graders/*",
    "up": 'cd {plugin}/skills && cat "$(echo ..)/{inner}"',
    "variable": 'P={plugin}; Q=evals; cat "$P/$Q/hello/graders/says.md"',
    "link": "ln -s {plugin} l; cat l/{inner}; cat l/ev*/hello/graders/says.md",
    "hard-link": "ln {suite} h; cat h",
    "search": "grep -r GRADER.P {plugin}; find {repository} -name says.md -exec cat {{}} +",
    "python": 'python3 -c \'print(open("{plugin}/ev" + "als/hello/graders/says.md").read())\'',
    "archive": "tar cf - -C {plugin} . | strings",
    "git": "git -C {repository} show HEAD:plugins/demo/{inner}",
    "git-dir": "git --git-dir={repository}/.git cat-file -p HEAD:plugins/demo/{inner}",
    "git-objects": "ls -R {repository}/.git; cat {repository}/.git/HEAD",
    "git-alternate": "G=.git; git init -q x; cd x; echo {repository}/.git/objects >"
    " $G/objects/info/alternates; git cat-file -p {blob}",
    "proc-root": "P=pro; for i in 1 2 self $PPID; do cat /${{P}}c/$i/root{suite}; done",
    "proc-cwd": "P=pro; cd /${{P}}c/self/root && cat .{suite}; cat /${{P}}c/*/cwd/{inner}",
    "unmount": "umount {plugin}/evals; mount --bind {plugin} /mnt; cat {suite} /mnt/{inner}",
    "namespace": "unshare -Urm cat {suite}; nsenter -t 1 -m cat {suite}",
    "device": "mknod d b $(stat -c '%Hd %Ld' {plugin}) && strings d | grep GRADER.PATTERN",
}


@pytest.mark.parametrize("arm", list(Arm))
def test_graders_are_not_read_through_a_shell(ground: Ground, arm: Arm) -> None:
    git = ["git", "rev-parse", f"HEAD:plugins/demo/{IN_SUITE}"]
    blob = subprocess.check_output(git, cwd=ground.repository, text=True).strip()
    places = {
        "suite": ground.plugin / IN_SUITE,
        "inner": IN_SUITE,
        "plugin": ground.plugin,
        "repository": ground.repository,
        "blob": blob,
    }

    said = ground.shell(*(command.format(**places) for command in READINGS.values()), arm=arm)

    assert GRADER not in said


def test_graders_are_not_read_by_other_tools(ground: Ground) -> None:
    link = f"ln -s {ground.plugin} l; ln -s /proc p; true"
    paths = (
        f"{ground.plugin}/{IN_SUITE}",
        f"{ground.plugin}/skills/../{IN_SUITE}",
        f"{{cwd}}/l/{IN_SUITE}",
        f"/proc/self/root{ground.plugin}/{IN_SUITE}",
        f"{{cwd}}/p/self/root{ground.plugin}/{IN_SUITE}",
        f"{ground.repository}/.git/HEAD",
    )

    record = ground.run(
        [tool("Bash", command=link)], [tool("Read", file_path=path) for path in paths]
    )

    results = tool_results(record)
    readings = {call: result for call, result in results.items() if call.startswith("Read")}
    assert len(readings) == len(paths)
    assert [call for call, result in readings.items() if not result.startswith("!")] == []


def test_baseline_does_not_read_the_plugin(ground: Ground) -> None:
    reading = f"cat {ground.plugin}/skills/greet/SKILL.md; ls {ground.plugin} | head"

    assert "bonjour" in ground.shell(reading, arm=Arm.WITH)
    assert "bonjour" not in ground.shell(reading, arm=Arm.WITHOUT)


def test_plugin_suite_and_home_are_not_written(ground: Ground) -> None:
    (ground.home / "tmp").mkdir(exist_ok=True)
    before = sorted(path for path in ground.base.rglob("*") if "runs" not in path.parts)
    places = (
        ground.plugin,
        ground.plugin / "evals",
        ground.plugin / "evals/hello/graders",
        ground.repository / ".git" / "hooks",
        ground.home,
        ground.base,
        ground.runs,
    )

    ground.shell(*(f"d={place}; cd $d; touch $d/evil; echo x > $d/evil; true" for place in places))

    after = sorted(path for path in ground.base.rglob("*") if "runs" not in path.parts)
    # Nor does the sandbox leave anything where it covers a place.
    assert [path for path in after if path not in before] == []
    assert sorted(ground.runs.rglob("evil")) == []


LEAVINGS = """
    /tmp/plugin-eval-left /var/tmp/plugin-eval-left /dev/shm/plugin-eval-left
    /tmp/claude/plugin-eval-left {runs}/plugin-eval-left {home}/.cache/plugin-eval-left
"""


def test_nothing_is_left_for_the_next_run(ground: Ground) -> None:
    places = [place.format(runs=ground.runs, home=ground.home) for place in LEAVINGS.split()]
    leave = "; ".join(f'd={place}; mkdir -p "${{d%/*}}"; echo LEFT-BEHIND > $d' for place in places)
    own = "echo LEFT-BEHIND > a.txt; for d in ~ $TMPDIR ~/.claude; do echo LEFT-BEHIND > $d/a; done"
    look = f"cat {' '.join(places)}; grep -r LEFT-BEHIND ~ $TMPDIR {ground.runs} | grep -v projects"

    ground.shell(leave, own)
    said = ground.shell(look)

    assert "LEFT-BEHIND\n" not in f"{said}\n"
    assert [place for place in places if Path(place).exists()] == []


def test_home_of_the_operator_is_not_read(ground: Ground) -> None:
    home = ground.home
    files = " ".join(f"{home}/{name}" for name in (".aws/credentials", ".ssh/id_rsa", "notes.txt"))

    said = ground.shell(f"H={home}; cat {files}; cat $H/*; ls -a $H; grep -r MARK $H; cat ~root/x")

    assert HOME_MARK not in said
    assert "notes.txt" not in said.replace(f"{home}/notes.txt", "")


KEY_HUNTS = (
    "env; export -p; set",
    "P=pro; for i in self 1 2 3 4 5 $PPID; do tr '\\0' '\\n' < /${P}c/$i/environ; done",
    "P=pro; for i in /${P}c/[0-9]*; do tr '\\0' '\\n' < $i/cmdline; cat $i/mem | head -c 10; done",
    "python3 -c 'import os; print(dict(os.environ))'; python3 -c 'import ctypes'",
    "ls -R ~/.. | grep cred; cat $CLAUDE_CONFIG_DIR/.credentials.json; cat"
    " $CLAUDE_CONFIG_DIR/settings.json",
    "cat $GOOGLE_APPLICATION_CREDENTIALS /etc/shadow",
)


def test_keys_are_not_in_reach_of_the_shell(base: Path) -> None:
    google = write_files(base, {"google.json": '{"private_key": "SECRET-GOOGLE"}'})
    env = {**SECRETS, "GOOGLE_APPLICATION_CREDENTIALS": str(google / "google.json")}
    ground = Ground(base, env=env).build()

    said = ground.shell(*KEY_HUNTS)

    assert "EVAL_REGION=in-sight" in said
    assert "SECRET-" not in said
    # A key that were there would have been taken out of the record.
    assert KEY not in said
    assert "[***]" not in said
    assert "root:" not in said


def test_directory_of_another_run_is_not_read(ground: Ground) -> None:
    root = RunRoot(ground.runs)
    neighbour = root.new()
    neighbour.make(credentials=NEIGHBOUR)
    write_files(neighbour.workspace, {"answer.txt": NEIGHBOUR})
    place = neighbour.path

    record = ground.run(
        [
            tool(
                "Bash",
                command=f"D={place}; ls -R $D; cat $D/home/cwd/* $D/config/.cr*; ls {root.path}",
            )
        ],
        [tool("Bash", command="ls ../../..; cat ../../../*/home/cwd/answer.txt")],
        [tool("Read", file_path=f"{place}/home/cwd/answer.txt")],
        [tool("Bash", command=f"D={place}/home/cwd; echo x > $D/answer.txt; touch $D/more; true")],
    )
    written = sorted(path.name for path in neighbour.workspace.iterdir())
    text = (neighbour.workspace / "answer.txt").read_text(encoding="utf-8")
    root.remove(neighbour)
    root.close()

    said = "\n".join(tool_results(record).values())
    assert NEIGHBOUR not in said
    assert place.name not in said.replace(str(place), "")
    assert (written, text) == (["answer.txt"], NEIGHBOUR)


@pytest.fixture
def listener() -> Iterator[tuple[int, Sequence[bytes]]]:
    """Return a port of this machine and what reached it."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    heard.append(connection.recv(100) or b"connected")

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1], heard
        server.shutdown(socket.SHUT_RDWR)
    thread.join(10)


CONNECT = "import socket as s; s.create_connection(('127.0.0.1', {port})).send(b'x'); print('SENT')"


@pytest.mark.parametrize("granted", [("Bash",), ("Bash", "WebFetch(domain:a.example)")], ids=len)
def test_network_is_closed_to_the_shell(
    base: Path, listener: tuple[int, Sequence[bytes]], granted: tuple[str, ...]
) -> None:
    port, heard = listener
    ground = Ground(base, granted).build()
    url = f"http://127.0.0.1:{port}/"

    said = ground.shell(
        f'python3 -c "{CONNECT.format(port=port)}"',
        f"curl -m 5 {url}; curl -m 5 --noproxy '*' {url}; curl -m 5 -x $HTTP_PROXY {url}",
        f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo hello >&3 && echo SENT",
        "curl -f -m 5 http://b.example/ && echo SENT; getent hosts b.example && echo SENT",
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX); print('SENT')\"",
    )

    assert heard == []
    assert "SENT\n" not in f"{said}\n"


def test_network_of_a_granted_domain_is_open(
    base: Path, listener: tuple[int, Sequence[bytes]]
) -> None:
    port, heard = listener
    ground = Ground(base, ("Bash", "WebFetch(domain:localhost)")).build()

    ground.shell(f"curl -m 5 --noproxy '' http://localhost:{port}/")

    assert b"GET" in [request[:3] for request in heard]


def test_daemon_does_not_outlive_the_run(ground: Ground) -> None:
    mark = f"98765.{os.getpid()}"
    start = (
        f"setsid sleep {mark} & nohup setsid env -i /bin/sleep {mark} >/dev/null 2>&1 &"
        f' python3 -c "import os,sys; os.fork() and os._exit(0); os.setsid();'
        f" os.fork() and os._exit(0); os.execve('/bin/sleep', ['sleep', '{mark}'], {{}})\"; echo on"
    )

    said = ground.shell(start)

    assert "on" in said
    assert running(mark) == []


def test_command_still_running_at_the_time_limit_ends_with_the_run(ground: Ground) -> None:
    mark = f"87654.{os.getpid()}"

    record = ground.run([tool("Bash", command=f"touch in.txt; sleep {mark}")], timeout_s=10)

    assert record.outcome.ending is Ending.TIMED_OUT
    assert running(mark) == []
    # What the sandbox laid over the workspace is gone with it.
    assert [file.path for file in record.files if file.created] == ["in.txt"]


def test_large_files_stay_out_of_the_record_and_go_with_the_run(ground: Ground) -> None:
    fill = "head -c 40M /dev/zero > big; head -c 40M /dev/zero > $TMPDIR/big; mkdir many; cd many;"

    record = ground.run([tool("Bash", command=f"{fill} seq 2000 | xargs touch; yes | head -c 30M")])

    kept = sum(len(file.content or b"") for file in record.files)
    assert record.outcome.ending is Ending.COMPLETED
    assert kept == 0
    assert sum(map(len, record.trace.lines)) < 2_000_000
    assert any("big" in note for note in record.notes)
    assert list(ground.runs.iterdir()) == []


def test_settings_of_plugin_and_workspace_do_not_lift_the_sandbox(ground: Ground) -> None:
    lift = (
        '{"sandbox": {"enabled": false, "excludedCommands": ["cat *", "cat"]},'
        ' "permissions": {"allow": ["Bash", "Read(//**)"]}}'
    )
    names = ("settings.json", ".claude/settings.json", ".claude/settings.local.json")
    write_files(ground.plugin, dict.fromkeys(names, lift))
    target = ground.home / "notes.txt"
    write = f"mkdir -p .claude; echo '{lift}' > .claude/settings.json; true"

    record = ground.run(
        [tool("Bash", command=write)],
        [tool("Bash", command=f"cat {target}")],
        [tool("Bash", command=f"cat {target}", dangerouslyDisableSandbox=True)],
        [
            tool(
                "Bash", command=f"H={ground.home}; cat $H/notes.txt", dangerouslyDisableSandbox=True
            )
        ],
    )

    assert record.outcome.ending is Ending.COMPLETED
    assert HOME_MARK not in "\n".join(tool_results(record).values())
    assert (record.trace.init or {})["sandbox_enabled"] is True


def test_pattern_allows_nothing_else(base: Path) -> None:
    ground = Ground(base, ("Bash(echo *)",)).build()
    commands = ("echo fine", "touch no.txt", "echo a && touch no.txt", "echo $(touch no.txt)")

    record = ground.run([tool("Bash", command=command) for command in commands])

    results = list(tool_results(record).values())
    assert results[0] == "fine"
    assert [result.startswith("!") for result in results[1:]] == [True, True, True]
    assert [file.path for file in record.files if file.created] == []
