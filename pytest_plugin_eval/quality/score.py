"""Scores of skills and plugins: which layers run, and what comes of them.

Spec: quality-score, 1, 7, 11 and 17; decisions, 27.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.quality.composite import composite
from pytest_plugin_eval.quality.model import Finding, Layer, LayerResult, QualityReport, Target
from pytest_plugin_eval.quality.parse import PluginSource, SkillSource, read_target
from pytest_plugin_eval.quality.static import static_plugin, static_skill
from pytest_plugin_eval.quality.static.agent import agent_score
from pytest_plugin_eval.quality.static.plugin import plugin_layer
from pytest_plugin_eval.settings import Depth
from pytest_plugin_eval.text import one_line, plural, shown

if TYPE_CHECKING:
    from pytest_plugin_eval.quality.asking import Asking
    from pytest_plugin_eval.quality.given_replies import GivenReplies

__all__ = [
    "ScoreOptions",
    "count_calls",
    "estimate_usd",
    "explained",
    "monte_carlo_runs",
    "score_source",
    "score_target",
]

_RUNS: Mapping[Depth, int] = MappingProxyType({Depth.DEEP: 50, Depth.THOROUGH: 100})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    """How a target is scored."""

    depth: Depth = Depth.QUICK
    concurrency: int = 4
    """Calls at the same time."""
    judges: int = 1
    """How often each question of the judge layer is asked, 1 to 5."""
    judge_chars: int | None = 3000
    """How much of SKILL.md a judge sees; ``None`` for all of it."""
    monte_carlo_n: int | None = None
    """Runs of the Monte Carlo layer; ``None`` or 0: as many as the depth says."""
    explain: bool = True
    """Say what costs points, and how to win them back."""
    each_skill: bool = False
    """Score each skill of a plugin at the depth; the plugin's own composite stays static."""
    replies: GivenReplies | None = None
    """Replies that a judge gave elsewhere, about the one skill; no judge is asked then."""


