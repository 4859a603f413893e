"""The Monte Carlo layer: figures of runs that were made, and reasons for those that were not."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping

import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.quality.composite import composite
from pytest_plugin_eval.quality.model import Dimension, Layer, LayerResult
from pytest_plugin_eval.quality.montecarlo import monte_carlo_layer
from pytest_plugin_eval.quality.parse import SkillSource
from pytest_plugin_eval.quality.static import static_skill
from pytest_plugin_eval.settings import Depth
from tests.support.montecarlo import (
    Answer,
    RunsBackend,
    asking_of,
    counts_of,
    example_5,
    good_run,
    run_reply,
)
from tests.support.worked_skills import JUDGE

WAIT_S = 60.0
FAILED = JudgeError("HTTP 500: overrun", status=500)
FOUND = {
    "triggering": {
        "activation_rate": 0.8,
        "n_activated": 40,
        "n_total": 50,
        "wilson_lower": 0.6696262789551477,
        "wilson_upper": 0.8875637005402612,
    },
    "output_consistency": {
        "mean_quality": 0.6875,
        "std_dev": 0.3295356581616017,
        "cv": 0.47932459368960245,
        "bootstrap_lower": 0.5875,
        "bootstrap_upper": 0.7875,
    },
    "failure_rate": {
        "p_fail": 0.1,
        "cp_lower": 0.033275093589022475,
        "cp_upper": 0.21813536643420225,
        "n_errored": 5,
    },
    "token_efficiency": {
        "median": 1507,
        "iqr": 400,
        "outlier_count": 0,
        "efficiency_norm": 0.811625,
    },
}
FOUND_OF_100 = {
    "triggering": {
        "activation_rate": 0.8,
        "n_activated": 80,
        "n_total": 100,
        "wilson_lower": 0.7111690380734976,
        "wilson_upper": 0.8666340774409013,
    },
    "output_consistency": {
        **FOUND["output_consistency"],
        "bootstrap_lower": 0.6125,
        "bootstrap_upper": 0.76,
    },
    "failure_rate": {
        "p_fail": 0.1,
        "cp_lower": 0.04900468922148596,
        "cp_upper": 0.1762225977400227,
        "n_errored": 10,
    },
    "token_efficiency": FOUND["token_efficiency"],
}


def _layer(
    skill: SkillSource, answer: Answer = good_run, *, n: int = 50, concurrency: int = 1
) -> LayerResult:
    return monte_carlo_layer(skill, asking_of(RunsBackend(answer)), n=n, concurrency=concurrency)


def _entry(layer: LayerResult, key: str) -> Mapping[str, object]:
    entry = layer.sub_scores[key]
    assert isinstance(entry, dict)
    return entry


# Figures


@pytest.mark.parametrize("concurrency", [1, 4, 20])
@pytest.mark.parametrize(("n", "found"), [(50, FOUND), (100, FOUND_OF_100)], ids=["50", "100"])
@pytest.mark.parametrize("key", list(FOUND))
def test_example_has_the_figures_of_the_specification(
    w1: SkillSource, n: int, found: Mapping[str, Mapping[str, float]], key: str, concurrency: int
) -> None:
    layer = _layer(w1, example_5, n=n, concurrency=concurrency)

    assert list(layer.sub_scores) == list(FOUND)
    assert _entry(layer, key) == pytest.approx(found[key], abs=1e-12)


@pytest.mark.parametrize("n", [50, 100])
def test_example_enters_the_composite(w1: SkillSource, n: int) -> None:
    layer = _layer(w1, example_5, n=n)

    assert (layer.layer, layer.has_measured) == (Layer.MONTE_CARLO, True)
    assert layer.score == pytest.approx(0.7373651218931194, abs=1e-12)
    assert layer.dimensions == {
        Dimension.TRIGGERING_ACCURACY: 0.8,
        Dimension.OUTPUT_QUALITY: 0.6875,
        Dimension.ROBUSTNESS: 0.9,
        Dimension.TOKEN_EFFICIENCY: 0.811625,
    }


@pytest.mark.parametrize("n", [50, 100])
def test_example_is_certified_with_its_composite(w1: SkillSource, n: int) -> None:
    layers = (static_skill(w1), JUDGE, _layer(w1, example_5, n=n))

    whole = composite(layers, depth_asked=Depth.DEEP)

    assert whole.score == pytest.approx(64.92049319727892, abs=1e-9)
    assert (whole.badge, whole.confidence_label) == ("bronze", "Certified")


def test_runs_that_all_fail_leave_the_composite_as_it_was(w1: SkillSource) -> None:
    layers = (static_skill(w1), _layer(w1, lambda _: FAILED))

    whole = composite(layers, depth_asked=Depth.DEEP)

    assert whole.score == pytest.approx(60.984848484848484, abs=1e-9)
    assert whole.confidence_label == "Estimated"


def test_metadata_counts_runs_and_tokens(w1: SkillSource) -> None:
    layer = _layer(w1, example_5)

    tokens = 5 * (sum(1207 + 100 * digit for digit in range(8)) + 500)
    usage = {"small-1-served": 42, "agent-1-served": tokens}
    assert layer.metadata == {
        "n_runs": 50,
        "n_activated": 40,
        "n_errored": 5,
        "n_planned": 50,
        "n_not_made": 0,
        "prompts": "model",
        "model_usage": usage,
    }
    assert layer.model_usage == usage


def test_cost_is_that_of_all_calls(w1: SkillSource) -> None:
    layer = _layer(w1, lambda _: run_reply("x"), n=4)

    assert layer.cost_usd == pytest.approx(4 * 0.25 + 0.01)


def test_cost_of_one_call_that_is_unknown_leaves_the_sum_unknown(w1: SkillSource) -> None:
    layer = _layer(w1, lambda run: run_reply("x", cost_usd=None if run == 2 else 0.25), n=4)

    assert layer.cost_usd is None


@pytest.mark.parametrize(
    ("text", "activated", "quality"),
    [
        (None, 0, 0.0),
        ("", 0, 0.0),
        (" \n\t", 0, 0.0),
        ("x", 1, 0.002),
        ("x" * 499, 1, 0.998),
        ("x" * 500, 1, 1.0),
        ("x" * 501, 1, 1.0),
        (" x ", 1, 0.006),
    ],
)
def test_one_run(w1: SkillSource, text: str | None, activated: int, quality: float) -> None:
    layer = _layer(w1, lambda _: run_reply(text), n=1)

    assert _entry(layer, "triggering")["n_activated"] == activated
    assert _entry(layer, "output_consistency") == {
        "mean_quality": quality,
        "std_dev": 0.0,
        "cv": 0.0,
        "bootstrap_lower": quality,
        "bootstrap_upper": quality,
    }


def test_empty_replies_are_measured_as_such(w1: SkillSource) -> None:
    layer = _layer(w1, lambda _: run_reply(""), n=10)

    assert layer.has_measured
    assert layer.problems == ()
    assert layer.dimensions[Dimension.TRIGGERING_ACCURACY] == 0.0
    assert layer.dimensions[Dimension.OUTPUT_QUALITY] == 0.0
    assert layer.dimensions[Dimension.ROBUSTNESS] == 1.0


@pytest.mark.parametrize(("tokens", "efficiency"), [(8000, 0.0), (9000, 0.0), (2000, 0.75)])
def test_efficiency_is_gone_at_8000_tokens(w1: SkillSource, tokens: int, efficiency: float) -> None:
    layer = _layer(w1, lambda _: run_reply("x", tokens), n=3)

    assert layer.dimensions[Dimension.TOKEN_EFFICIENCY] == efficiency


def test_tokens_that_nobody_counted_are_not_efficient(w1: SkillSource) -> None:
    layer = _layer(w1, lambda _: run_reply("x", 0), n=3)

    assert Dimension.TOKEN_EFFICIENCY not in layer.dimensions
    assert set(_entry(layer, "token_efficiency").values()) == {0}
    assert layer.problems == (
        "monte_carlo: token efficiency is not measured, the service counted no tokens",
    )


def test_interval_is_left_out_without_scipy(
    w1: SkillSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)

    layer = _layer(w1, n=3)

    failure_rate = _entry(layer, "failure_rate")
    assert (failure_rate["cp_lower"], failure_rate["cp_upper"]) == (None, None)
    assert layer.dimensions[Dimension.ROBUSTNESS] == 1.0
    assert layer.problems == (
        "monte_carlo: the interval of the failure rate is left out, it needs scipy:"
        " pip install 'pytest-plugin-eval[stats]'",
    )


# Runs that fail


def test_failures_are_counted_and_told(w1: SkillSource) -> None:
    layer = _layer(w1, lambda run: FAILED if run in (3, 4) else good_run(run), n=10)

    assert counts_of(layer) == (10, 10, 0, 8, 2)
    assert layer.problems == ("monte_carlo: 2 of 10 runs failed: HTTP 500: overrun (2)",)


def test_many_reasons_are_told_in_short(w1: SkillSource) -> None:
    layer = _layer(
        w1, lambda run: good_run(run) if run < 4 else JudgeError(f"kind {run}", status=500), n=10
    )

    assert layer.problems == (
        "monte_carlo: 6 of 10 runs failed: kind 4 (1); kind 5 (1); kind 6 (1); 3 other reasons",
    )


@pytest.mark.parametrize("concurrency", [1, 2, 3, 4, 20])
def test_runs_that_fail_alike_from_the_start_are_not_all_paid_for(
    w1: SkillSource, concurrency: int
) -> None:
    backend = RunsBackend(lambda _: FAILED)

    layer = monte_carlo_layer(w1, asking_of(backend), n=50, concurrency=concurrency)

    assert 3 <= len(backend.runs) < 3 + concurrency
    assert (layer.has_measured, layer.dimensions, layer.sub_scores) == (False, {}, {})
    made = len(backend.runs)
    assert layer.problems == (
        f"monte_carlo: {50 - made} of 50 runs not made: the first 3 failed alike",
        f"monte_carlo: {made} of {made} runs failed: HTTP 500: overrun ({made})",
        "monte_carlo: nothing is measured, no run was completed",
    )


def test_ids_of_requests_make_no_other_reason(w1: SkillSource) -> None:
    backend = RunsBackend(
        lambda run: JudgeError(f"HTTP 400: bad (req_0{run}1CSHoEeqs5C35K2)", status=400)
    )

    monte_carlo_layer(w1, asking_of(backend), n=50, concurrency=1)

    assert len(backend.runs) == 3


def test_failures_beside_a_run_that_was_completed_end_nothing(w1: SkillSource) -> None:
    backend = RunsBackend(lambda run: good_run(run) if run == 3 else FAILED)
    others_failed = threading.Barrier(4)

    def together(arrival: int) -> None:
        if arrival < 4:
            others_failed.wait(WAIT_S)

    backend.before = together

    layer = monte_carlo_layer(w1, asking_of(backend), n=10, concurrency=4)

    assert counts_of(layer) == (10, 10, 0, 1, 9)


def test_no_run_completed_measures_nothing(w1: SkillSource) -> None:
    layer = _layer(w1, lambda run: JudgeError(f"kind {run}", status=500), n=4)

    assert (layer.has_measured, layer.score) == (False, 0.0)
    assert (layer.dimensions, layer.sub_scores) == ({}, {})
    assert counts_of(layer) == (4, 4, 0, 0, 4)
    assert layer.problems[-1] == "monte_carlo: nothing is measured, no run was completed"


def test_two_failures_of_two_measure_nothing(w1: SkillSource) -> None:
    layer = _layer(w1, lambda _: FAILED, n=2)

    assert (layer.has_measured, layer.metadata["n_runs"]) == (False, 2)
