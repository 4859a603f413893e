"""What holds for the figures of any runs, and for the prompts of any reply."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.quality.model import Dimension
from pytest_plugin_eval.quality.montecarlo_metrics import Run, metrics_of
from pytest_plugin_eval.quality.montecarlo_prompts import read_prompts

TEXTS = st.none() | st.text(max_size=20) | st.integers(0, 2000).map(lambda size: "x" * size)
RUNS = st.lists(
    st.builds(Run, text=TEXTS, tokens=st.integers(0, 20_000)), min_size=1, max_size=30
).filter(lambda runs: any(not run.has_failed for run in runs))
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
GOOD = Run(text="x" * 500, tokens=100)
FAILED = Run(text=None)


@given(RUNS)
def test_figures_are_shares(runs: list[Run]) -> None:
    metrics = metrics_of(runs)

    assert 0 <= metrics.score <= 1
    assert all(0 <= score <= 1 for score in metrics.dimensions.values())
    assert json.loads(json.dumps(metrics.sub_scores, allow_nan=False)) == metrics.sub_scores


@given(RUNS)
def test_another_failure_lowers_what_depends_on_all_runs(runs: list[Run]) -> None:
    before, after = metrics_of(runs).dimensions, metrics_of([*runs, FAILED]).dimensions

    assert after[Dimension.TRIGGERING_ACCURACY] <= before[Dimension.TRIGGERING_ACCURACY]
    assert after[Dimension.ROBUSTNESS] < before[Dimension.ROBUSTNESS]
    assert after[Dimension.OUTPUT_QUALITY] == before[Dimension.OUTPUT_QUALITY]


@given(RUNS)
def test_another_good_run_lowers_no_rate(runs: list[Run]) -> None:
    before, after = metrics_of(runs).dimensions, metrics_of([*runs, GOOD]).dimensions

    assert after[Dimension.TRIGGERING_ACCURACY] >= before[Dimension.TRIGGERING_ACCURACY]
    assert after[Dimension.ROBUSTNESS] >= before[Dimension.ROBUSTNESS]


@given(
    st.text() | JSON.map(json.dumps) | JSON.map(lambda value: f"```json\n{json.dumps(value)}```")
)
def test_any_reply_is_prompts_or_none(text: str) -> None:
    prompts = read_prompts(text)

    assert prompts is None or 5 <= len(prompts) <= 15
