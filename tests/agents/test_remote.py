"""Sessions with the real agent in another checkout, on a machine reached by ssh, in shards."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.records.codec import read_record
from tests.agents.test_child import has_ended
from tests.support.reference import agent_binary, base_environment
from tests.support.remote import missing_ssh, remote_host
from tests.support.script import rule, script, tool, turn
from tests.support.scripted_api import ScriptedApi
from tests.support.sessions import Sessions, agents_in

pytestmark = [
    pytest.mark.agent,
    pytest.mark.skipif(agent_binary() is None, reason="no agent binary on this machine"),
]

SKILL = "demo:greet"
HELLO = {"type": "regex", "pattern": "bonjour"}
FIRED = {"type": "tool_used", "tool": "Skill", "input_match": SKILL}
NAMES = ("greet", "meet", "part", "thank")
GREETINGS = script(
    *(
        one
        for name in NAMES
        for one in (
            rule(prompt=f"Do {name}", arm="with", turns=[tool("Skill", skill=SKILL), "bonjour"]),
            rule(prompt=f"Do {name}", arm="without", turns=["hello"]),
        )
    ),
    plugin_text=SKILL,
)
INI = "[pytest]\ntestpaths = evals\n"

Way = Callable[[Sessions], str]
Make = Callable[[object], Sessions]
needs_ssh = pytest.mark.skipif(
    missing_ssh() is not None, reason=f"no machine to log in to without {missing_ssh()}"
)


@pytest.fixture
def sessions(tmp_path: Path, scripted_api: Callable[[object], ScriptedApi]) -> Make:
    """Return a function that makes sessions against a script."""

    def make(answers: object) -> Sessions:
        made = Sessions(tmp_path, scripted_api(answers))
        made.suite.write("pytest.ini", INI)
        return made

    return make


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return where the other machine has the suite."""
    return tmp_path / "checkout"


@pytest.fixture(params=["popen", pytest.param("ssh", marks=needs_ssh)])
def way(request: pytest.FixtureRequest, tmp_path: Path, checkout: Path) -> Iterator[Way]:
    """Return a function that tells how xdist reaches the checkout: a value of ``--tx``."""
    with ExitStack() as until_the_end:

        def reached(session: Sessions) -> str:
            if request.param == "popen":
                return f"popen//chdir={checkout}"
            env = base_environment(session.api.url, tmp_path / "home")
            config = until_the_end.enter_context(remote_host(tmp_path / "ssh", env))
            python = f"python={sys.executable}"
            return f"ssh=elsewhere//ssh_config={config}//{python}//chdir={checkout}"

        yield reached


def _command(session: Sessions, spec: str, *arguments: str) -> list[str]:
    options = ["--evals", "--trust-plugin", f"--eval-run-root={session.runs}"]
    return [sys.executable, "-m", "pytest", *options, "--dist=load", "--tx", spec, *arguments]


def _essence(directory: Path) -> Any:
    """Return what a document says that does not depend on time and place."""
    text = (directory / "aggregate-result.json").read_text("utf-8")
    text = re.sub(r'"(startedAt|recorded_at)": *"[^"]*"', r'"\1": ""', text)
    text = re.sub(r'"durationSeconds": *[0-9.]+', '"durationSeconds": 0', text)
    # Sums differ in their last digit by the order in which they were made.
    return json.loads(
        text.replace(str(directory), "RESULTS"), parse_float=lambda number: round(float(number), 9)
    )


def _newest(session: Sessions) -> Path:
    return sorted((session.suite.root / "evals/results").iterdir())[-1]


def _paths(document: Mapping[str, Any]) -> set[Path]:
    runs = (run for case in document["cases"] for arm in case["arms"].values() for run in arm)
    return {Path(run["tracePath"]) for run in runs}


def test_session_elsewhere_leaves_here_what_one_here_leaves(
    sessions: Make, way: Way, checkout: Path
) -> None:
    session = sessions(GREETINGS)
    for name in NAMES[:2]:
        session.suite.case(name, {"hello": HELLO, "fired": FIRED})
    shutil.copytree(session.suite.root, checkout)
    plain_status, plain_output = session.run("--evals")
    plain = _newest(session)

    process = session.start_command(_command(session, f"2*{way(session)}"))
    output, _ = process.communicate(timeout=180)

    assert (plain_status, process.returncode) == (0, 0), f"{plain_output}{output}"
    remote = _newest(session)
    assert _essence(remote) == _essence(plain)
    assert _paths(session.document) == set((remote / "runs").rglob("*.jsonl"))
    assert {read_record(path).trace.last_message for path in _paths(session.document)} == {
        "bonjour",
        "hello",
    }
    facts = [json.loads((place / "session.json").read_text("utf-8")) for place in (plain, remote)]
    assert facts[0] == facts[1]
    kept = {path.relative_to(remote) for path in remote.rglob("*")}
    assert kept == {path.relative_to(plain) for path in plain.rglob("*")}
    assert "sk-ant-scripted" not in "".join(
        path.read_text("utf-8") for path in remote.rglob("*") if path.is_file()
    )
    assert not (checkout / "evals/results").exists()
    assert session.leftovers() == []
    assert not [path for path in (checkout.parent / "home/tmp").glob("plugin-eval*")]


SLOW = script(rule(prompt="Do greet", turns=[turn("bonjour", delay_s=300)]))


def test_agent_elsewhere_ends_with_its_session(sessions: Make, way: Way, checkout: Path) -> None:
    session = sessions(SLOW)
    session.suite.case("greet", {"hello": HELLO})
    shutil.copytree(session.suite.root, checkout)
    process = session.start_command(_command(session, way(session)))
    session.api.wait_for_messages(1, timeout_s=120)
    agents = agents_in(session.runs)

    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=180)

    assert agents
    assert all(map(has_ended, agents)), output
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert not (checkout / "evals/results").exists()


def test_four_shards_merged_are_one_session(sessions: Make, tmp_path: Path) -> None:
    session = sessions(GREETINGS)
    for name in NAMES:
        session.suite.case(name, {"hello": HELLO, "fired": FIRED})
    session.run("evals")
    whole = _newest(session)

    shards = [tmp_path / f"shard-{n}" for n in range(1, 5)]
    for n, place in enumerate(shards, start=1):
        status, output = session.run("evals", f"--eval-shard={n}/4", f"--eval-results-dir={place}")
        assert status == 0, output
    merged = tmp_path / "merged"
    code = main(["merge", *map(str, shards), "--output-dir", str(merged)])

    assert code == 0
    assert _essence(merged) == _essence(whole)
    assert len(_paths(json.loads((merged / "aggregate-result.json").read_text("utf-8")))) == 8
