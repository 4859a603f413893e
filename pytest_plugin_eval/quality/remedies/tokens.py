"""What makes a skill's text shout or repeat itself. Spec: 3.5, and 5 for too many directives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_plugin_eval.quality.counts import DIRECTIVE, Counts
from pytest_plugin_eval.quality.remedies.mending import Mending, ScoredSkill
from pytest_plugin_eval.quality.remedies.places import line_of, numbered_lines
from pytest_plugin_eval.quality.static.anti_patterns import MOST_DIRECTIVES
from pytest_plugin_eval.quality.static.tokens import (
    DENSITY_STEPS,
    REPETITION,
    directive_density,
)
from pytest_plugin_eval.text import plural, shown

__all__ = ["token_mendings"]

RULE = "token_efficiency"
CONSTRAINED = "OVER_CONSTRAINED"
BEST_DENSITY = min(over for over, _ in DENSITY_STEPS)
FENCE_CHARACTER = "`"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Repeats:
    """The lines that stood further up already."""

    compared: int
    """Of all the lines that are looked at."""
    lines: dict[str, int]
    """How often each stands again, beyond the first time."""
    places: dict[str, int]
    """Where each stands for the second time."""


def token_mendings(skill: ScoredSkill) -> Iterator[Mending]:
    """Yield what would raise ``token_efficiency``, and the anti-pattern of directives."""
    yield from _directives(skill)
    if skill.part(RULE, "repetition") < 0:
        yield from _repetition(_repeats(skill.source.content))


def _directives(skill: ScoredSkill) -> Iterator[Mending]:
    flagged = skill.has_flag(CONSTRAINED)
    if skill.part(RULE, "density") >= 0 and not flagged:
        return
    counts = skill.source.counts
    most = min(MOST_DIRECTIVES, _most_for(counts.line_count))
    many = f", over {MOST_DIRECTIVES} are an anti-pattern" if flagged else ""
    yield Mending(
        rule=CONSTRAINED if flagged else RULE,
        line=line_of(skill.source.content, DIRECTIVE),
        text=f"MUST, NEVER and ALWAYS stand {plural(counts.directive_count, 'time')} in"
        f" {plural(counts.line_count, 'line')}, {_per_line(counts)} a line, expected at most"
        f" {BEST_DENSITY:g} a line{many}",
        remedy=f"give reasons instead of orders: keep {most or 'none'} of them in capitals",
        parts={RULE: {"density": 0.0}},
        entries=1 if flagged else 0,
    )


def _most_for(lines: int) -> int:
    """Return the most directives that cost nothing in so many lines."""
    most = int(lines * BEST_DENSITY) + 1
    while most / lines > BEST_DENSITY:
        most -= 1
    return most


def _per_line(counts: Counts) -> str:
    return f"{directive_density(counts):.3g}"


def _repeats(content: str) -> _Repeats:
    seen: set[str] = set()
    lines: dict[str, int] = {}
    places: dict[str, int] = {}
    compared = 0
    for number, line in numbered_lines(content):
        stripped = line.strip()
        if not stripped or line.startswith("---"):
            continue
        compared += 1
        if stripped in seen:
            lines[stripped] = lines.get(stripped, 0) + 1
            places.setdefault(stripped, number)
        seen.add(stripped)
    return _Repeats(compared=compared, lines=lines, places=places)


def _repetition(repeats: _Repeats) -> Iterator[Mending]:
    """Yield one for lines that could be said once, and one for fences that cannot."""
    fences = {line: n for line, n in repeats.lines.items() if not line.strip(FENCE_CHARACTER)}
    others = {line: n for line, n in repeats.lines.items() if line not in fences}
    if others:
        line = max(others, key=lambda each: others[each])
        again = sum(others.values())
        yield Mending(
            rule=RULE,
            line=repeats.places[line],
            text=f"{again} of {plural(repeats.compared, 'line')} that hold text stood further up"
            f" already, most often {shown(line)} ({others[line] + 1} times)",
            remedy="say it once, or move what recurs into a file in references/",
            parts={RULE: {"repetition": _without(repeats, again)}},
        )
    if fences:
        again = sum(fences.values())
        yield Mending(
            rule=RULE,
            line=min(repeats.places[line] for line in fences),
            text=f"{again} of {plural(repeats.compared, 'line')} that hold text are fences without"
            " a language that stood further up already; closing ones count too, an odd rule",
            remedy="leave the closing ones: fewer code blocks cost more than this; name the"
            " language of opening ones",
            parts={RULE: {"repetition": _without(repeats, again)}},
        )


def _without(repeats: _Repeats, lines: int) -> float:
    """Return what repetition would take without so many of the repeated lines."""
    left = repeats.compared - lines
    distinct = repeats.compared - sum(repeats.lines.values())
    return REPETITION * (1.0 - distinct / left)
