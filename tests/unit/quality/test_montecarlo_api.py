"""The Monte Carlo layer over the real client of the Messages API, which plays a script."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from pytest_plugin_eval.judges.anthropic_sdk import AnthropicSdk
from pytest_plugin_eval.quality.model import Dimension, LayerResult
from pytest_plugin_eval.quality.montecarlo import monte_carlo_layer
from pytest_plugin_eval.spending.limiter import Limiter
from pytest_plugin_eval.spending.prices import price_usd
from tests.support.montecarlo import PROMPTS, WRITTEN, asking_of, skill_in
from tests.support.script import TurnData, body, drop, error, rule, script, turn
from tests.support.scripted_api import ScriptedApi
from tests.support.sdk import KEY, StartApi

pytest.importorskip("anthropic", reason="the judge is in the extra `judge`")

ASKED = "JSON array"
"""What the call for prompts says and no run does."""
MODEL = "claude-sonnet-5-5"
GOOD = turn("x" * 500, usage={"input": 900, "output": 100})


class Service:
    """A scripted API and the client that asks it."""

    def __init__(self, stack: ExitStack, start: StartApi, directory: Path) -> None:
        self._stack = stack
        self._start = start
        self._directory = directory

    def layer(
        self,
        *runs: TurnData,
        prompts: TurnData = WRITTEN,
        n: int = 10,
        content: str = "# Demo",
        ceiling_usd: float | None = None,
        concurrency: int = 1,
    ) -> tuple[LayerResult, ScriptedApi]:
        """Return what comes of runs that are answered one after the other, and who answered."""
        api = self._start(_script(prompts, runs))
        limiter = Limiter()
        backend = AnthropicSdk(
            {
                "ANTHROPIC_BASE_URL": api.url,
                "ANTHROPIC_API_KEY": KEY,
                "CLAUDE_CODE_MAX_RETRIES": "0",
                "ANTHROPIC_SMALL_FAST_MODEL": "claude-haiku-4-5",
            },
            secrets=(KEY,),
            slow_down=limiter.slow_down,
        )
        self._stack.callback(backend.close)
        asking = asking_of(backend, ceiling_usd=ceiling_usd, limiter=limiter, model=MODEL)
        skill = skill_in(self._directory, content, name="demo")
        return monte_carlo_layer(skill, asking, n=n, concurrency=concurrency), api


def _script(prompts: TurnData, runs: Sequence[TurnData]) -> dict[str, object]:
    return script(
        rule(kind="bare", contains=ASKED, runs=[[prompts]]),
        rule(kind="bare", runs=[[each] for each in runs]),
    )


@pytest.fixture
def service(scripted_api: StartApi, tmp_path: Path) -> Iterator[Service]:
    with ExitStack() as stack:
        yield Service(stack, scripted_api, tmp_path)


def _counts(layer: LayerResult) -> tuple[object, ...]:
    names = ("n_planned", "n_runs", "n_activated", "n_errored")
    return tuple(layer.metadata[name] for name in names)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_good_replies(service: Service, concurrency: int) -> None:
    fenced = f"Sure:\n```json\n{json.dumps(PROMPTS)}\n```"

    layer, api = service.layer(GOOD, prompts=fenced, n=20, concurrency=concurrency)

    assert layer.dimensions == {
        Dimension.TRIGGERING_ACCURACY: 1.0,
        Dimension.OUTPUT_QUALITY: 1.0,
        Dimension.ROBUSTNESS: 1.0,
        Dimension.TOKEN_EFFICIENCY: 0.875,
    }
    assert layer.problems == ()
    assert layer.model_usage[MODEL] == 20 * 1000
    assert layer.cost_usd is not None
    assert layer.cost_usd > 0
    assert len(api.messages) == 21
    assert not any("tools" in request.body for request in api.messages)


@pytest.mark.parametrize(
    "prompts", ["I had rather not.", "[]", error(500, "overrun"), turn(""), body("{")]
)
def test_prompts_that_are_none_are_replaced(service: Service, prompts: TurnData) -> None:
    layer, _ = service.layer(GOOD, prompts=prompts)

    assert layer.metadata["prompts"] == "fixed"
    assert _counts(layer) == (10, 10, 10, 0)


def test_faults_among_good_runs_are_failures(service: Service) -> None:
    layer, _ = service.layer(GOOD, error(500, "overrun"), GOOD, drop(), turn(""), n=5)

    assert _counts(layer) == (5, 5, 2, 2)
    assert layer.dimensions[Dimension.ROBUSTNESS] == 0.6


def test_busy_service_is_asked_again_after_its_pause(service: Service) -> None:
    busy = error(429, "busy", headers={"retry-after-ms": "50"})
    layer, api = service.layer(GOOD, GOOD, GOOD, busy, GOOD, n=8)

    assert _counts(layer) == (8, 8, 8, 0)
    assert layer.problems == ()
    # The script of five answers begins again: the fourth and the ninth call are refused.
    assert len(api.messages) == 1 + 8 + 2


def test_service_that_is_busy_for_hours_ends_the_runs(service: Service) -> None:
    busy = error(429, "busy", headers={"retry-after": "7200"})
    layer, api = service.layer(GOOD, GOOD, busy, GOOD, n=8)

    assert _counts(layer) == (8, 2, 2, 0)
    assert layer.dimensions[Dimension.ROBUSTNESS] == 1.0
    assert "6 of 8 runs not made: the service takes requests again at" in layer.problems[0]
    assert len(api.messages) == 4


def test_refused_key_is_one_request(service: Service) -> None:
    layer, api = service.layer(GOOD, prompts=error(401, f"invalid x-api-key {KEY}"))

    assert (layer.has_measured, len(api.messages)) == (False, 1)
    assert "the service refused the credential" in layer.problems[0]
    assert KEY not in " ".join(layer.problems)


def test_skill_that_is_refused_is_not_paid_for_again(service: Service) -> None:
    too_long = error(413, "request_too_large")

    layer, api = service.layer(too_long, content="# Demo\n" + "x" * 5_000_000, n=50)

    assert (layer.has_measured, len(api.messages)) == (False, 4)
    assert layer.problems == (
        "monte_carlo: 47 of 50 runs not made: the first 3 failed alike",
        "monte_carlo: 3 of 3 runs failed: HTTP 413: request_too_large (3)",
        "monte_carlo: nothing is measured, no run was completed",
    )


def test_ceiling_ends_the_runs(service: Service) -> None:
    run_usd = price_usd(MODEL, input_tokens=900, output_tokens=100)
    assert run_usd is not None

    layer, _ = service.layer(GOOD, ceiling_usd=3.5 * run_usd, n=10)

    assert _counts(layer) == (10, 4, 4, 0)
    assert layer.dimensions[Dimension.ROBUSTNESS] == 1.0
    assert layer.problems[0].startswith("monte_carlo: 6 of 10 runs not made: cost ceiling $")


@pytest.mark.parametrize(
    ("text", "activated"),
    [
        pytest.param("\x00" * 500, 1, id="NUL"),
        pytest.param("\x1b[2J", 1, id="terminal"),
        pytest.param("z" * 2_000_000, 1, id="two megabytes"),
        pytest.param("\u3000\n", 0, id="white space"),
    ],
)
def test_hostile_replies_are_counted(service: Service, text: str, activated: int) -> None:
    layer, _ = service.layer(turn(text), n=1)

    assert _counts(layer) == (1, 1, activated, 0)


def test_reply_of_lone_surrogates_is_counted(service: Service) -> None:
    message = {
        "model": MODEL,
        "content": [{"type": "text", "text": "\ud800" * 500}],
        "usage": {"input_tokens": 900, "output_tokens": 100},
    }

    layer, _ = service.layer(body(json.dumps(message)), n=1)

    assert _counts(layer) == (1, 1, 1, 0)


@pytest.mark.parametrize(
    "garbled",
    [
        pytest.param(body(""), id="nothing"),
        pytest.param(body("<html>"), id="HTML"),
        pytest.param(body('{"content": 7}'), id="number"),
        pytest.param(body('{"content": [{"type": "text", "text": 7}]}'), id="text that is none"),
    ],
)
def test_garbled_answers_end_in_no_traceback(service: Service, garbled: TurnData) -> None:
    layer, _ = service.layer(garbled, GOOD, n=2)

    assert layer.metadata["n_planned"] == 2
    assert layer.has_measured


@pytest.mark.parametrize(
    "content",
    ["\x00\x01\x1b[2J", "\ufeff---\nname: a\n---\n", '---\ndescription: "\\ud800\\udfff"\n---\n'],
    ids=["controls", "byte order mark", "surrogates"],
)
def test_hostile_skills_are_sent(service: Service, content: str) -> None:
    layer, _ = service.layer(GOOD, content=content, prompts="none", n=3)

    assert _counts(layer) == (3, 3, 3, 0)
