"""``--eval-shard``: the cases that this machine runs, of those that were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.pytest_side.ids import case_of
from pytest_plugin_eval.pytest_side.selection import eval_runs
from pytest_plugin_eval.pytest_side.stash import collection_key, settings_key
from pytest_plugin_eval.text import plural

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_plugin_eval.pytest_side.collector import EvalRun
    from pytest_plugin_eval.settings import Settings

__all__ = ["EvalShard"]


class EvalShard:
    """Leaves to other machines what is theirs."""

    @pytest.hookimpl(trylast=True)  # what ``-k`` and ``-m`` leave is shared out
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Deselect the cases of the other shards."""
        runs = eval_runs(items)
        if not runs:
            return
        settings = config.stash[settings_key]
        own, totals = _in_shard(runs, settings)
        state = config.stash[collection_key]
        state.shard_cases = totals
        count = len({case_of(run.nodeid) for run in own if run.planned.skip_reason is None})
        index, shards = settings.shard
        state.notes.append(
            f"shard {index} of {shards}: {count} of {plural(sum(totals.values()), 'case')}"
        )
        others = set(runs) - own
        if others:
            config.hook.pytest_deselected(items=[run for run in runs if run in others])
            items[:] = [item for item in items if item not in others]


def _in_shard(runs: list[EvalRun], settings: Settings) -> tuple[set[EvalRun], dict[str, int]]:
    """Return the runs of this shard, and how many cases all shards together have, by suite root.

    Cases that are skipped are told of in every shard.
    """
    from pytest_plugin_eval.scoring.shards import shards_of

    index, count = settings.shard
    shared = [run for run in runs if run.planned.skip_reason is None]
    cases = {case_of(run.nodeid): run.planned.case for run in shared}
    seconds = _durations(settings.durations)
    known = {node: seconds[case.id] for node, case in cases.items() if case.id in seconds}
    shards = shards_of(cases, count, known)
    totals: dict[str, int] = {}
    for case in cases.values():
        totals[str(case.root)] = totals.get(str(case.root), 0) + 1
    others = {node for node, shard in shards.items() if shard != index}
    return {run for run in runs if case_of(run.nodeid) not in others}, totals


def _durations(path: Path | None) -> Mapping[str, float]:
    """Return how many seconds the runs of each case took in saved results."""
    if path is None:
        return {}
    from pytest_plugin_eval.results.finding import found_document

    document, _ = found_document(path)  # looked at with the options
    found = {}
    for case in document.cases:
        lengths = [run.duration_s for run in case.runs().values() if run.duration_s is not None]
        if lengths:
            found[case.id] = sum(lengths)
    return found
