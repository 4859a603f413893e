"""Quality reports made by hand, for what is printed of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_plugin_eval.quality.composite import composite
from pytest_plugin_eval.quality.model import (
    AntiPattern,
    Dimension,
    Finding,
    Layer,
    LayerResult,
    QualityReport,
    Target,
)
from pytest_plugin_eval.settings import Depth

TIMESTAMP = "2026-01-31T12:00:00+00:00"
STATIC: Mapping[Dimension, float] = {
    Dimension.TRIGGERING_ACCURACY: 0.71,
    Dimension.ORCHESTRATION_FITNESS: 1.0,
    Dimension.PROGRESSIVE_DISCLOSURE: 0.2,
    Dimension.TOKEN_EFFICIENCY: 1.0,
    Dimension.STRUCTURAL_COMPLETENESS: 0.65,
    Dimension.ECOSYSTEM_COHERENCE: 0.5,
}
"""Of the first worked example of the specification."""
HOSTILE = "a|b\n# <script>alert(1)</script> ![x](http://example.invalid/x) \x1b[31m\ud800 `c` \\"
ORPHAN = AntiPattern(
    flag="ORPHAN_REFERENCE",
    description="the link to 'references/a|b.md' leads to no file directly in references",
    severity=0.05,
)
TRIGGER = AntiPattern(
    flag="MISSING_TRIGGER",
    description="the description does not say when to load the skill",
    severity=0.15,
)


def finding(
    text: str = "the description has 12 characters, 100 or more earn the most",
    *,
    rule: str = "frontmatter_quality",
    points: float = 9.2,
    line: int | None = 3,
    remedy: str = "say what the skill does and when to use it",
) -> Finding:
    return Finding(file="SKILL.md", line=line, rule=rule, text=text, points=points, remedy=remedy)


def static_layer(
    scores: Mapping[Dimension, float] = STATIC, *, flags: Sequence[AntiPattern] = ()
) -> LayerResult:
    return LayerResult(
        layer=Layer.STATIC,
        score=0.7302,
        sub_scores={"frontmatter_quality": 0.71, "orchestration_wiring": 1.0},
        dimensions=scores,
        anti_patterns=tuple(flags),
        metadata={"skill_name": "log-reader", "line_count": 28},
    )


def judge_layer(*, measured: bool = True) -> LayerResult:
    names = ("triggering", "orchestration", "output_quality", "scope")
    missing = () if measured else ("scope_calibration",)
    scores = {
        Dimension.TRIGGERING_ACCURACY: 0.9,
        Dimension.ORCHESTRATION_FITNESS: 0.75,
        Dimension.OUTPUT_QUALITY: 0.6,
        Dimension.SCOPE_CALIBRATION: 0.5,
    }
    found = {name: score for name, score in scores.items() if name.value not in missing}
    return LayerResult(
        layer=Layer.JUDGE,
        score=0.6875,
        sub_scores={name.value: score for name, score in found.items()},
        dimensions=found,
        metadata={
            **{name: {"score": 0.5} for name in names},
            "unmeasured": list(missing),
            "model_usage": {"small-1": 1234, "middle-1": 45678},
        },
        model_usage={"small-1": 1234, "middle-1": 45678},
        cost_usd=0.0123,
    )


def monte_carlo_layer() -> LayerResult:
    return LayerResult(
        layer=Layer.MONTE_CARLO,
        score=0.7373651218931194,
        sub_scores={"triggering": {"activation_rate": 0.8, "n_total": 50}},
        dimensions={
            Dimension.TRIGGERING_ACCURACY: 0.8,
            Dimension.OUTPUT_QUALITY: 0.6875,
            Dimension.ROBUSTNESS: 0.9,
            Dimension.TOKEN_EFFICIENCY: 0.811625,
        },
        metadata={"n_runs": 50, "n_activated": 40, "n_errored": 5},
        model_usage={"agent-1": 75350},
        cost_usd=0.5,
    )


def report(
    *layers: LayerResult,
    path: str = "skills/log-reader",
    name: str = "log-reader",
    target: Target = Target.SKILL,
    depth: Depth = Depth.QUICK,
    effective: Depth | None = None,
    findings: Sequence[Finding] = (),
    skills: Sequence[QualityReport] = (),
    problems: Sequence[str] = (),
) -> QualityReport:
    made = layers or (static_layer(),)
    return QualityReport(
        path=path,
        target=target,
        name=name,
        depth=depth,
        effective_depth=depth if effective is None else effective,
        layers=made,
        composite=composite(made, depth_asked=depth),
        timestamp=TIMESTAMP,
        findings=tuple(findings),
        skills=tuple(skills),
        problems=tuple(problems),
    )


def flagged() -> QualityReport:
    """Return a skill with anti-patterns and findings."""
    return report(
        static_layer({**STATIC, Dimension.TRIGGERING_ACCURACY: 0.2}, flags=(TRIGGER, ORPHAN)),
        path="skills/tangle",
        name="tangled",
        findings=(
            finding(),
            finding(
                "the text has 0 code fences, 5 or more earn the most",
                rule="structural_completeness",
                points=0.04,
                line=None,
                remedy="show more code blocks between lines of three backticks",
            ),
        ),
    )


def deep() -> QualityReport:
    """Return a skill of which all layers measured something, one dimension excepted."""
    layers = (static_layer(), judge_layer(measured=False), monte_carlo_layer())
    return report(*layers, depth=Depth.DEEP)


def plugin() -> QualityReport:
    """Return a plugin that was asked for at a depth no plugin is scored at."""
    return report(
        static_layer(dict.fromkeys(STATIC, 0.6327676136363636), flags=(ORPHAN,)),
        path="demo",
        name="demo-kit",
        target=Target.PLUGIN,
        depth=Depth.DEEP,
        effective=Depth.QUICK,
        skills=(report(path="demo/skills/log-reader"), flagged()),
    )


def hostile() -> QualityReport:
    """Return a report whose every text would break a format, if it were not escaped."""
    flag = AntiPattern(flag="DEAD_CROSS_REF", description=HOSTILE, severity=0.05)
    layer = static_layer(flags=(flag,))
    bad = finding(HOSTILE, rule=HOSTILE, remedy=HOSTILE)
    return report(layer, path=HOSTILE, name=HOSTILE, findings=(bad,), problems=(HOSTILE,))
