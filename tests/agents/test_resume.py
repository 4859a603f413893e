"""Sessions that are ended at any time go on later, and pay for no finished run twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.conversation import read_conversation
from tests.support.disks import small_disk_command
from tests.support.reference import agent_binary
from tests.support.script import rule, script, turn
from tests.support.scripted_api import ScriptedApi
from tests.support.sessions import Sessions, agents_in

pytestmark = [
    pytest.mark.agent,
    pytest.mark.skipif(agent_binary() is None, reason="no agent binary on this machine"),
]

HELLO = {"type": "regex", "pattern": "bonjour"}
Numbers = Mapping[str, Any]
RUNS = 4
ARGUMENTS = ("evals", "--eval-ablation", "none", "-p", "no:cacheprovider")
REPORTS = ("--junitxml=report.xml", "--eval-json=evals.json")
SLOW = turn("bonjour", delay_s=120)
# By order of asking: the third agent is still waiting when its session ends.
KILLED_IN_THE_THIRD = ["bonjour", "bonjour", SLOW, *["bonjour"] * RUNS]
# With two at once, the second never comes to its end.
KILLED_IN_THE_SECOND = ["bonjour", SLOW, *["bonjour"] * RUNS]
# Fills the disk of the results as soon as the second agent has come back.
FILLER = """
import os
from pathlib import Path
from pytest_plugin_eval.agents.claude_cli import ClaudeCli

run = ClaudeCli.run
made = []

def run_and_fill(self, request):
    record = run(self, request)
    made.append(request.key)
    if len(made) == 2 and "FILL" in os.environ:
        try:
            with Path(os.environ["FILL"]).open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
        except OSError:
            pass
    return record

ClaudeCli.run = run_and_fill
"""


class Greetings:
    """A suite of one case with four runs, and the sessions on it."""

    def __init__(self, base: Path, make: Callable[[object], ScriptedApi]) -> None:
        self._make = make
        self._base = base
        # Inside the plugin, as a name relative to it would be: no part of it all the same.
        self.out = base / "plugin" / "out"

    def sessions(self, answers: Sequence[object]) -> Sessions:
        """Return what starts sessions against an API that answers in this order."""
        runs = [[answer] for answer in answers]
        api = self._make(script(rule(name="greet", prompt="Do greet", runs=runs)))
        made = Sessions(self._base, api)
        made.suite.case("greet", {"hello": HELLO}, front={"runs": RUNS})
        return made

    def document(self, directory: Path | None = None) -> Mapping[str, Any]:
        """Return the document of a results directory."""
        text = Path(directory or self.out, "aggregate-result.json").read_text(encoding="utf-8")
        document: Mapping[str, Any] = json.loads(text)
        return document

    def begin(self, session: Sessions, *arguments: str) -> subprocess.Popen[str]:
        """Start a session with results in `out`."""
        return session.start(*ARGUMENTS, *REPORTS, "--eval-results-dir", str(self.out), *arguments)

    def resume(self, session: Sessions, *arguments: str) -> tuple[int, str]:
        """Resume the session of `out` and run it to its end."""
        return session.run(*ARGUMENTS, *REPORTS, "--eval-resume", str(self.out), *arguments)

    def records(self) -> dict[str, tuple[int, int]]:
        """Return the records of `out`: when and as what file each was written."""
        found = (self.out / "runs").rglob("*.jsonl")
        stats = {path.name: path.stat() for path in found}
        return {name: (stat.st_mtime_ns, stat.st_ino) for name, stat in sorted(stats.items())}


def asked(session: Sessions) -> int:
    """Return how many runs the API was asked for."""
    return sum(
        message.choice is not None and message.choice.rule == "greet"
        for message in session.api.messages
    )


def _works_in(process: int, place: str) -> bool:
    try:
        return Path(f"/proc/{process}/cwd").samefile(place)
    except OSError:  # it has ended since it was found
        return False


def slow_agent(session: Sessions) -> int:
    """Return the process of the second agent that asked."""
    (request,) = (one for one in session.api.messages if one.choice and one.choice.run == 1)
    place = read_conversation(request.body, request.headers).cwd
    assert place is not None
    there = {one for one in agents_in(session.runs) if _works_in(one, place)}
    # The agent, not a child of it.
    (agent,) = (one for one in there if _parent(one) not in there)
    return agent


def numbers(document: Mapping[str, Any]) -> Numbers:
    """Return what is measured, and what it cost, without times and places."""
    (case,) = document["cases"]
    runs = [run for arm in case["arms"].values() for run in arm]
    kept = ("run", "score", "passed", "measured", "ending", "costUsd", "attempts", "turns")
    return {
        "aggregates": case["aggregates"],
        "runs": [{key: run.get(key) for key in kept} for run in runs],
        "partial": document.get("partialReason"),
        "totals": {key: value for key, value in document["aggregates"].items() if "ost" in key},
    }


def scores(found: Numbers) -> object:
    """Return the aggregates and the runs' scores, which no interrupted attempt may change."""
    return found["aggregates"], [(run["run"], run["score"]) for run in found["runs"]]


