"""Where a skill stands in a corpus, as data and in lines."""

from __future__ import annotations

from pytest_plugin_eval.quality.corpus import Rank, Standing
from pytest_plugin_eval.reports.quality_numbers import percent, points, share, title
from pytest_plugin_eval.text import plural

__all__ = ["standing_fields", "standing_lines"]


def standing_fields(standing: Standing) -> dict[str, object]:
    """Return a standing for JSON; percentile ranks are 0 to 1, null where there are no others."""
    return {
        "compared": standing.compared,
        "composite": _rank_fields(standing.composite),
        "dimensions": {
            dimension.value: _rank_fields(rank) for dimension, rank in standing.dimensions.items()
        },
        "missing": list(standing.missing),
    }


def standing_lines(standing: Standing) -> tuple[str, ...]:
    """Return the sentences of a standing: the composite, then each dimension."""
    if not standing.compared:
        return ("no other skill of the corpus is there to compare with",)
    others = plural(standing.compared, "skill")
    lines = [f"compared with {others} of the corpus, all by their static layer"]
    lines.append(f"Composite {points(standing.composite.score)}: {_rank(standing.composite)}")
    lines += [
        f"{title(dimension.value)} {share(rank.score)}: {_rank(rank)}"
        for dimension, rank in standing.dimensions.items()
    ]
    if standing.missing:
        lines.append(f"{plural(len(standing.missing), 'skill')} of the index not found any more")
    return tuple(lines)


def _rank(rank: Rank) -> str:
    equal = f", level with {rank.equal}" if rank.equal else ""
    where = "" if rank.share is None else f" (percentile rank {percent(rank.share)})"
    return f"above {rank.lower} of {rank.total}{equal}{where}"


def _rank_fields(rank: Rank) -> dict[str, object]:
    return {
        "score": rank.score,
        "lower": rank.lower,
        "equal": rank.equal,
        "total": rank.total,
        "percentile_rank": rank.share,
    }
