"""`--lf` and `--sw` after a failed verdict: a verdict is no item, its case's runs are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from pytest_plugin_eval.pytest_side.ids import verdict_id

__all__ = ["translate_verdicts"]


def translate_verdicts(config: pytest.Config, runs: Mapping[str, Sequence[str]]) -> None:
    """Replace verdicts in pytest's cache by the runs of their case.

    *runs* holds the run ids by case node id. Otherwise the next ``--lf`` would find no such test
    and run everything, and ``--sw`` would start from the beginning.
    """
    cache = getattr(config, "cache", None)
    if cache is None or not runs or hasattr(config, "workerinput"):
        return
    verdicts = {verdict_id(case): ids for case, ids in runs.items()}
    failed = cache.get("cache/lastfailed", {})
    if isinstance(failed, dict) and not verdicts.keys().isdisjoint(failed):
        translated: dict[str, bool] = {}
        for nodeid in failed:
            for one in verdicts.get(nodeid, [nodeid]):
                translated[one] = True
        cache.set("cache/lastfailed", translated)
    _translate_stepwise(cache, verdicts)


def _translate_stepwise(cache: pytest.Cache, verdicts: Mapping[str, Sequence[str]]) -> None:
    step = cache.get("cache/stepwise", None)
    if not isinstance(step, dict):
        return
    runs = verdicts.get(str(step.get("last_failed")))
    if runs:
        cache.set("cache/stepwise", {**step, "last_failed": runs[0]})
