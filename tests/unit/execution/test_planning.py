"""Which arms a case with a recorded conversation gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.execution.planning import plan_case
from pytest_plugin_eval.settings import Ablation, Settings
from tests.support.agents import make_case


@pytest.mark.parametrize(
    ("ablation", "runs"),
    [(None, (3, 0)), (Ablation.NONE, (3, 0)), (Ablation.WITH_WITHOUT, (3, 3))],
)
def test_conversation_has_one_arm_unless_both_are_asked_for(
    ablation: Ablation | None, runs: tuple[int, int]
) -> None:
    case = make_case(Path("/plugin"), history_file="h.jsonl")

    plan = plan_case(case, Settings(ablation=ablation)).plan

    assert (plan.with_runs, plan.without_runs) == runs
    assert plan.two_arms is (ablation is Ablation.WITH_WITHOUT)
