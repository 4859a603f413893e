"""What is counted in the text of a skill. Spec: quality-score, 2.3 and 2.4."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["CROSS_REFERENCE", "DIRECTIVE", "FENCE", "Counts", "counts_of"]

FENCE = re.compile(r"```(\w*)")
"""An opening or closing fence, with its language if that follows at once."""
# `\bMUST\b` would be tried at every character; a pattern that begins with letters skips to these.
DIRECTIVE = re.compile(r"(?:MUST(?<!\wMUST)|NEVER(?<!\wNEVER)|ALWAYS(?<!\wALWAYS))\b")
CROSS_REFERENCE = re.compile(r"(s(?<![\w-]s)(?:kills?|ub-skills)/[a-z0-9-]+(?:/[a-z0-9-]+)*)")
"""A path to another skill; see `cross_reference_path` for what it names."""

EXAMPLE_SIGNS = ("## example", "### example", "## usage")
TROUBLESHOOTING_SIGNS = ("## troubleshoot", "## common issue", "## faq")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The numbers of a text. Spec: quality-score, 2.3."""

    line_count: int
    h2_count: int
    h3_count: int
    fence_count: int
    """Opening and closing fences both."""
    languages: tuple[str, ...]
    """Of the fences, in order and with repeats."""
    has_examples: bool
    has_troubleshooting: bool
    directive_count: int
    """``MUST``, ``NEVER``, ``ALWAYS``."""
    cross_references: tuple[str, ...]
    """In order and with repeats, without a leading ``skill/`` or ``skills/``."""


def counts_of(content: str, body: str) -> Counts:
    """Return the counts of a text and the part of it after the frontmatter."""
    stripped = body.strip()
    lowered = body.lower()
    fences = FENCE.findall(content)
    return Counts(
        line_count=content.count("\n") + 1,
        h2_count=_headings(stripped, "## "),
        h3_count=_headings(stripped, "### "),
        fence_count=len(fences),
        languages=tuple(filter(None, fences)),
        has_examples=any(sign in lowered for sign in EXAMPLE_SIGNS),
        has_troubleshooting=any(sign in lowered for sign in TROUBLESHOOTING_SIGNS),
        directive_count=len(DIRECTIVE.findall(content)),
        cross_references=tuple(map(cross_reference_path, CROSS_REFERENCE.findall(body))),
    )


def _headings(text: str, mark: str) -> int:
    return text.count(f"\n{mark}") + text.startswith(mark)


def cross_reference_path(match: str) -> str:
    """Return the path that a match of `CROSS_REFERENCE` stands for."""
    return match if match.startswith("sub-") else match.partition("/")[2]
