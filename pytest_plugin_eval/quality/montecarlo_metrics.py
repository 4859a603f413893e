"""What runs of a skill add up to. Spec: quality-score, 9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_plugin_eval.quality.model import Dimension
from pytest_plugin_eval.scoring.statistics import (
    bootstrap_mean,
    clopper_pearson,
    mean,
    population_std,
    spread,
    wilson,
)

__all__ = ["Metrics", "Run", "metrics_of"]

FULL_LENGTH = 500
"""Characters from which a reply counts in full."""
MOST_TOKENS = 8000
"""Tokens at which nothing is left of the efficiency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How one run ended."""

    text: str | None
    """The reply; ``None`` of a run that failed."""
    tokens: int = 0
    """0 where the service did not count them."""

    @property
    def has_failed(self) -> bool:
        """Whether there is no reply, not even an empty one."""
        return self.text is None

    @property
    def is_activated(self) -> bool:
        """Whether there is a reply that says something."""
        return bool(self.text and self.text.strip())

    @property
    def quality(self) -> float:
        """Return the length of the reply as a share of 500 characters, at most 1."""
        return min(1.0, len(self.text or "") / FULL_LENGTH) if self.is_activated else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """The figures of a layer, of which at least one run was completed."""

    score: float
    sub_scores: dict[str, object]
    dimensions: dict[Dimension, float]
    has_exact_interval: bool
    """Whether the bounds of the failure rate could be computed."""


def metrics_of(runs: Sequence[Run]) -> Metrics:
    """Return the figures of *runs*, in the order they were planned in; at least one is completed.

    Layer score: ``0.40 activation + 0.30 (1 - min(1, cv)) + 0.20 (1 - p_fail) + 0.10 efficiency``.
    """
    n = len(runs)
    activated = sum(run.is_activated for run in runs)
    failed = sum(run.has_failed for run in runs)
    activation_rate, p_fail = activated / n, failed / n
    consistency, mean_quality, cv = _consistency([run.quality for run in runs if run.is_activated])
    # A call is never without tokens: 0 is a service that does not count them.
    counts = [run.tokens for run in runs if not run.has_failed and run.tokens > 0]
    tokens, efficiency = _efficiency(counts)
    exact = clopper_pearson(failed, n)
    dimensions = {
        Dimension.TRIGGERING_ACCURACY: activation_rate,
        Dimension.OUTPUT_QUALITY: mean_quality,
        Dimension.ROBUSTNESS: 1 - p_fail,
    }
    if counts:
        dimensions[Dimension.TOKEN_EFFICIENCY] = efficiency
    score = (
        0.40 * activation_rate + 0.30 * (1 - min(1.0, cv)) + 0.20 * (1 - p_fail) + 0.10 * efficiency
    )
    return Metrics(
        score=min(1.0, max(0.0, score)),
        sub_scores={
            "triggering": _triggering(activated, n),
            "output_consistency": consistency,
            "failure_rate": {
                "p_fail": p_fail,
                "cp_lower": exact.lower if exact else None,
                "cp_upper": exact.upper if exact else None,
                "n_errored": failed,
            },
            "token_efficiency": tokens,
        },
        dimensions=dimensions,
        has_exact_interval=exact is not None,
    )


def _triggering(activated: int, n: int) -> dict[str, object]:
    bounds = wilson(activated, n)
    return {
        "activation_rate": activated / n,
        "wilson_lower": bounds.lower,
        "wilson_upper": bounds.upper,
        "n_activated": activated,
        "n_total": n,
    }


def _consistency(qualities: Sequence[float]) -> tuple[dict[str, object], float, float]:
    """Return the entry, the mean and the coefficient of variation."""
    centre, std_dev = mean(qualities), population_std(qualities)
    cv = std_dev / centre if len(qualities) > 1 else 0.0
    bounds = bootstrap_mean(qualities)
    entry: dict[str, object] = {
        "mean_quality": centre,
        "std_dev": std_dev,
        "cv": cv,
        "bootstrap_lower": bounds.lower,
        "bootstrap_upper": bounds.upper,
    }
    return entry, centre, cv


def _efficiency(counts: Sequence[int]) -> tuple[dict[str, object], float]:
    """Return the entry and the efficiency."""
    found = spread(counts)
    efficiency = max(0.0, 1 - found.median / MOST_TOKENS) if counts else 0.0
    entry: dict[str, object] = {
        "median": found.median,
        "iqr": found.iqr,
        "outlier_count": found.outlier_count,
        "efficiency_norm": efficiency,
    }
    return entry, efficiency
