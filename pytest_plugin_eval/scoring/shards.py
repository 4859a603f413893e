"""How the cases of a suite are shared out among machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_plugin_eval.scoring.runs import mean

__all__ = ["shards_of"]


def shards_of(
    cases: Iterable[str], count: int, durations: Mapping[str, float] | None = None
) -> dict[str, int]:
    """Return the shard of each case, from 1 to *count*.

    The same on every machine that is given the same: the longest case goes first, to the shard with
    the least to do (Graham's rule of the longest processing time, 1969, at most a third above the
    best division). *durations* are seconds by case; a case without one counts as the mean of the
    others.
    """
    listed = sorted(set(cases))
    known = durations or {}
    usual = mean(known[case] for case in listed if case in known) or 1.0
    lengths = {case: known.get(case, usual) for case in listed}
    loads = [0.0] * count
    found: dict[str, int] = {}
    for case in sorted(listed, key=lambda case: (-lengths[case], case)):
        least = loads.index(min(loads))
        # Where all are as short as nothing, they are dealt out all the same.
        loads[least] += max(lengths[case], usual * 1e-6)
        found[case] = least + 1
    return found
