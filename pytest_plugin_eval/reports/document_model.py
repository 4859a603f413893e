"""The shape of the result document, as one definition. Spec: behaviour-evals, 9.

Fields that only this program writes may be missing: documents of `claude plugin eval` are of the
same shape. `document` writes what is described here; tests hold both together.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from pytest_plugin_eval.reports.run_model import MAY_BE_NULL, Part, Run, Share, Usd

__all__ = ["ResultDocument"]


class Harness(Part):
    """The program that made the document."""

    name: str = Field(description="pytest-plugin-eval.")
    version: str = Field(description="Its version.")
    mode: str = Field(description="live, record or replay; rescored where it was graded again.")


class PluginEntry(Part):
    """A plugin under test."""

    name: str = Field(description="Its name.")
    version: str | None = Field(default=None, description="Its version, where it has one.")
    path: str = Field(description="Its directory, absolute.")
    problem: str | None = Field(default=None, description="manifest_invalid, where it is so.")


class NotStarted(Part):
    """Runs that were planned and not started."""

    case: str = Field(description="Id of the case.")
    runs: list[str] = Field(description="Arm and number of each, such as with-2.")
    reason: str = Field(description="Why.")


class Suite(Part):
    """What was evaluated, and by which options."""

    root: str = Field(description="The plugin's directory, or what was searched; absolute.")
    ablation: str = Field(description="with-without: both arms; none: one.")
    plugin_id: str | None = Field(default=None, description="name@marketplace, where it was named.")
    model_override: str | None = Field(default=None, description="Model chosen for all cases.")
    judge_model: str | None = Field(default=None, description="Judge's model, as it was given.")
    case_filter: str | None = Field(default=None, description="Glob by which cases were chosen.")
    tag_filters: list[str] | None = Field(default=None, description="Tags by which they were.")
    threshold: Share = Field(description="Score that every case has to reach.")
    concurrency: int = Field(description="Agent runs at once.")
    plugins: list[PluginEntry] = Field(description="Plugins under test.")
    eval_dir: str | None = Field(default=None, description="Eval directory, absolute.")
    free_only: bool | None = Field(default=None, description="Whether no judge was asked.")
    min_delta: float | None = Field(default=None, description="Least difference of the arms.")
    spent_usd: Usd | None = Field(
        default=None,
        json_schema_extra=MAY_BE_NULL,
        description="What this session paid, as far as it is known.",
    )
    max_cost_usd: Usd | None = Field(default=None, description="Cost ceiling.")
    shard: str | None = Field(default=None, description="Part of the suite, such as 2/4.")
    shard_cases: int | None = Field(
        default=None, description="Cases that all parts of the suite have together."
    )
    not_started: list[str] | None = Field(default=None, description="Cases without a single run.")
    runs_not_started: list[NotStarted] | None = Field(
        default=None, description="Runs that were planned and not started, by case."
    )
    runs_taken_over: int | None = Field(default=None, description="Runs of an earlier session.")
    judge_models: list[str] | None = Field(default=None, description="Models that voted.")
    recorded: str | None = Field(
        default=None, description="Replay: when and with what the records were made."
    )


class GraderDefinition(Part):
    """A grader as the case has it."""

    name: str = Field(description="Its name.")
    type: str = Field(description="Its kind.")
    weight: float | None = Field(description="Its weight; null: not finite.")
    grader_markdown: str | None = Field(default=None, description="Criteria, of llm and baseline.")
    config: dict[str, object] = Field(description="Its options, under the names of the file.")


class Arms(Part):
    """Runs by arm."""

    model_config = ConfigDict(alias_generator=lambda name: name.removesuffix("_arm"))

    with_arm: list[Run] = Field(description="Runs with the plugin.")
    without_arm: list[Run] | None = Field(default=None, description="Runs without it.")


class CaseAggregates(Part):
    """Means over the measured runs of a case."""

    score: Share | None = Field(description="With the plugin; null: nothing measured.")
    pass_rate: Share | None = Field(description="Share of runs that passed.")
    score_without: Share | None = Field(default=None, description="Without the plugin.")
    pass_rate_without: Share | None = Field(default=None, description="Of runs without it.")
    delta: float | None = Field(default=None, ge=-1, le=1, description="Difference of the scores.")
    withheld: str | None = Field(default=None, description="Why the arms are not compared.")


class CasePlan(Part):
    """Runs that were planned."""

    model_config = ConfigDict(
        alias_generator=lambda name: "twoArms" if name == "two_arms" else name.removesuffix("_arm")
    )

    with_arm: int = Field(description="With the plugin.")
    without_arm: int = Field(description="Without it.")
    two_arms: bool = Field(description="Whether the arms are compared.")


class Costs(Part):
    """Sums of costs in US dollars; null: a part is unknown."""

    with_usd: Usd | None = Field(description="Runs with the plugin.")
    without_usd: Usd | None = Field(
        default=None, json_schema_extra=MAY_BE_NULL, description="Runs without it."
    )
    agent_usd: Usd | None = Field(description="Agent, in both arms.")
    judge_usd: Usd | None = Field(description="Judge, in both arms.")
    known_usd: Usd = Field(description="What is known of all.")
    unknown_runs: int = Field(description="Runs of which something is unknown.")
    quality_usd: Usd | None = Field(
        default=None,
        json_schema_extra=MAY_BE_NULL,
        description="What the quality score cost; in no other sum.",
    )


class Case(Part):
    """One case and its runs."""

    name: str = Field(description="Its name.")
    dir: str = Field(description="Its directory, relative to the root, with slashes: its id.")
    source: Literal["prose", "case_yaml", "mixed"] = Field(description="Which files define it.")
    prompt_markdown: str = Field(description="What the agent was told.")
    model: str | None = Field(default=None, description="Model that the case sets.")
    runs_per_case: int = Field(description="Runs that the case sets, or 3.")
    runs_planned: int | None = Field(default=None, description="Runs in each arm.")
    timeout_seconds: float = Field(description="Time limit of a run.")
    max_turns: int = Field(description="Most turns of a run.")
    graders: list[GraderDefinition] = Field(description="Its graders.")
    arms: Arms = Field(description="Its runs.")
    advisories: list[str] | None = Field(default=None, description="Graders that cannot pass.")
    grader_advisories: dict[str, str] | None = Field(
        default=None, description="Of these, what explains the failure of a grader, by its name."
    )
    hints: list[str] | None = Field(
        default=None, description="What the author may have overlooked."
    )
    aggregates: CaseAggregates = Field(description="Its scores.")
    costs: Costs | None = Field(default=None, description="What its runs cost.")
    passed: bool | None = Field(
        default=None,
        json_schema_extra=MAY_BE_NULL,
        description="Whether it met the thresholds.",
    )
    tags: list[str] | None = Field(default=None, description="Its tags.")
    not_granted: list[str] | None = Field(
        default=None, description="Tools that it asks for and that were not granted."
    )
    warnings: list[str] | None = Field(default=None, description="Doubtful things in its files.")
    plan: CasePlan | None = Field(default=None, description="Runs that were planned.")


class SuiteAggregates(Part):
    """Numbers of the whole suite."""

    cases_total: int = Field(description="Cases of which at least one run was recorded.")
    cases_passed: int = Field(description="Of these, those that met the thresholds.")
    overall_score: Share | None = Field(description="Mean of the cases' scores.")
    overall_pass_rate: Share | None = Field(description="Mean of their pass rates.")
    mean_delta: float | None = Field(
        default=None,
        json_schema_extra=MAY_BE_NULL,
        ge=-1,
        le=1,
        description="Mean of their differences.",
    )
    runs_total: int | None = Field(default=None, description="Runs of all cases.")
    runs_measured: int | None = Field(default=None, description="Of these, those that count.")


class CompositePart(Part):
    """An object of a quality score, whose fields are written with underscores."""

    model_config = ConfigDict(alias_generator=None)


class DimensionEntry(CompositePart):
    """One of the ten dimensions."""

    name: str = Field(description="Its name.")
    weight: float = Field(description="Its weight in the composite.")
    score: Share = Field(description="0 to 1; 0 where nothing measured it.")
    ci_lower: float | None = Field(description="Lower end of its interval; null: none.")
    ci_upper: float | None = Field(description="Upper end of its interval; null: none.")
    grade: str = Field(description="A letter, or a dash where nothing measured it.")
    evidence: list[str] = Field(description="What it rests on.")
    weighted_score: float = Field(description="Weight times score.")


class QualityScore(CompositePart):
    """A quality score."""

    path: str = Field(description="Where the plugin or skill lies.")
    depth: str = Field(description="As it was asked for: quick, standard, deep or thorough.")
    score: float = Field(ge=0, le=100, description="The composite, 0 to 100.")
    ci_lower: float | None = Field(description="Lower end of its interval; null: none.")
    ci_upper: float | None = Field(description="Upper end of its interval; null: none.")
    anti_pattern_penalty: float = Field(description="Factor for anti-patterns, 0.5 to 1.")
    dimensions: list[DimensionEntry] = Field(description="The ten dimensions.")
    badge: str = Field(description="platinum, gold, silver, bronze or no_badge.")
    confidence_label: str = Field(description="Of the deepest layer that measured something.")
    flags: list[str] | None = Field(default=None, description="Anti-patterns that were found.")


class SkillScore(QualityScore):
    """The quality score of a skill of the plugin."""

    skill: str = Field(description="Name of the skill.")


class PluginScore(QualityScore):
    """The quality score of a plugin under test."""

    plugin: str = Field(description="Name of the plugin.")
    skills: list[SkillScore] = Field(description="Each of its skills, scored for itself.")
    notes: list[str] | None = Field(default=None, description="What could not be read or measured.")


class ResultDocument(Part):
    """Results of one suite: of this program, or of claude plugin eval."""

    schema_version: Literal[1] = Field(description="Version of the format.")
    claude_version: str = Field(description="Version of Claude Code.")
    harness: Harness | None = Field(default=None, description="The program that made it.")
    started_at: str = Field(description="When the session began, as ISO 8601.")
    duration_seconds: float | None = Field(description="How long it took.")
    cost_usd: Usd | None = Field(description="What all runs cost, judge included; null: unknown.")
    partial: bool = Field(description="Whether something is missing.")
    partial_reason: Literal["interrupted", "auth_failed", "cost_ceiling", "not_measured"] | None = (
        Field(default=None, description="Why, where something is missing.")
    )
    suite: Suite = Field(description="What was evaluated.")
    load_errors: list[str] | None = Field(default=None, description="Cases that did not load.")
    cases: list[Case] = Field(description="Cases of which at least one run was recorded.")
    aggregates: SuiteAggregates = Field(description="What all cases come to.")
    costs: Costs | None = Field(default=None, description="Sums of costs.")
    composite: PluginScore | None = Field(
        default=None,
        json_schema_extra=MAY_BE_NULL,
        description="Quality score of the plugin under test; null: it could not be scored.",
    )
    composites: list[PluginScore] | None = Field(
        default=None, description="Quality scores, where there are several plugins."
    )
