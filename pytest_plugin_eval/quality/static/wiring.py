"""Whether a skill is wired as a worker: what goes in, what comes out. Spec: 3.2."""

from __future__ import annotations

import re

from pytest_plugin_eval.quality.static.parts import SubScore, summed

__all__ = [
    "BASE",
    "FENCES",
    "FENCES_WANTED",
    "INPUT",
    "INPUT_WORDS",
    "ORCHESTRATION",
    "ORCHESTRATION_WORDS",
    "OUTPUT",
    "OUTPUT_FORMAT",
    "OUTPUT_WORDS",
    "orchestration_wiring",
]

BASE = 0.70
OUTPUT_FORMAT = 0.10
"""``output`` and ``format`` on one line, or ``return`` and later ``json``."""
OUTPUT = 0.05
INPUT = 0.10
FENCES = 0.05
FENCES_WANTED = 2
ORCHESTRATION = -0.15
"""For words of one who gives the work to others."""

# `\b` stands behind each word: in front it would be tried at every character.
OUTPUT_WORDS = re.compile(
    r"(?:return(?<!\wreturn)|produce(?<!\wproduce)|output(?<!\woutput)|generate(?<!\wgenerate))s?\b"
)
INPUT_WORDS = re.compile(
    r"(?:input(?<!\winput)|receive(?<!\wreceive)s?|accept(?<!\waccept)s?"
    r"|parameter(?<!\wparameter)s?|arg(?<!\warg)s?)\b"
)
ORCHESTRATION_WORDS = re.compile(
    r"orchestrat(?<!\worchestrat)|coordinat(?<!\wcoordinat)|dispatch(?<!\wdispatch)"
)

# The empty groups tell which word was found.
_FORMAT_WORDS = re.compile(
    r"output(?<!\woutput)\b()|format(?<!\wformat)\b()|return(?<!\wreturn)()|json\b()"
)


def orchestration_wiring(lowered: str, fence_count: int) -> SubScore:
    """Return the sub-score of a lowercased text with so many fences."""
    return summed(
        "orchestration_wiring",
        {
            "base": BASE,
            "output_format": OUTPUT_FORMAT if names_output_format(lowered) else 0.0,
            "output": OUTPUT if OUTPUT_WORDS.search(lowered) else 0.0,
            "input": INPUT if INPUT_WORDS.search(lowered) else 0.0,
            "fences": FENCES if fence_count >= FENCES_WANTED else 0.0,
            "orchestration": ORCHESTRATION if ORCHESTRATION_WORDS.search(lowered) else 0.0,
        },
    )


def names_output_format(lowered: str) -> bool:
    """Return whether some line says what format comes out.

    The words are looked at once, in order, and forgotten at the end of their line: a pattern with
    ``.*`` between them would take the square of the line's length.
    """
    has_output_format = "output" in lowered and "format" in lowered
    if not has_output_format and not ("return" in lowered and "json" in lowered):
        return False
    seen: set[int] = set()
    end = 0
    for found in _FORMAT_WORDS.finditer(lowered):
        if seen and lowered.find("\n", end, found.start()) >= 0:
            seen.clear()
        end = found.end()
        word = found.lastindex or 0
        # 1 output, 2 format, 3 return, 4 json
        if (word == 4 and 3 in seen) or (word in {1, 2} and 3 - word in seen):  # noqa: PLR2004
            return True
        seen.add(word)
    return False
