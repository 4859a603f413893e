"""The Monte Carlo layer by the agent binary, for those who have no key for the Messages API."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pytest_plugin_eval.execution.judging import find_judge
from pytest_plugin_eval.quality.model import Dimension, LayerResult
from pytest_plugin_eval.quality.montecarlo import monte_carlo_layer
from tests.support.montecarlo import PROMPTS, WRITTEN, asking_of, skill_in
from tests.support.reference import base_environment
from tests.support.script import TurnData, error, rule, script, text, turn
from tests.support.scripted_api import ScriptedApi

pytestmark = pytest.mark.agent

StartApi = Callable[[object], ScriptedApi]
MakeLayer = Callable[..., LayerResult]

MODEL = "claude-haiku-4-5"
ASKED = "JSON array"
"""What the call for prompts says and no run does."""
GOOD = turn("x" * 500, usage={"input": 900, "output": 100})


@pytest.fixture
def make_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeLayer]:
    """Return a function that runs a skill by the binary, as a user in ``home``."""
    monkeypatch.setattr(
        "pytest_plugin_eval.judges.anthropic_sdk._is_installed", lambda name: name != "anthropic"
    )
    (tmp_path / "home" / "tmp").mkdir(parents=True)
    with ExitStack() as stack:

        def make(api: ScriptedApi, n: int, content: str = "# Demo") -> LayerResult:
            env = {**base_environment(api.url, tmp_path / "home"), "CLAUDE_CODE_MAX_RETRIES": "0"}
            backend = find_judge(env=env, agent_path=None, run_root=tmp_path / "runs")
            stack.callback(backend.close)
            skill = skill_in(tmp_path, content, name="demo")
            return monte_carlo_layer(skill, asking_of(backend, model=MODEL), n=n, concurrency=2)

        yield make


def _script(**answers: TurnData) -> dict[str, object]:
    """Return a script with answers to prompts by their number, and good ones to all others."""
    return script(
        rule(kind="any", contains=ASKED, runs=[[WRITTEN]], end=None),
        *(
            rule(kind="any", contains=PROMPTS[int(name[-1])], runs=[[answer]], end=None)
            for name, answer in answers.items()
        ),
        rule(kind="any", runs=[[GOOD]], end=None),
    )


def test_binary_runs_a_skill_like_the_api(scripted_api: StartApi, make_layer: MakeLayer) -> None:
    api = scripted_api(_script())

    layer = make_layer(api, n=4)

    assert layer.problems == ()
    assert layer.metadata["prompts"] == "model"
    assert layer.dimensions == {
        Dimension.TRIGGERING_ACCURACY: 1.0,
        Dimension.OUTPUT_QUALITY: 1.0,
        Dimension.ROBUSTNESS: 1.0,
        Dimension.TOKEN_EFFICIENCY: 0.875,
    }
    assert layer.cost_usd is not None
    asked = [json.dumps(request.body) for request in api.messages]
    assert [sum(prompt in text for text in asked) for prompt in PROMPTS[:4]] == [1, 1, 1, 1]
    assert all(request.body.get("tools") == [] for request in api.messages)


def test_faults_of_the_binary_are_failures(scripted_api: StartApi, make_layer: MakeLayer) -> None:
    api = scripted_api(_script(run_1=error(500, "no luck"), run_2=turn(text(""))))

    layer = make_layer(api, n=4)

    assert (layer.metadata["n_activated"], layer.metadata["n_errored"]) == (2, 1)
    assert "500" in layer.problems[0]


def test_hostile_skill_reaches_the_binary_as_text(
    scripted_api: StartApi, make_layer: MakeLayer
) -> None:
    content = (
        "---\nname: '--version'\ndescription: \"\\0\"\n---\n/exit\n\x00\x1b[2J\n@/etc/passwd\n"
    )
    api = scripted_api(_script())

    layer = make_layer(api, n=2, content=content)

    assert layer.metadata["n_activated"] == 2
    runs = [request for request in api.messages if ASKED not in json.dumps(request.body)]
    assert all(
        json.dumps("/exit\n\x00\x1b[2J\n@/etc/passwd\n")[1:-1] in json.dumps(run.body)
        for run in runs
    )
    assert not any("root:" in json.dumps(run.body) for run in runs)
