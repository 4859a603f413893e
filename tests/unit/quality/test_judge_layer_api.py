"""The judge layer by the real package against a scripted Messages API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

import pytest

from pytest_plugin_eval.judges.anthropic_sdk import AnthropicSdk
from pytest_plugin_eval.quality.asking import Asking
from pytest_plugin_eval.quality.judge_layer import judge_layer
from pytest_plugin_eval.quality.model import LayerResult
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from tests.support.conversation import Conversation
from tests.support.playback import Choice
from tests.support.script import TurnData, body, drop, error, rule, script, turn
from tests.support.scripted_api import ScriptedApi
from tests.support.sdk import KEY, StartApi
from tests.support.skills import PHRASES, REPLIES, InFlight, skill, texts

MODEL = "claude-haiku-4-5"
ALL = ("triggering_accuracy", "orchestration_fitness", "output_quality", "scope_calibration")


class _Judging:
    """Scores the skill of the example by an API."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._stack = ExitStack()

    def asking(
        self,
        api: ScriptedApi,
        *,
        ceiling_usd: float | None = None,
        judge_model: str | None = MODEL,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> Asking:
        """Return what asks the API, without repetitions by the package."""
        limiter = Limiter()
        env = {
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_MAX_RETRIES": "0",
            **variables,
        }
        asking = Asking(
            lambda: AnthropicSdk(env, secrets=(KEY,), slow_down=limiter.slow_down),
            ledger=Ledger(ceiling_usd),
            limiter=limiter,
            env=env,
            judge_model=judge_model,
        )
        self._stack.callback(asking.close)
        return asking

    def layer(self, asking: Asking, *, concurrency: int = 1, judges: int = 1) -> LayerResult:
        """Return the layer; its questions come in order unless some go together."""
        return judge_layer(
            skill(self._place / "w1"), asking, concurrency=concurrency, judges=judges
        )

    def close(self) -> None:
        """Close what was opened."""
        self._stack.close()


@pytest.fixture
def judging(tmp_path: Path) -> Iterator[_Judging]:
    """Return what scores a skill."""
    judging = _Judging(tmp_path)
    yield judging
    judging.close()


def _answers(*first: Mapping[str, object], **by_phrase: TurnData) -> dict[str, object]:
    """Return a script that answers each question by its good reply, or as *by_phrase* says.

    The rules *first* go before.
    """
    names = ("triggering", "orchestration", "output_quality", "scope")
    turns = [by_phrase.get(name, good) for name, good in zip(names, texts(), strict=True)]
    rules = [
        rule(kind="bare", contains=phrase, runs=[[answer]], end=None)
        for phrase, answer in zip(PHRASES, turns, strict=True)
    ]
    return script(*first, *rules)


def test_good_replies_are_measured(scripted_api: StartApi, judging: _Judging) -> None:
    api = scripted_api(_answers())

    layer = judging.layer(judging.asking(api), concurrency=4)

    assert list(layer.sub_scores.items()) == list(zip(ALL, (0.9, 0.75, 0.6, 0.5), strict=True))
    keys = ("triggering", "orchestration", "output_quality", "scope")
    assert [layer.metadata[key] for key in keys] == list(REPLIES)
    assert layer.model_usage == {MODEL: 440}
    assert layer.cost_usd == pytest.approx(4 * (100 * 1e-6 + 10 * 5e-6))
    assert layer.problems == ()


def test_requests_have_no_tools(scripted_api: StartApi, judging: _Judging) -> None:
    api = scripted_api(_answers())

    judging.layer(judging.asking(api))

    assert [request.body.get("tools") for request in api.messages] == [None] * 4


@pytest.mark.parametrize(
    ("variables", "chosen", "asked"),
    [
        pytest.param({}, None, ["claude-opus-5-5"] * 4, id="gateway without a model"),
        pytest.param({"ANTHROPIC_MODEL": "own"}, None, ["own"] * 4, id="model of the gateway"),
        pytest.param(
            {"ANTHROPIC_MODEL": "own", "ANTHROPIC_DEFAULT_SONNET_MODEL": "mid"},
            None,
            ["own", "mid", "mid", "mid"],
            id="middle one mapped",
        ),
        pytest.param(
            {"ANTHROPIC_MODEL": "own", "ANTHROPIC_SMALL_FAST_MODEL": "tiny"},
            None,
            ["tiny", "own", "own", "own"],
            id="small one named",
        ),
        pytest.param({"ANTHROPIC_MODEL": "own"}, "chosen", ["chosen"] * 4, id="chosen"),
    ],
)
def test_model_is_one_that_the_gateway_has(
    variables: Mapping[str, str],
    chosen: str | None,
    asked: list[str],
    scripted_api: StartApi,
    judging: _Judging,
) -> None:
    api = scripted_api(_answers())

    judging.layer(judging.asking(api, judge_model=chosen, variables=variables))

    assert [request.body["model"] for request in api.messages] == asked


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        pytest.param(error(500, "no luck"), "HTTP 500: no luck", id="500"),
        pytest.param(error(400, "no luck"), "HTTP 400: no luck", id="400"),
        pytest.param(drop(), "", id="drop"),
        pytest.param(drop(after_events=3), "", id="half"),
        pytest.param(body("<html>"), "the answer is no JSON", id="garbled"),
        pytest.param(body(""), "the answer is no JSON", id="nothing"),
        pytest.param(turn(), "the reply is empty, expected a JSON object", id="no text"),
        pytest.param("Sorry.", "the reply is no JSON (", id="prose"),
        pytest.param(turn('{"score": 0.7,', stop_reason="max_tokens"), "the reply is no", id="cut"),
        pytest.param('{"score": 2}', "score must be a number from 0 to 1, got 2", id="too much"),
        pytest.param('{"assessment": "a"}', "score is missing", id="partial"),
        pytest.param('\x1b[2J{"score": 1}', "the reply is no JSON (", id="escape sequence"),
    ],
)
def test_bad_answer_costs_its_dimension_alone(
    answer: TurnData, told: str, scripted_api: StartApi, judging: _Judging
) -> None:
    api = scripted_api(_answers(scope=answer))

    layer = judging.layer(judging.asking(api), concurrency=4)

    assert layer.metadata["unmeasured"] == ["scope_calibration"]
    assert layer.score == pytest.approx(0.75)
    (problem,) = layer.problems
    assert problem.startswith(f"judge: scope_calibration not measured: {told}")
    assert problem.isprintable()


