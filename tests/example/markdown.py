"""Fenced blocks of a Markdown document, to be run, compared and renewed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<text>.*?)^(?P=fence)$", re.M | re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: where its text lies in the document, and the paragraph above it."""

    language: str
    text: str
    start: int
    above: str


def blocks(document: str, language: str = "") -> Iterator[Block]:
    """Yield the fenced blocks in a language, or all."""
    for found in _FENCE.finditer(document):
        if not language or found["language"] == language:
            above = document[: found.start()].rstrip().rpartition("\n\n")[2]
            yield Block(
                language=found["language"],
                text=found["text"],
                start=found.start("text"),
                above=above,
            )


def commands(document: str) -> list[str]:
    """Return the lines of all bash blocks, comments left out."""
    lines = (line for block in blocks(document, "bash") for line in block.text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def replaced(document: str, block: Block, text: str) -> str:
    """Return the document with another text in a block."""
    return document[: block.start] + text + document[block.start + len(block.text) :]