@pytest.fixture
def greetings(tmp_path: Path, scripted_api: Callable[[object], ScriptedApi]) -> Iterator[Greetings]:
    """A suite whose agents end with the test, also those that lost their session."""
    yield Greetings(tmp_path, scripted_api)
    for process in agents_in(tmp_path / "run-root"):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Numbers:
    """The numbers of a session that nobody disturbed."""
    with ExitStack() as stack:
        calm = Greetings(
            tmp_path_factory.mktemp("calm"),
            lambda answers: stack.enter_context(ScriptedApi(answers)),
        )
        process = calm.begin(calm.sessions(["bonjour"]))
        output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    return numbers(calm.document())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_session_that_a_signal_ended_goes_on(
    greetings: Greetings, undisturbed: Numbers, number: signal.Signals
) -> None:
    session = greetings.sessions(KILLED_IN_THE_THIRD)
    process = greetings.begin(session)
    session.api.wait_for_messages(3, timeout_s=120)

    process.send_signal(number)
    process.communicate(timeout=120)
    before = greetings.records()
    status, output = greetings.resume(session)

    assert status == 0, output
    # A run that was interrupted leaves a record, one that was killed none.
    assert {"with-1.jsonl", "with-2.jsonl"} <= set(before)
    after = greetings.records()
    assert [after[f"with-{n}.jsonl"] for n in (1, 2)] == [before[f"with-{n}.jsonl"] for n in (1, 2)]
    assert asked(session) == 3 + 2
    assert sorted(after) == [f"with-{n}.jsonl" for n in range(1, RUNS + 1)]
    assert scores(numbers(greetings.document())) == scores(undisturbed)


def test_session_goes_on_after_a_worker_was_killed(
    greetings: Greetings, undisturbed: Numbers
) -> None:
    session = greetings.sessions(KILLED_IN_THE_SECOND)
    process = greetings.begin(session, "-n", "2", "--maxschedchunk=1")
    session.api.wait_for_messages(2, timeout_s=120)

    os.kill(_parent(slow_agent(session)), signal.SIGKILL)
    output, _ = process.communicate(timeout=120)
    before = greetings.records()
    first = asked(session)
    assert "continue with: the same command and --eval-resume=" in output

    status, output = greetings.resume(session, "-n", "2")

    assert status == 0, output
    after = greetings.records()
    assert {name: after[name] for name in before} == before
    assert len(after) == RUNS
    assert asked(session) - first == RUNS - len(before) == 1
    assert numbers(greetings.document()) == undisturbed


