"""`plugin-eval new` as a command: a scripted API proposes, the real agent is tried."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.proposals import MARK, SKILL, grader, negative, positive, reply
from tests.support.reference import agent_binary, base_environment
from tests.support.script import error, rule, script, tool, turn
from tests.support.scripted_api import ScriptedApi
from tests.support.sessions import agents_in
from tests.support.suites import write_tree
from tests.support.terminals import talk

pytestmark = [
    pytest.mark.agent,
    pytest.mark.skipif(agent_binary() is None, reason="no agent binary on this machine"),
]

COMMAND = [
    sys.executable,
    "-c",
    "import sys; from pytest_plugin_eval.cli.main import main; sys.exit(main())",
    "new",
]
SCRIPTED = ("--about", "bonjour", "--skill", "greet", "--yes", "--max-cost-usd", "1")
TRUSTED = (*SCRIPTED, "--trust-plugin")
GREETING = (
    rule(
        prompt="Maria starts",
        arm="with",
        turns=[tool("Skill", skill="demo:greet"), "Bonjour, Maria!"],
    ),
    rule(prompt="Maria starts", arm="without", turns=["Welcome, Maria!"]),
    rule(prompt="it rains", turns=["Liquid sunshine."]),
)
TIMEOUT_S = 120.0


class Workplace:
    """A plugin, a user's home, and an API."""

    def __init__(self, base: Path, api: ScriptedApi) -> None:
        self.root = write_tree(
            base / "demo",
            {
                ".claude-plugin/plugin.json": '{"name": "demo", "version": "1.0.0"}',
                "skills/greet/SKILL.md": SKILL,
            },
        )
        self.api = api
        self._home = base / "home"
        (self._home / "tmp").mkdir(parents=True)
        self.env = {**base_environment(api.url, self._home), "PYTHONUNBUFFERED": "1"}

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start the command without a terminal."""
        return subprocess.Popen(
            [*COMMAND, *words],
            cwd=self.root,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *words: str) -> tuple[int, str]:
        """Run the command without a terminal."""
        process = self.start(*words)
        output, _ = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, output

    @property
    def cases(self) -> list[str]:
        """Names of the cases that are there."""
        return sorted(path.parent.name for path in (self.root / "evals").rglob("prompt.md"))

    @property
    def files(self) -> Mapping[str, bytes]:
        """All files but results."""
        paths = (path for path in self.root.rglob("*") if path.is_file())
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in paths
            if "results" not in path.parts
        }


Make = Callable[..., Workplace]


@pytest.fixture
def workplace(tmp_path: Path, scripted_api: Callable[[object], ScriptedApi]) -> Make:
    """Return a function that makes a workplace where these replies are given to proposals."""

    def make(*replies: object, rules: Sequence[Mapping[str, object]] = GREETING) -> Workplace:
        proposing = rule(kind="bare", contains=MARK, runs=[[one] for one in replies], end=None)
        return Workplace(
            tmp_path, scripted_api(script(proposing, *rules, plugin_text="demo:greet"))
        )

    return make


def test_script_gets_cases_that_were_tried(workplace: Make) -> None:
    place = workplace(reply(positive(), negative()))

    code, output = place.run(*TRUSTED)

    assert code == 0, output
    assert place.cases == ["greets-maria", "talks-of-rain"]
    assert "greets-maria   1.00  0.00  +1.00  2" in output, output
    assert "talks-of-rain  1.00  1.00  0.00   2" in output, output
    assert "greets-maria: as it should be, once" in output
    assert "Created evals/greets-maria/prompt.md and 2 graders" in output
    (spent,) = [line for line in output.splitlines() if line.startswith("spent: ")]
    assert spent.endswith("the ceiling was $1.00")
    asked = [one for one in place.api.messages if MARK in str(one.body["system"])]
    assert [one.body["model"] for one in asked] == ["claude-opus-5-5"]


def test_case_is_tried_by_the_models_named(workplace: Make) -> None:
    judged = positive(graders=[grader("llm", "warm", criteria="Is it warm at all?")])
    voting = rule(kind="bare", contains="Is it warm at all?", runs=[["PASS"]], end=None)
    place = workplace(reply(judged), rules=[voting, *GREETING])

    code, output = place.run(
        *TRUSTED, "--model", "claude-sonnet-4-5", "--judge-model", "claude-haiku-4-5"
    )

    assert code == 0, output
    models = {str(one.body["model"]) for one in place.api.messages}
    assert models == {"claude-sonnet-4-5", "claude-haiku-4-5"}
    assert "grader 'warm' passes without the plugin too" in output
    assert "without the plugin it is as good: WITH 1.00, W/OUT 1.00" in output


def test_script_need_not_try(workplace: Make) -> None:
    place = workplace(reply(positive()))

    code, output = place.run(*SCRIPTED, "--no-try")

    assert code == 0, output
    assert place.cases == ["greets-maria"]
    assert len(place.api.messages) == 1
    assert not (place.root / "evals/results").exists()


HOSTILE = reply(
    positive(name="../../outside"),
    positive(name="/etc/outside"),
    positive(prompt="\x1b]0;owned\x07"),
    positive(why="x\nscaffold_script: run.sh"),
    positive(graders=[grader(pattern="x" * 100_000)]),
    {"name": "x", "allowed_tools": ["Bash"], "context": {"scaffold_script": "run.sh"}},
    "DROP TABLE",
    7,
)


@pytest.mark.parametrize(
    ("replies", "code", "cases"),
    [
        ([HOSTILE, HOSTILE], 1, []),
        ([HOSTILE, reply(negative())], 0, ["talks-of-rain"]),
        ([reply(negative(), positive(name="..")), "no"], 0, ["talks-of-rain"]),
        (["Sorry, I cannot do that.", "Nor that."], 1, []),
        (["```json\n" + reply(negative()) + "\n```"], 0, ["talks-of-rain"]),
        ([turn(stop_reason="max_tokens"), reply(negative())], 0, ["talks-of-rain"]),
        ([error(400, "bad request")], 1, []),
        ([error(401, "invalid x-api-key")], 1, []),
    ],
    ids=["hostile", "mended", "partial", "prose", "fenced", "empty", "refused", "credential"],
)
def test_replies_do_nothing_but_propose(
    replies: list[object], code: int, cases: list[str], workplace: Make
) -> None:
    place = workplace(*replies)
    before = place.files

    status, output = place.run(*SCRIPTED, "--no-try")

    assert (status, place.cases) == (code, cases), output
    assert before.items() <= place.files.items()
    new = set(place.files) - set(before)
    assert all(name.startswith(f"evals/{cases[0]}/" if cases else "/") for name in new)
    assert "\x1b" not in output
    assert "Traceback" not in output


def test_ceiling_is_one_for_proposals_and_tries(workplace: Make) -> None:
    dear = turn(reply(positive(), negative()), usage={"input": 100_000, "output": 10_000})
    place = workplace(dear)

    code, output = place.run(*SCRIPTED[:-1], "0.5", "--trust-plugin")

    assert code == 2, output
    assert "not tried: the cost ceiling is reached" in output
    assert place.cases == ["greets-maria", "talks-of-rain"]
    assert len(place.api.messages) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_during_the_try_leaves_nothing(number: signal.Signals, workplace: Make) -> None:
    slow = rule(prompt="Maria starts", turns=[turn("Bonjour", delay_s=60)])
    place = workplace(reply(positive()), rules=[slow])
    before = place.files
    process = place.start(*TRUSTED)

    place.api.wait_for_messages(2, TIMEOUT_S)
    assert place.cases == ["greets-maria"]
    process.send_signal(number)
    output, _ = process.communicate(timeout=TIMEOUT_S)

    assert process.returncode == 128 + number, output
    assert place.files == before
    assert "interrupted: of what was not accepted nothing is left" in output
    assert "spent: $" in output
    assert agents_in(place.root.parent) == []


def test_signal_while_the_model_is_asked_leaves_nothing(workplace: Make) -> None:
    place = workplace(turn(reply(positive()), delay_s=60))
    before = place.files
    process = place.start(*SCRIPTED, "--no-try")

    place.api.wait_for_messages(1, TIMEOUT_S)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=TIMEOUT_S)

    assert process.returncode == 130, output
    assert place.files == before
    assert "Traceback" not in output
    assert "call of unknown cost" in output


def test_author_in_a_terminal_is_led_through(workplace: Make) -> None:
    place = workplace(reply(positive(), negative()))
    dialogue = [
        ("blank one ends", "It says bonjour.\n"),
        ("> ", "\n"),
        ("Ask? [y/N]", "y\n"),
        ("Try them? [y/N]", "y\n"),
        ("Trust it and remember that? [y/N]", "y\n"),
        ("Keep greets-maria?", "y\n"),
        ("Keep talks-of-rain?", "n\n"),
    ]

    code, output = _talk(place, dialogue)

    assert code == 0, output
    assert place.cases == ["greets-maria"]
    assert "greets-maria   1.00  0.00  +1.00  2" in output, output
    assert "1 case written, 1 left out" in output


def test_ctrl_c_in_a_terminal_leaves_nothing(workplace: Make) -> None:
    place = workplace(reply(positive(), negative()))
    before = place.files
    dialogue = [("blank one ends", "bonjour\n\n"), ("Ask? [y/N]", "y\n"), ("Try them?", "\x03")]

    code, output = _talk(place, dialogue)

    assert code == 130, output
    assert place.files == before
    assert "spent: $" in output


def test_ctrl_c_at_the_question_of_trust_ends_it(workplace: Make) -> None:
    place = workplace(reply(positive(), negative()))
    before = place.files
    dialogue = [
        ("blank one ends", "bonjour\n\n"),
        ("Ask? [y/N]", "y\n"),
        ("Try them?", "y\n"),
        ("Trust it and remember that? [y/N]", "\x03"),
    ]

    code, output = _talk(place, dialogue)

    assert code == 130, output
    assert place.files == before
    assert "interrupted: of what was not accepted nothing is left" in output
    assert "no run was made" not in output
    assert "Keep " not in output
    assert "spent: $" in output


def test_plugin_that_is_not_trusted_is_not_tried(workplace: Make) -> None:
    place = workplace(reply(negative()))
    dialogue = [
        ("blank one ends", "bonjour\n\n"),
        ("Ask? [y/N]", "y\n"),
        ("Try them?", "y\n"),
        ("Trust it", "n\n"),
        ("Keep talks-of-rain?", "n\n"),
    ]

    code, output = _talk(place, dialogue)

    assert code == 1, output
    assert place.cases == []
    assert "no run was made: what went wrong stands above" in output
    assert len(place.api.messages) == 1


def _talk(place: Workplace, dialogue: Sequence[tuple[str, str]]) -> tuple[int, str]:
    return talk(COMMAND, dialogue, cwd=place.root, env=place.env)
