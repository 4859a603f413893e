"""The judge layer by the agent binary, for those who have no key for the Messages API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pytest_plugin_eval.execution.judging import find_judge
from pytest_plugin_eval.quality.asking import Asking
from pytest_plugin_eval.quality.judge_layer import judge_layer
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from tests.support.reference import base_environment
from tests.support.script import error, rule, script
from tests.support.scripted_api import ScriptedApi
from tests.support.skills import PHRASES, REPLIES, W1_DESCRIPTION, skill, texts

pytestmark = pytest.mark.agent

MODEL = "claude-haiku-4-5"
StartApi = Callable[[object], ScriptedApi]
MakeAsking = Callable[[ScriptedApi], Asking]


@pytest.fixture
def make_asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeAsking]:
    """Return a function that makes what asks an API by the binary, as a user in ``home``."""
    monkeypatch.setattr(
        "pytest_plugin_eval.judges.anthropic_sdk._is_installed", lambda name: name != "anthropic"
    )
    (tmp_path / "home" / "tmp").mkdir(parents=True)
    with ExitStack() as stack:

        def make(api: ScriptedApi) -> Asking:
            limiter = Limiter()
            env = {
                **base_environment(api.url, tmp_path / "home"),
                "CLAUDE_CODE_MAX_RETRIES": "0",
            }
            asking = Asking(
                lambda: find_judge(
                    env=env,
                    agent_path=None,
                    run_root=tmp_path / "runs",
                    slow_down=limiter.slow_down,
                ),
                ledger=Ledger(1.0),
                limiter=limiter,
                env=env,
                judge_model=MODEL,
            )
            stack.callback(asking.close)
            return asking

        yield make


def _answers(*answers: object) -> dict[str, object]:
    rules = [
        rule(kind="any", contains=phrase, runs=[[answer]], end=None)
        for phrase, answer in zip(PHRASES, answers, strict=True)
    ]
    return script(*rules)


def test_binary_judges_like_the_api(
    scripted_api: StartApi, make_asking: MakeAsking, tmp_path: Path
) -> None:
    api = scripted_api(_answers(*texts()))

    layer = judge_layer(skill(tmp_path / "w1"), make_asking(api), concurrency=2)

    assert layer.problems == ()
    keys = ("triggering", "orchestration", "output_quality", "scope")
    assert [layer.metadata[key] for key in keys] == list(REPLIES)
    assert list(layer.dimensions.values()) == [0.9, 0.75, 0.6, 0.5]
    assert layer.model_usage == {MODEL: 440}
    assert layer.cost_usd == pytest.approx(4 * (100 * 1e-6 + 10 * 5e-6))
    assert [request.body["model"] for request in api.messages] == [MODEL] * 4
    assert [request.body.get("tools") for request in api.messages] == [[]] * 4
    assert all(W1_DESCRIPTION in str(request.body) for request in api.messages)


def test_bad_answers_of_the_binary_are_unmeasured(
    scripted_api: StartApi, make_asking: MakeAsking, tmp_path: Path
) -> None:
    good = texts()[0]
    api = scripted_api(_answers(good, error(500, "no luck"), '{"score": 1.5}', "Sorry."))

    layer = judge_layer(skill(tmp_path / "w1"), make_asking(api), concurrency=2)

    assert list(layer.sub_scores) == ["triggering_accuracy"]
    failed, above, prose = layer.problems
    assert failed.startswith("judge: orchestration_fitness not measured: ")
    assert "500" in failed
    assert above.endswith("score must be a number from 0 to 1, got 1.5")
    assert prose.startswith("judge: scope_calibration not measured: the reply is no JSON (")


def test_refused_credential_of_the_binary_stops_the_rest(
    scripted_api: StartApi, make_asking: MakeAsking, tmp_path: Path
) -> None:
    api = scripted_api(script(default=error(401, "invalid x-api-key")))
    asking = make_asking(api)

    layer = judge_layer(skill(tmp_path / "w1"), asking, concurrency=1)

    assert len(api.messages) == 1
    (problem,) = layer.problems
    assert "not measured: the service refused the credential: " in problem
    assert asking.refused_credential is not None