def score_target(
    path: str,
    options: ScoreOptions,
    *,
    asking: Asking | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> QualityReport:
    """Return the score of the skill or plugin at *path*; *asking* is needed above ``quick``.

    Raises `QualityError` when there is nothing that could be scored.
    """
    return score_source(read_target(path), path, options, asking=asking, now=now)


def score_source(
    source: SkillSource | PluginSource,
    path: str,
    options: ScoreOptions,
    *,
    asking: Asking | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    on_layer: Callable[[LayerResult], None] = lambda _: None,
) -> QualityReport:
    """Return the score of what was read from *path*, as `score_target` does.

    *on_layer* is told of each layer when it is done; those of a plugin's skills are its parts.
    """
    scoring = _Scoring(options, asking, now, on_layer)
    if isinstance(source, PluginSource):
        return scoring.plugin(source, path)
    static = static_skill(source)
    on_layer(static)
    return scoring.skill(source, static, path)


def explained(report: QualityReport) -> QualityReport:
    """Return a report with its findings, where they were left out and the files are as they were.

    For pages: a score that everybody waits for need not pay for what a reader asks for later.
    """
    try:
        source = read_target(report.path)
    except QualityError:
        return report
    layer = static_plugin(source) if isinstance(source, PluginSource) else static_skill(source)
    was = report.layers[0]
    if (layer.sub_scores, layer.anti_patterns) != (was.sub_scores, was.anti_patterns):
        return report
    return replace(report, findings=_findings(source, ScoreOptions()))


def monte_carlo_runs(options: ScoreOptions) -> int:
    """Return how many runs the Monte Carlo layer makes, 0 where it does not run at all."""
    runs = _RUNS.get(options.depth, 0)
    return (options.monte_carlo_n or runs) if runs else 0


def count_calls(source: SkillSource | PluginSource, options: ScoreOptions) -> int:
    """Return how many calls are made: of each skill the judge's, one for prompts, and the runs."""
    if options.depth is Depth.QUICK:
        return 0
    from pytest_plugin_eval.quality.judge_prompts import CHECKS

    runs = monte_carlo_runs(options)
    a_skill = len(CHECKS) * options.judges + (runs + 1 if runs else 0)
    return len(_asked_about(source, options)) * a_skill


def estimate_usd(
    source: SkillSource | PluginSource, options: ScoreOptions, asking: Asking
) -> float | None:
    """Return about what the calls would cost; ``None`` when it is unknown."""
    if options.depth is Depth.QUICK:
        return 0.0
    skills = _asked_about(source, options)
    return _sum(_estimate_usd(skill, options, asking) for skill in skills)


def _asked_about(
    source: SkillSource | PluginSource, options: ScoreOptions
) -> tuple[SkillSource, ...]:
    """Return the skills about which models are asked above ``quick``."""
    if isinstance(source, SkillSource):
        return (source,)
    return source.skills if options.each_skill else ()


class _Scoring(NamedTuple):
    """Makes the reports of one target."""

    options: ScoreOptions
    asking: Asking | None
    now: Callable[[], datetime]
    on_layer: Callable[[LayerResult], None]

    def skill(self, skill: SkillSource, static: LayerResult, path: str) -> QualityReport:
        """Return the score of a skill, whose static layer is there already."""
        layers = [static]
        for layer in _asked_layers(skill, path, self.options, self.asking):
            layers.append(layer)
            self.on_layer(layer)
        return self._report(
            skill,
            path,
            layers=tuple(layers),
            effective_depth=_effective(layers, self.options.depth),
            problems=(*skill.problems, *_of_layers(layers)),
        )

    def plugin(self, plugin: PluginSource, path: str) -> QualityReport:
        """Return the score of a plugin by its static layer, with those of its skills."""
        statics = [static_skill(skill) for skill in plugin.skills]
        agents = [agent_score(agent).score for agent in plugin.agents]
        layer = plugin_layer(plugin, statics, agents)
        self.on_layer(layer)
        skills = tuple(self._skills(plugin, statics, path))
        return self._report(
            plugin,
            path,
            layers=(layer,),
            effective_depth=Depth.QUICK,
            problems=(*plugin.problems, *_static_only(path, self.options), *_of_skills(skills)),
            skills=skills,
        )

    def _skills(
        self, plugin: PluginSource, statics: Sequence[LayerResult], path: str
    ) -> Iterator[QualityReport]:
        """Yield the score of each skill for itself, where it costs nothing or was asked for."""
        options = self.options
        if options.depth is not Depth.QUICK and not options.each_skill:
            return
        # The plugin's findings are those of its skills already.
        options = replace(options, explain=options.explain and options.each_skill)
        scoring = self._replace(options=options)
        for skill, static in zip(plugin.skills, statics, strict=True):
            place = Path(path, skill.path.relative_to(plugin.path))
            yield scoring.skill(skill, static, str(place))

    def _report(
        self,
        source: SkillSource | PluginSource,
        path: str,
        *,
        layers: tuple[LayerResult, ...],
        effective_depth: Depth,
        problems: Iterable[str],
        skills: tuple[QualityReport, ...] = (),
    ) -> QualityReport:
        is_plugin = isinstance(source, PluginSource)
        costs = [layer.cost_usd for layer in layers] + [skill.cost_usd for skill in skills]
        return QualityReport(
            path=path,
            target=Target.PLUGIN if is_plugin else Target.SKILL,
            name="" if source.name is None else str(source.name),
            depth=self.options.depth,
            effective_depth=effective_depth,
            layers=layers,
            composite=composite(layers, depth_asked=self.options.depth),
            timestamp=self.now().isoformat(),
            judges=self.options.judges,
            concurrency=self.options.concurrency,
            monte_carlo_n=self.options.monte_carlo_n,
            findings=_findings(source, self.options),
            skills=skills,
            problems=tuple(dict.fromkeys(problems)),
            cost_usd=_sum(costs),
        )


def _asked_layers(
    skill: SkillSource, path: str, options: ScoreOptions, asking: Asking | None
) -> Iterator[LayerResult]:
    """Yield the layers above the static one that the depth holds, in order."""
    if options.depth is Depth.QUICK:
        return
    if options.replies is not None:
        from pytest_plugin_eval.quality.given_replies import given_layer

        yield given_layer(options.replies)
        return
    if asking is None:
        raise QualityError(
            f"{path}: depth {shown(options.depth.value)} asks models, expected something to ask"
        )
    from pytest_plugin_eval.quality.judge_layer import judge_layer  # not for quick scores

    yield judge_layer(
        skill,
        asking,
        judges=options.judges,
        chars=options.judge_chars,
        concurrency=options.concurrency,
    )
    if runs := monte_carlo_runs(options):
        from pytest_plugin_eval.quality.montecarlo import monte_carlo_layer

        yield monte_carlo_layer(skill, asking, n=runs, concurrency=options.concurrency)


def _effective(layers: Iterable[LayerResult], asked: Depth) -> Depth:
    """Return the deepest depth of which something was measured. Spec: 17, B2."""
    measured = {layer.layer for layer in layers if layer.has_measured}
    if Layer.MONTE_CARLO in measured:
        return asked
    return Depth.STANDARD if Layer.JUDGE in measured else Depth.QUICK


def _findings(source: SkillSource | PluginSource, options: ScoreOptions) -> tuple[Finding, ...]:
    if not options.explain:
        return ()
    from pytest_plugin_eval.quality.findings import findings  # not where nobody reads them

    return findings(source)


def _static_only(path: str, options: ScoreOptions) -> Iterator[str]:
    if options.depth is not Depth.QUICK:
        yield (
            f"{one_line(path)}: only the static layer runs on a plugin, not depth"
            f" {shown(options.depth.value)}: its confidence is Estimated"
        )


def _of_layers(layers: Iterable[LayerResult]) -> Iterator[str]:
    for layer in layers:
        yield from layer.problems


def _of_skills(skills: Iterable[QualityReport]) -> Iterator[str]:
    """Yield a line for each problem of the skills' layers, with the skills that have it."""
    places: dict[str, list[str]] = {}
    for report in skills:
        for text in dict.fromkeys(_of_layers(report.layers)):
            places.setdefault(text, []).append(report.path)
    for text, paths in places.items():
        where = paths[0] if len(paths) == 1 else plural(len(paths), "skill")
        yield f"{one_line(where)}: {text}"


def _estimate_usd(skill: SkillSource, options: ScoreOptions, asking: Asking) -> float | None:
    from pytest_plugin_eval.quality.judge_layer import judge_questions

    judged = judge_questions(skill, judges=options.judges, chars=options.judge_chars)
    costs = [asking.estimate_usd(judged)]
    if runs := monte_carlo_runs(options):
        from pytest_plugin_eval.quality.montecarlo import monte_carlo_questions

        costs.append(asking.estimate_usd(monte_carlo_questions(skill, n=runs)))
    return _sum(costs)


def _sum(costs: Iterable[float | None]) -> float | None:
    known: list[float] = []
    for cost in costs:
        if cost is None:
            return None
        known.append(cost)
    return math.fsum(known)