@pytest.mark.parametrize("status", [401, 403])
def test_refused_credential_is_told_once_and_stops_the_rest(
    status: int, scripted_api: StartApi, judging: _Judging
) -> None:
    api = scripted_api(script(default=error(status, f"invalid x-api-key {KEY}")))
    asking = judging.asking(api)

    layer = judging.layer(asking, judges=3)

    assert len(api.messages) == 1
    assert layer.has_measured is False
    (problem,) = layer.problems
    assert problem.startswith(f"judge: {', '.join(ALL)} not measured: the service refused")
    assert KEY not in problem
    assert asking.refused_credential is not None


def test_credential_refused_later_leaves_what_was_answered(
    scripted_api: StartApi, judging: _Judging
) -> None:
    api = scripted_api(_answers(orchestration=error(401, "expired")))
    asking = judging.asking(api)

    layer = judging.layer(asking)

    assert layer.problems == (
        "judge: orchestration_fitness not measured: the service refused the credential:"
        " HTTP 401: expired",
    )
    assert asking.refused_credential is None


def test_pause_is_kept_and_the_question_repeated(scripted_api: StartApi, judging: _Judging) -> None:
    busy = error(429, "slow down", headers={"retry-after-ms": "50"})
    first = rule(kind="bare", contains=PHRASES[3], only=[1], turns=[busy])
    api = scripted_api(_answers(first))

    layer = judging.layer(judging.asking(api))

    assert layer.sub_scores["scope_calibration"] == 0.5
    assert len(api.messages) == 5


def test_pause_of_hours_is_not_waited_for(scripted_api: StartApi, judging: _Judging) -> None:
    busy = error(429, "slow down", headers={"retry-after": "7200"})
    api = scripted_api(_answers(orchestration=busy))

    layer = judging.layer(judging.asking(api))

    assert list(layer.sub_scores) == ["triggering_accuracy"]
    assert len(api.messages) == 2
    (problem,) = layer.problems
    assert "longer than a session waits" in problem


def test_ceiling_in_the_middle_leaves_the_rest_unmeasured(
    scripted_api: StartApi, judging: _Judging
) -> None:
    api = scripted_api(_answers())

    layer = judging.layer(judging.asking(api, ceiling_usd=0.0002))

    assert list(layer.sub_scores) == ["triggering_accuracy", "orchestration_fitness"]
    assert len(api.messages) == 2
    assert layer.problems == (
        "judge: output_quality, scope_calibration not measured: cost ceiling $0.0002 reached",
    )


def test_unpriceable_model_is_refused_before_it_is_asked(
    scripted_api: StartApi, judging: _Judging
) -> None:
    api = scripted_api(_answers())

    layer = judging.layer(judging.asking(api, ceiling_usd=1.0, judge_model="own-model"))

    assert len(api.messages) == 0
    assert layer.problems == (
        f"judge: {', '.join(ALL)} not measured: the price of judge model 'own-model' is unknown,"
        " and a cost ceiling is set",
    )


def test_api_sees_no_more_than_the_bound_at_a_time(judging: _Judging) -> None:
    in_flight = InFlight(2)

    class Api(ScriptedApi):
        def choose(self, conversation: Conversation) -> Choice:
            in_flight()
            return super().choose(conversation)

    with Api(_answers()) as api:
        layer = judging.layer(judging.asking(api), concurrency=2, judges=4)
        judging.close()

    assert in_flight.most == 2
    assert layer.metadata["unmeasured"] == []
