"""Which back end is taken, and what is said when there is none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from pytest_plugin_eval.cases.model import GraderSpec
from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.execution import judging
from pytest_plugin_eval.execution.judging import find_judge
from pytest_plugin_eval.execution.planning import plan_case
from pytest_plugin_eval.judges import anthropic_sdk
from pytest_plugin_eval.judges.agent_binary import AgentBinary
from pytest_plugin_eval.judges.anthropic_sdk import AnthropicSdk
from pytest_plugin_eval.judges.base import JudgeBackend, JudgeRequest
from pytest_plugin_eval.pytest_side.judges import asker_of, judge_of
from pytest_plugin_eval.settings import Ablation, Settings
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from tests.support.judges import FakeBackend
from tests.support.records import case

SPECS: TypeAdapter[GraderSpec] = TypeAdapter(GraderSpec)
NICE = SPECS.validate_python({"type": "llm", "name": "nice", "criteria": "Is it nice?"})
KEY = {"ANTHROPIC_API_KEY": "sk-ant-scripted-0000"}
BEDROCK = {
    "CLAUDE_CODE_USE_BEDROCK": "1",
    "AWS_REGION": "us-east-1",
    "AWS_BEARER_TOKEN_BEDROCK": "bedrock-token",
}
Find = Callable[[Mapping[str, str]], JudgeBackend]


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """Return a program that says the version of the agent binary and does nothing else."""
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\necho '2.1.332 (Claude Code)'\n", encoding="utf-8")
    program.chmod(0o700)
    return program


@pytest.fixture
def find(stand_in: Path, tmp_path: Path) -> Iterator[Find]:
    """Return a function that finds the judge for an environment where the stand-in is there."""
    with ExitStack() as stack:

        def find(env: Mapping[str, str]) -> JudgeBackend:
            backend = find_judge(
                env={"PATH": os.environ["PATH"], **env},
                agent_path=stand_in,
                run_root=tmp_path / "runs",
            )
            stack.callback(backend.close)
            return backend

        yield find


@pytest.fixture
def no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no extra package installed."""
    monkeypatch.setattr(anthropic_sdk, "_is_installed", lambda _: False)


@pytest.mark.parametrize(
    ("env", "description"),
    [
        (KEY, "Messages API by the anthropic package"),
        ({"ANTHROPIC_AUTH_TOKEN": "tok"}, "Messages API by the anthropic package"),
        (
            {**BEDROCK, "ANTHROPIC_DEFAULT_HAIKU_MODEL": "us.haiku"},
            "Amazon Bedrock by the anthropic package",
        ),
    ],
    ids=["key", "token", "cloud"],
)
def test_api_is_asked_where_it_can_be(env: Mapping[str, str], description: str, find: Find) -> None:
    backend = find(env)

    assert isinstance(backend, AnthropicSdk)
    assert backend.description == description


@pytest.mark.parametrize(
    ("env", "advice"),
    [
        ({}, ""),
        ({"CLAUDE_CODE_OAUTH_TOKEN": "tok"}, ""),
        (BEDROCK, "; faster: set ANTHROPIC_DEFAULT_HAIKU_MODEL"),
        (
            {"CLAUDE_CODE_USE_FOUNDRY": "1"},
            "; faster: set ANTHROPIC_FOUNDRY_API_KEY",
        ),
    ],
    ids=["nothing", "subscription", "cloud without names", "cloud without a key"],
)
def test_agent_binary_is_asked_else(
    env: Mapping[str, str], advice: str, find: Find, stand_in: Path
) -> None:
    backend = find(env)

    assert isinstance(backend, AgentBinary)
    assert backend.description == (
        f"agent binary, Claude Code 2.1.332: {stand_in} (--eval-agent-path){advice}"
    )


@pytest.mark.usefixtures("no_extras")
def test_extra_is_recommended_to_those_with_a_key(find: Find) -> None:
    backend = find(KEY)

    assert isinstance(backend, AgentBinary)
    assert backend.description.endswith("; faster: pip install 'pytest-plugin-eval[judge]'")


def test_client_that_cannot_be_made_leaves_the_binary(find: Find) -> None:
    backend = find({**BEDROCK, "AWS_REGION": "", "ANTHROPIC_SMALL_FAST_MODEL": "us.haiku"})

    assert isinstance(backend, AgentBinary)
    assert "; faster: mend the settings (No AWS region was provided" in backend.description


@pytest.mark.usefixtures("no_extras")
@pytest.mark.parametrize(
    ("env", "advice"),
    [
        (KEY, "pip install 'pytest-plugin-eval[judge]' to ask"),
        ({}, "pip install 'pytest-plugin-eval[judge]' and set ANTHROPIC_API_KEY to ask"),
    ],
)
def test_no_judge_at_all_is_one_line(env: Mapping[str, str], advice: str, tmp_path: Path) -> None:
    with pytest.raises(JudgeError) as caught:
        find_judge(env=env, agent_path=tmp_path / "absent", run_root=tmp_path / "runs")

    message = str(caught.value)
    assert f"no judge for llm and baseline graders: {advice} the Messages API" in message
    assert "--eval-agent-path" in message
    assert "\n" not in message


def test_who_has_no_judge_is_named(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=r"^no judge for the score: "):
        find_judge(
            env={},
            agent_path=tmp_path / "absent",
            run_root=tmp_path / "runs",
            needed_by="the score",
        )


def test_place_that_cannot_be_written_is_said(stand_in: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(JudgeError, match="--eval-run-root"):
        find_judge(env={}, agent_path=stand_in, run_root=tmp_path / "file" / "runs")


def test_binary_without_an_answer_leaves_nothing_behind(find: Find, tmp_path: Path) -> None:
    backend = find({})

    with pytest.raises(JudgeError, match="without a result"):
        backend.ask(JudgeRequest(model="haiku", system="", parts=("Good?",)))
    backend.close()

    assert list((tmp_path / "runs").iterdir()) == []
    with pytest.raises(JudgeError, match="the session was stopped"):
        backend.ask(JudgeRequest(model="haiku", system="", parts=("Good?",)))


def test_session_holds_back_as_soon_as_what_it_asks_is_told_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[Mapping[str, Any]] = []

    def find(**arguments: object) -> FakeBackend:
        given.append(arguments)
        return FakeBackend()

    monkeypatch.setattr(judging, "find_judge", find)
    # Who asks in the name of a server's stand-in is another test's matter.
    monkeypatch.setattr("pytest_plugin_eval.pytest_side.judges.asks_a_model", lambda _: True)
    settings = Settings(ablation=Ablation.NONE)
    planned = plan_case(case(NICE), settings)
    ledger, limiter = Ledger(), Limiter(now=lambda: 0.0)

    for one in (
        judge_of([planned], settings, ledger, limiter, forbidden=None),
        asker_of([planned], settings, ledger, limiter),
    ):
        assert one is not None
        one.check()

    pauses_s = []
    for until, arguments in enumerate(given, 1):
        arguments["slow_down"](float(until))
        pauses_s.append(limiter.pause_s())
    assert pauses_s == [1.0, 2.0]
