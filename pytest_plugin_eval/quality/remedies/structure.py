"""What a skill's text lacks of length, pieces and files beside it. Spec: 3.3 and 3.4."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pytest_plugin_eval.quality.remedies.mending import Mending, ScoredSkill, lacks
from pytest_plugin_eval.quality.static import disclosure, structure, wiring
from pytest_plugin_eval.quality.static.anti_patterns import MOST_LINES, reference_links
from pytest_plugin_eval.quality.static.parts import reached
from pytest_plugin_eval.quality.static.tokens import token_efficiency
from pytest_plugin_eval.text import plural

__all__ = ["disclosure_mendings", "structure_mendings"]

DISCLOSURE = "progressive_disclosure"
STRUCTURE = "structural_completeness"
WIRING = "orchestration_wiring"
BLOATED, OVER_CAP = "BLOATED_SKILL", "SKILL_OVER_CODEX_CAP"
_BEST = max(disclosure.LENGTH_STEPS, key=lambda step: step.points)
_LONGER = disclosure.LENGTH_STEPS[disclosure.LENGTH_STEPS.index(_BEST) - 1]
BEST_LENGTH = _BEST.points
BEST_LINES = (int(_BEST.at_least), int(_LONGER.at_least) - 1)
"""The fewest and the most lines that earn most: 200 and 600."""
BEST_LINES_WITH_REFERENCES = (int(disclosure.REFERENCE_STEPS[0].at_least), BEST_LINES[1])
"""Files in ``references`` earn more from 401 lines on."""
TOLD_FILES = 3

Parts = Mapping[str, Mapping[str, float]]


def disclosure_mendings(skill: ScoredSkill) -> Iterator[Mending]:
    """Yield what would raise ``progressive_disclosure``, and the anti-pattern of length."""
    source = skill.source
    if source.line_count > BEST_LINES[1] and not source.reference_files:
        yield _split(skill)
    else:
        yield from _length(skill)
        yield from _references(skill)
    if lacks(skill.part(DISCLOSURE, "assets"), disclosure.ASSETS):
        yield Mending(
            rule=DISCLOSURE,
            line=None,
            text="there is no file directly in assets/",
            remedy="put what the skill copies or fills in, such as a template, into a file in"
            " assets/",
            parts={DISCLOSURE: {"assets": disclosure.ASSETS}},
        )


def _split(skill: ScoredSkill) -> Mending:
    """Return the one for a text that is too long and has no files to leave detail to."""
    lines = skill.source.line_count
    least, most = BEST_LINES_WITH_REFERENCES
    flagged = skill.has_flag(BLOATED)
    parts = {
        DISCLOSURE: {
            "length": BEST_LENGTH,
            "references": reached(most, disclosure.REFERENCE_STEPS),
        },
        "harness_portability": {OVER_CAP: 0.0},
        "token_efficiency": {"density": _density(skill, most)},
    }
    return Mending(
        rule=BLOATED if flagged else DISCLOSURE,
        line=None,
        text=f"SKILL.md has {lines} lines and no file in references/, {least} to {most} with one"
        " earn the most" + (f", over {MOST_LINES} are an anti-pattern" if flagged else ""),
        remedy=f"move detail into files in references/ and link them{_linked(skill)}, until"
        f" {most} lines or fewer are left",
        parts=parts,
        entries=1 if flagged else 0,
    )


def _length(skill: ScoredSkill) -> Iterator[Mending]:
    source = skill.source
    lines = source.line_count
    with_files = bool(source.reference_files)
    least, most = BEST_LINES_WITH_REFERENCES if with_files else BEST_LINES
    if least <= lines <= most:
        return
    target = least if lines < least else most
    gained = {"length": BEST_LENGTH}
    if with_files:
        gained["references"] = reached(target, disclosure.REFERENCE_STEPS)
    beside = " with files in references/" if with_files else ""
    yield Mending(
        rule=DISCLOSURE,
        line=None,
        text=f"SKILL.md has {plural(lines, 'line')}, {least} to {most}{beside} earn the most",
        remedy=(
            f"write more where there is more to say (steps, limits, examples), {least} lines or"
            " more; lines that only fill win points and help no one"
            if lines < least
            else f"move detail into files in references/, until {most} lines or fewer are left"
        ),
        parts={
            DISCLOSURE: gained,
            "token_efficiency": {"density": _density(skill, target)},
        },
    )


def _references(skill: ScoredSkill) -> Iterator[Mending]:
    source = skill.source
    if source.reference_files:
        return
    parts = {
        DISCLOSURE: {"references": reached(source.line_count, disclosure.REFERENCE_STEPS)},
        "harness_portability": {OVER_CAP: 0.0},
    }
    yield Mending(
        rule=DISCLOSURE,
        line=None,
        text="there is no file directly in references/",
        remedy="move what is not needed every time into a file in references/, and link"
        f" it{_linked(skill)}",
        parts=parts,
    )


def _linked(skill: ScoredSkill) -> str:
    """Return which files a first ``references`` should hold: other links would be orphans then."""
    source = skill.source
    links = [] if source.has_references else sorted(set(reference_links(source.content)))
    if not links:
        return ""
    told = ", ".join(repr(link)[:40] for link in links[:TOLD_FILES])
    more = f" and {len(links) - TOLD_FILES} more" if len(links) > TOLD_FILES else ""
    return f" (the text links there already to {told}{more}: they have to be among them)"


def _density(skill: ScoredSkill, lines: int) -> float:
    """Return what the density of directives would take with so many lines."""
    counts = replace(skill.source.counts, line_count=lines)
    return token_efficiency("", counts).parts["density"]


def structure_mendings(skill: ScoredSkill) -> Iterator[Mending]:
    """Yield what would raise ``structural_completeness``, and the fences of the wiring."""
    counts = skill.source.counts
    headings = counts.h2_count + counts.h3_count
    most = structure.HEADING_STEPS[0]
    if lacks(skill.part(STRUCTURE, "headings"), most.points):
        yield _mending(
            f"the text has {plural(headings, 'heading')} of level 2 or 3,"
            f" {most.at_least:.0f} or more earn the most",
            "divide it by headings that begin with '## ' or '### '",
            {STRUCTURE: {"headings": most.points}},
        )
    yield from _fences(skill)
    yield from _languages(skill)
    yield from _announced(skill, headings)
    if lacks(skill.part(STRUCTURE, "table"), structure.TABLE):
        yield _mending(
            "there is no table: no line holds three pipe characters",
            "set out in a table what has the same facts for several things, '| a | b |'",
            {STRUCTURE: {"table": structure.TABLE}},
        )
    if lacks(skill.part(STRUCTURE, "depth"), structure.DEPTH):
        yield _mending(
            "the text weighs nothing up: none of decision, when to use, comparison, tradeoff",
            "say when to use the skill and when not, 'When to use it: …'",
            {STRUCTURE: {"depth": structure.DEPTH}},
        )


def _announced(skill: ScoredSkill, headings: int) -> Iterator[Mending]:
    """Yield those that a heading of its own mends, which is one heading more, too."""
    one_more = reached(headings + 1, structure.HEADING_STEPS)
    if lacks(skill.part(STRUCTURE, "examples"), structure.EXAMPLES):
        yield _mending(
            "no heading announces an example ('## Example', '### Example', '## Usage')",
            "add a heading '## Example' and an example below it",
            {STRUCTURE: {"examples": structure.EXAMPLES, "headings": one_more}},
        )
    if lacks(skill.part(STRUCTURE, "troubleshooting"), structure.TROUBLESHOOTING):
        yield _mending(
            "no heading announces help in trouble ('## Troubleshooting', '## Common issues',"
            " '## FAQ')",
            "add a heading '## Troubleshooting' and what can go wrong below it",
            {STRUCTURE: {"troubleshooting": structure.TROUBLESHOOTING, "headings": one_more}},
        )


def _fences(skill: ScoredSkill) -> Iterator[Mending]:
    most = structure.FENCE_STEPS[0]
    if not lacks(skill.part(STRUCTURE, "fences"), most.points):
        return
    found = skill.source.counts.fence_count
    blocks = math.ceil((most.at_least - found) / 2)
    yield _mending(
        f"the text has {plural(found, 'code fence')}, {most.at_least:.0f} or more earn the most"
        " (opening and closing ones both count)",
        f"show {plural(blocks, 'more code block')} between lines of three backticks",
        _with_fences(found + 2 * blocks),
    )


def _languages(skill: ScoredSkill) -> Iterator[Mending]:
    """Yield one where languages lack; blocks to name them at may have to be added for it."""
    most = structure.LANGUAGE_STEPS[0]
    if not lacks(skill.part(STRUCTURE, "languages"), most.points):
        return
    counts = skill.source.counts
    found = len(set(counts.languages))
    wanted = int(most.at_least) - found
    unnamed = max(0, counts.fence_count // 2 - len(counts.languages))
    blocks = max(0, wanted - unnamed)
    added = _with_fences(counts.fence_count + 2 * blocks) if blocks else {}
    also = f", and add {plural(blocks, 'block')}" if blocks else ""
    yield _mending(
        f"code fences name {plural(found, 'language')}, {most.at_least:.0f} or more earn the most",
        f"name the language right behind the opening backticks, '```bash'{also}",
        {**added, STRUCTURE: {**added.get(STRUCTURE, {}), "languages": most.points}},
    )


def _with_fences(count: int) -> Parts:
    parts = {STRUCTURE: {"fences": reached(count, structure.FENCE_STEPS)}}
    if count >= wiring.FENCES_WANTED:
        parts[WIRING] = {"fences": wiring.FENCES}
    return parts


def _mending(text: str, remedy: str, parts: Parts) -> Mending:
    return Mending(rule=STRUCTURE, line=None, text=text, remedy=remedy, parts=parts)
