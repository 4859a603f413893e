"""What a skill's text should say of its input, its output and its neighbours. Spec: 3.2 and 3.6."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_plugin_eval.quality.remedies.mending import Mending, ScoredSkill, lacks
from pytest_plugin_eval.quality.remedies.places import line_of, lines_of
from pytest_plugin_eval.quality.static import coherence, wiring
from pytest_plugin_eval.text import plural, shown

__all__ = ["wording_mendings"]

WIRING = "orchestration_wiring"
COHERENCE = "ecosystem_coherence"


def wording_mendings(skill: ScoredSkill) -> Iterator[Mending]:
    """Yield what would raise ``ecosystem_coherence``, and the wiring but for fences."""
    yield from _output(skill)
    if lacks(skill.part(WIRING, "input"), wiring.INPUT):
        yield Mending(
            rule=WIRING,
            line=None,
            text="no word says what goes in: none of input, receives, accepts, parameters, args"
            " ('inputs' does not count)",
            remedy="say what the skill is given: 'Input: …' or 'Accepts …'",
            parts={WIRING: {"input": wiring.INPUT}},
        )
    yield from _orchestration(skill)
    yield from _cross_references(skill)
    if lacks(skill.part(COHERENCE, "relation"), coherence.RELATION):
        yield Mending(
            rule=COHERENCE,
            line=None,
            text="no word relates the skill to others: none of related, see also, companion,"
            " complement",
            remedy="name what goes with it: 'See also …' or 'A companion to …'",
            parts={COHERENCE: {"relation": coherence.RELATION}},
        )


def _output(skill: ScoredSkill) -> Iterator[Mending]:
    """Yield one for the format or the words of the output: a line on the format has the word."""
    lacks_words = lacks(skill.part(WIRING, "output"), wiring.OUTPUT)
    words = {"output": wiring.OUTPUT} if lacks_words else {}
    if lacks(skill.part(WIRING, "output_format"), wiring.OUTPUT_FORMAT):
        also = ", nor does a word such as returns or produces" if lacks_words else ""
        yield Mending(
            rule=WIRING,
            line=None,
            text="no line says in which format the output comes ('output' and 'format' on one"
            f" line, or 'return' and later 'json'){also}",
            remedy="say on one line what comes out: 'Output format: …'",
            parts={WIRING: {"output_format": wiring.OUTPUT_FORMAT, **words}},
        )
    elif words:
        yield Mending(
            rule=WIRING,
            line=None,
            text="no word says what comes out: none of returns, produces, outputs, generates",
            remedy="say what the skill gives back: 'Returns …'",
            parts={WIRING: words},
        )


def _orchestration(skill: ScoredSkill) -> Iterator[Mending]:
    if skill.part(WIRING, "orchestration") >= 0:
        return
    words = [found[0] for found in wiring.ORCHESTRATION_WORDS.finditer(skill.lowered)]
    first, *_ = words
    yield Mending(
        rule=WIRING,
        line=line_of(skill.lowered, wiring.ORCHESTRATION_WORDS),
        text=f"the text speaks of giving work to others: {shown(first + '…')}"
        f" ({plural(len(words), 'such word')},"
        f" {lines_of(skill.lowered, wiring.ORCHESTRATION_WORDS)}), expected none of orchestrat…,"
        " coordinat…, dispatch…",
        remedy="describe the one job that the skill does itself, and leave these words out",
        parts={WIRING: {"orchestration": 0.0}},
    )


def _cross_references(skill: ScoredSkill) -> Iterator[Mending]:
    if not lacks(skill.part(COHERENCE, "cross_references"), coherence.MOST_CROSS_REFERENCES):
        return
    found = len(skill.source.counts.cross_references)
    wanted = math.ceil(coherence.MOST_CROSS_REFERENCES / coherence.CROSS_REFERENCE)
    yield Mending(
        rule=COHERENCE,
        line=None,
        text=f"the text has {plural(found, 'cross reference')}, {wanted} or more earn the most"
        " (repeats count)",
        remedy="name skills that go with it by their path, 'skills/<name>'; one that is not there"
        " is an anti-pattern",
        parts={COHERENCE: {"cross_references": coherence.MOST_CROSS_REFERENCES}},
    )
