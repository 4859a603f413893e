"""The hints of a planned case, from what the session and the case's plugins are."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_plugin_eval.cases.advisories import Advisory, offer
from pytest_plugin_eval.cases.case import PAID_TYPES, Case
from pytest_plugin_eval.cases.hints import Circumstances, Hint, hints
from pytest_plugin_eval.cases.manifest import declared_servers
from pytest_plugin_eval.cases.plugin_skills import declared_skills
from pytest_plugin_eval.graders.grade import with_only_of
from pytest_plugin_eval.graders.javascript import Question, ask
from pytest_plugin_eval.scoring.model import Plan
from pytest_plugin_eval.settings import Settings

__all__ = ["case_hints"]

# A pattern that takes longer on a prompt is none that an author looks for there.
PATTERN_TIMEOUT_S = 0.5


def case_hints(
    case: Case, plan: Plan, settings: Settings, *, told: Sequence[Advisory], live: bool
) -> tuple[Hint, ...]:
    """Return the hints of *case*; *told* are its advisories, *live* is false in a replay."""
    grants, disallowed = settings.allow_tools, settings.disallow_tools
    left_out = {spec.name for spec in case.graders if settings.free_only and _is_paid(spec.type)}
    servers = [(p.name, name) for p in case.plugins for name in declared_servers(str(p.path))]
    circumstances = Circumstances(
        offer=offer(case, grants=grants, disallowed=disallowed) if live else None,
        matches=_matches,
        runs=plan.with_runs,
        threshold=settings.threshold,
        two_arms=plan.two_arms,
        unscored=with_only_of(case, plan.two_arms) | left_out,
        advised=frozenset(name for name, _ in told if name is not None),
        skills=declared_skills(case.plugins),
        servers=tuple(servers),
    )
    return hints(case, circumstances)


def _is_paid(kind: str) -> bool:
    return kind in PAID_TYPES


def _matches(pattern: str, flags: str, text: str) -> bool:
    question = Question(pattern, flags, text)
    return ask([question], PATTERN_TIMEOUT_S)[question] == 1