@pytest.mark.parametrize("group", [False, True], ids=["main process", "process group"])
def test_interrupted_workers_lose_nothing_that_was_paid(
    greetings: Greetings, undisturbed: Numbers, group: bool
) -> None:
    session = greetings.sessions([SLOW, SLOW, *["bonjour"] * RUNS])
    process = greetings.begin(session, "-n", "2", "--maxschedchunk=1")
    session.api.wait_for_messages(2, timeout_s=120)

    for one in [*(_children(process.pid) if group else ()), process.pid]:
        os.kill(one, signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    first, left = greetings.document(), sorted(path.name for path in greetings.out.iterdir())
    status, resumed = greetings.resume(session)

    assert first["partialReason"] == "interrupted"
    (case,) = first["cases"]
    assert [run["ending"] for run in case["arms"]["with"]] == ["interrupted"] * 2
    assert left == ["aggregate-result.json", "report.html", "runs", "session.json"]
    assert "continue with: the same command and --eval-resume=" in output
    assert "of workers that died" not in output
    assert status == 0, resumed
    assert asked(session) == 2 + RUNS
    assert scores(numbers(greetings.document())) == scores(undisturbed)


def test_workers_end_with_their_session(greetings: Greetings, undisturbed: Numbers) -> None:
    session = greetings.sessions([SLOW, SLOW, *["bonjour"] * RUNS])
    process = greetings.begin(session, "-n", "2", "--maxschedchunk=1")
    session.api.wait_for_messages(2, timeout_s=120)

    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)  # until the last process that writes to its output is gone
    left = agents_in(session.runs)
    status, output = greetings.resume(session)

    assert left == []
    assert status == 0, output
    assert asked(session) == 2 + RUNS
    assert scores(numbers(greetings.document())) == scores(undisturbed)


def test_session_goes_on_after_its_cost_ceiling(greetings: Greetings, undisturbed: Numbers) -> None:
    session = greetings.sessions(["bonjour"])
    process = greetings.begin(session, "--eval-max-cost-usd", "0.0001")
    output, _ = process.communicate(timeout=180)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    first = greetings.document()
    before = greetings.records()

    status, output = greetings.resume(session)

    assert status == 0, output
    assert first["partialReason"] == "cost_ceiling"
    assert list(before) == ["with-1.jsonl"]
    assert greetings.records()["with-1.jsonl"] == before["with-1.jsonl"]
    assert asked(session) == RUNS
    assert numbers(greetings.document()) == undisturbed


def test_session_goes_on_after_a_full_disk(
    greetings: Greetings, tmp_path: Path, undisturbed: Numbers
) -> None:
    session = greetings.sessions(["bonjour"])
    session.suite.write("conftest.py", FILLER)
    greetings.out.mkdir()
    saved = tmp_path / "saved"
    filler = greetings.out / "filler"
    trusted = f"--trust-plugin --eval-run-root '{session.runs}'"
    pytest_ = f"'{sys.executable}' -m pytest {trusted} {' '.join(ARGUMENTS)}"
    steps = f"""
        FILL='{filler}' {pytest_} --eval-results-dir '{greetings.out}'; echo "first: $?"
        cp -r '{greetings.out}' '{saved}'
        rm '{filler}'
        {pytest_} --eval-resume '{greetings.out}'; echo "second: $?"
        cp -r '{greetings.out}' '{saved}-again'
    """
    command = small_disk_command(greetings.out, "24m", ["sh", "-c", steps])

    done = session.start_command(command)
    output, _ = done.communicate(timeout=240)

    assert "first: 1" in output, output
    assert "second: 0" in output
    (case,) = greetings.document(saved)["cases"]
    assert [run["measured"] for run in case["arms"]["with"]] == [True, True]
    assert "the record could not be kept" in output
    assert asked(session) == RUNS
    assert numbers(greetings.document(Path(f"{saved}-again"))) == undisturbed


def test_changed_plugin_is_refused_before_anything_is_asked(greetings: Greetings) -> None:
    session = greetings.sessions(["bonjour"])
    process = greetings.begin(session, "--eval-max-cost-usd", "0.0001")
    process.communicate(timeout=180)
    session.suite.skill("other")

    status, output = greetings.resume(session)

    assert status == pytest.ExitCode.USAGE_ERROR
    assert f"--eval-resume: {greetings.out} was made with something else" in output
    assert "the plugin's files have changed since" in output
    assert asked(session) == 1


def _children(process: int) -> list[int]:
    """Return the processes that a process has started."""
    text = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8")
    return [int(word) for word in text.split()]


def _parent(process: int) -> int:
    """Return the parent of a process."""
    text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    return int(text.rpartition(")")[2].split()[1])
