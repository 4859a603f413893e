"""The live line's text and its estimate."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_plugin_eval.reports.live_line import Progress, live_text, rest_s


@pytest.mark.parametrize(
    ("fields", "width", "text"),
    [
        ({}, 80, "evals: 1 running, 2 of 6 done"),
        ({"spent_usd": 0.42}, 80, "evals: 1 running, 2 of 6 done, $0.42 spent"),
        (
            {"spent_usd": 0.42, "ceiling_usd": 5.0, "left_s": 130.0},
            80,
            "evals: 1 running, 2 of 6 done, $0.42 of $5.00, about 2 min left",
        ),
        ({"left_s": 0.0}, 80, "evals: 1 running, 2 of 6 done, about 5 s left"),
        ({"left_s": 42.0}, 80, "evals: 1 running, 2 of 6 done, about 40 s left"),
        ({"left_s": 4000.0}, 80, "evals: 1 running, 2 of 6 done, about 1 h 7 min left"),
        ({"left_s": 42.0, "done": 6}, 80, "evals: 1 running, 6 of 6 done"),
        ({"left_s": 42.0}, 45, "evals: 1 running, 2 of 6 done"),
        ({"left_s": 42.0}, 20, "evals: 1 running"),
        ({"left_s": 42.0}, 3, ""),
    ],
)
def test_line_says_how_far_the_session_is(fields: dict[str, Any], width: int, text: str) -> None:
    progress = Progress(**{"planned": 6, "done": 2, "running": 1, **fields})

    assert live_text(progress, width=width) == text


@pytest.mark.parametrize(
    ("planned", "done", "lanes", "begun", "left_s"),
    [
        (6, 2, 1, (), 40.0),
        (6, 2, 1, (4.0,), 36.0),
        (6, 2, 2, (4.0, 6.0), 15.0),
        (6, 2, 1, (99.0,), 30.0),
        (6, 5, 8, (), 10.0),
        (6, 6, 1, (), 0.0),
        (6, 7, 1, (50.0,), 0.0),
    ],
)
def test_rest_is_the_work_left_divided_by_those_who_do_it(
    planned: int, done: int, lanes: int, begun: tuple[float, ...], left_s: float
) -> None:
    assert rest_s(planned=planned, done=done, lanes=lanes, mean_s=10.0, begun_s=begun) == left_s
