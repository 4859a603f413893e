"""A skill that lacks nothing, and skills that lack one thing each, with their mended twins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.suites import write_tree

__all__ = ["FLAWLESS", "FLAWS", "Flaw", "write_skill"]

DIRECTORY = "limits"
SIBLINGS = ("pools",)
"""Directories beside the skill, to which its cross references lead."""

DESCRIPTION = (
    "Sets service limits. Use this skill when tuning a queue, when sizing a pool, when testing a"
    " quota, or for debugging a stall. Works proactively; always use it for a quick review."
)
_HEAD = f"""---
name: service-limits
description: "{DESCRIPTION}"
---

# Limits

Returns one object. The output format is plain. Parameters: none.
A companion to skills/pools, skills/pools, skills/pools and skills/pools.
The [table](references/table.md) has all of them.

## When to use it

As told above.

## Example

```python
print(1)
```

```json
{{}}
````

```bash
true
`````

## Troubleshooting

Read the log.

## Rows

| a | b | c |

## Codes

None yet.

## End

"""
_LINES = "".join(
    f"Limit {i}: keep value {7 * i % 101} below {13 * i % 997}.\n" for i in range(1, 421)
)
TEXT = _HEAD + _LINES
FLAWLESS: Mapping[str, str] = {
    "SKILL.md": TEXT,
    "references/table.md": "",
    "assets/t.txt": "",
}
"""Nothing is left to win in it: no finding. 464 lines."""

Edits = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """A skill with a finding, and the skill that its remedy makes of it."""

    rule: str
    told: str
    """Part of the finding's text, which picks it out."""
    line: int | None
    flawed: Mapping[str, str]
    mended: Mapping[str, str] = field(default_factory=lambda: FLAWLESS)
    alone: bool = True
    """Whether the flawed skill has no other finding."""


def edited(text: str, *edits: tuple[str, str]) -> str:
    """Return a text with parts replaced, each of which it has."""
    for old, new in edits:
        assert old in text, f"{old!r} is not in the text"
        text = text.replace(old, new)
    return text


def skill(*edits: tuple[str, str], without: Sequence[str] = (), **files: str) -> dict[str, str]:
    """Return the files of the flawless skill with its text edited and some files left out."""
    kept = {name: text for name, text in FLAWLESS.items() if name not in without}
    return {**kept, "SKILL.md": edited(TEXT, *edits), **files}


def described(description: str, *, name: str = "service-limits", more: str = "") -> dict[str, str]:
    """Return the files of the flawless skill with another description."""
    return skill(
        (
            f'name: service-limits\ndescription: "{DESCRIPTION}"\n',
            f"name: {name}\n{description}{more}",
        )
    )


def shortened(lines: int, *edits: tuple[str, str]) -> str:
    """Return the first lines of the flawless text, edited; `line_count` is *lines*."""
    return "".join(edited(TEXT, *edits).splitlines(keepends=True)[: lines - 1])


def lengthened(lines: int) -> str:
    """Return the flawless text with more lines, all different."""
    more = range(lines - TEXT.count("\n") - 1)
    return TEXT + "".join(f"Further value {i} is free.\n" for i in more)


def write_skill(parent: Path, files: Mapping[str, str]) -> Path:
    """Write a skill and its siblings below *parent*, and return its directory."""
    for sibling in SIBLINGS:
        (parent / sibling).mkdir(parents=True, exist_ok=True)
    return write_tree(parent / DIRECTORY, files)


def _ordered(count: int, text: str = TEXT) -> str:
    """Return a text with a directive on each of the last *count* lines."""
    lines = text.splitlines(keepends=True)
    ordered = [line.replace("Limit", "You MUST know limit") for line in lines[-count:]]
    return "".join(lines[:-count] + ordered)


FRONTMATTER = "frontmatter_quality"
WIRING = "orchestration_wiring"
DISCLOSURE = "progressive_disclosure"
STRUCTURE = "structural_completeness"
TOKENS = "token_efficiency"
COHERENCE = "ecosystem_coherence"
NO_TRIGGER = ("Use this skill when", "It serves when")
BLOCK = "```bash\ntrue\n`````\n"
FILLER = "Limit 7: keep value 49 below 91.\n"
ONE_MORE_LINE = "Limit 8: keep value 56 below 104.\n"
PADDED = "Use when testing." + " The rest is as it is said." * 4
QUICK = "Use this skill when testing a, for b, for c, for d; works proactively, always use it."

FLAWS: Mapping[str, Flaw] = {
    "name equal to the directory": Flaw(
        rule=FRONTMATTER,
        told="name 'limits' is that of the directory",
        line=2,
        flawed=skill(("name: service-limits", "name: limits")),
    ),
    "name empty": Flaw(
        rule=FRONTMATTER,
        told="name is empty, None",
        line=2,
        flawed=skill(("name: service-limits", "name:")),
        mended=skill(("name: service-limits", "name: limits")),
    ),
    "name missing": Flaw(
        rule=FRONTMATTER,
        told="name 'limits' is that of the directory",
        line=None,
        flawed=skill(("name: service-limits", "title: x")),
        mended=skill(("name: service-limits", "title: x\nname: y")),
    ),
    "description of 85 characters": Flaw(
        rule=FRONTMATTER,
        told="the description has 85 characters, 100 or more",
        line=3,
        flawed=described(f"description: {QUICK}\n"),
        mended=described(f"description: {QUICK} The rest.........\n"),
    ),
    "description under 20 characters": Flaw(
        rule="EMPTY_DESCRIPTION",
        told="the description has 17 characters",
        line=3,
        flawed=described("description: Use when testing.\n"),
        mended=described(f"description: {PADDED}\n"),
        alone=False,
    ),
    "description missing": Flaw(
        rule="EMPTY_DESCRIPTION",
        told="there is no description",
        line=None,
        flawed=described("paths: x\n"),
        mended=described("paths: x\ndescription: " + "It says what it is, and why. " * 5 + "\n"),
        alone=False,
    ),
    "description a list": Flaw(
        rule="EMPTY_DESCRIPTION",
        told="the description is no text",
        line=4,
        flawed=described("paths: x\ndescription: [a]\n"),
        mended=described("paths: x\ndescription: " + "It says what it is, and why. " * 5 + "\n"),
        alone=False,
    ),
    "description after other keys": Flaw(
        rule=FRONTMATTER,
        told="no word 'proactively'",
        line=5,
        flawed=described(
            f'a: 1\nb: "description: x"\ndescription: "{DESCRIPTION}"\n'.replace("proactively", "")
        ),
        mended=described(f'a: 1\nb: "description: x"\ndescription: "{DESCRIPTION}"\n'),
    ),
    "no trigger": Flaw(
        rule="MISSING_TRIGGER",
        told="does not say when to use the skill",
        line=3,
        flawed=skill(NO_TRIGGER),
    ),
    "no trigger where none is needed": Flaw(
        rule=FRONTMATTER,
        told="does not say when to use the skill",
        line=4,
        flawed=skill(
            NO_TRIGGER, ("name: service", "disable-model-invocation: true\nname: service")
        ),
        mended=skill(("name: service", "disable-model-invocation: true\nname: service")),
    ),
    "no proactive": Flaw(
        rule=FRONTMATTER,
        told="no word 'proactively'",
        line=3,
        flawed=skill(("Works proactively", "Works alone")),
    ),
    "no keyword": Flaw(
        rule=FRONTMATTER,
        told="none of 'automatically'",
        line=3,
        flawed=skill(("always use", "take")),
    ),
    "one context": Flaw(
        rule=FRONTMATTER,
        told="lists 1 occasion after a comma, 3 or more",
        line=3,
        flawed=skill((", when testing", "; when testing"), (", or for", "; or for")),
    ),
    "no context": Flaw(
        rule=FRONTMATTER,
        told="lists 0 occasions",
        line=3,
        flawed=skill((", when", "; when"), (", or for", "; or for")),
    ),
    "no gerund": Flaw(
        rule=FRONTMATTER,
        told="no word in -ing follows",
        line=3,
        flawed=skill(
            ("when tuning", "when you tune"),
            ("when sizing", "when you size"),
            ("when testing", "when you test"),
            ("for debugging", "for want of"),
        ),
    ),
    "no output format": Flaw(
        rule=WIRING,
        told="no line says in which format",
        line=None,
        flawed=skill(("output format is", "output is")),
    ),
    "no output format and no output": Flaw(
        rule=WIRING,
        told="nor does a word such as returns",
        line=None,
        flawed=skill(("Returns one object. The output format is", "Gives one object. It is")),
    ),
    "no output word": Flaw(
        rule=WIRING,
        told="no word says what comes out",
        line=None,
        flawed=skill(("Returns one object. The output format is", "It is returned as JSON, and")),
        mended=skill(("Returns one object. The output format is", "Returns it as JSON, and")),
    ),
    "no input": Flaw(
        rule=WIRING,
        told="no word says what goes in",
        line=None,
        flawed=skill(("Parameters", "Inputs")),
    ),
    "orchestration": Flaw(
        rule=WIRING,
        told="'coordinat…' (2 such words, lines 8, 51)",
        line=8,
        flawed=skill(
            ("Parameters: none", "Parameters: coordinates"), (ONE_MORE_LINE, "Dispatch it.\n")
        ),
        mended=skill(("Parameters: none", "Parameters: points"), (ONE_MORE_LINE, "Send it.\n")),
    ),
    "too short": Flaw(
        rule=DISCLOSURE,
        told="SKILL.md has 99 lines, 401 to 600 with files",
        line=None,
        flawed=skill() | {"SKILL.md": shortened(99)},
        mended=skill() | {"SKILL.md": shortened(401)},
    ),
    "short of the lines that references want": Flaw(
        rule=DISCLOSURE,
        told="SKILL.md has 400 lines, 401 to 600 with files",
        line=None,
        flawed=skill() | {"SKILL.md": shortened(400)},
    ),
    "too short for its directives": Flaw(
        rule=DISCLOSURE,
        told="SKILL.md has 60 lines",
        line=None,
        flawed=skill() | {"SKILL.md": _ordered(7, shortened(60))},
        mended=skill()
        | {"SKILL.md": _ordered(7, shortened(60)) + shortened(401).partition("Limit 14:")[2]},
        alone=False,
    ),
    "too long": Flaw(
        rule=DISCLOSURE,
        told="SKILL.md has 700 lines, 401 to 600 with files",
        line=None,
        flawed=skill() | {"SKILL.md": lengthened(700)},
    ),
    "far too long, with references": Flaw(
        rule=DISCLOSURE,
        told="SKILL.md has 900 lines, 401 to 600 with files",
        line=None,
        flawed=skill() | {"SKILL.md": lengthened(900)},
    ),
    "long without references": Flaw(
        rule=DISCLOSURE,
        told="SKILL.md has 700 lines and no file in references/",
        line=None,
        flawed=skill(without=["references/table.md"]) | {"SKILL.md": lengthened(700)},
        alone=False,
    ),
    "bloated": Flaw(
        rule="BLOATED_SKILL",
        told="SKILL.md has 900 lines and no file in references/",
        line=None,
        flawed=skill(without=["references/table.md"]) | {"SKILL.md": lengthened(900)},
        alone=False,
    ),
    "short without references": Flaw(
        rule=DISCLOSURE,
        told="SKILL.md has 99 lines, 200 to 600 earn",
        line=None,
        flawed=skill(without=["references/table.md"]) | {"SKILL.md": shortened(99)},
        mended=skill(without=["references/table.md"]) | {"SKILL.md": shortened(200)},
        alone=False,
    ),
    "no references": Flaw(
        rule=DISCLOSURE,
        told="no file directly in references/",
        line=None,
        flawed=skill(without=["references/table.md"]),
        alone=False,
    ),
    "no references and under 401 lines": Flaw(
        rule=DISCLOSURE,
        told="no file directly in references/",
        line=None,
        flawed=skill(without=["references/table.md"]) | {"SKILL.md": shortened(220)},
        mended=skill() | {"SKILL.md": shortened(220)},
    ),
    "no assets": Flaw(
        rule=DISCLOSURE,
        told="no file directly in assets/",
        line=None,
        flawed=skill(without=["assets/t.txt"]),
    ),
    "five headings": Flaw(
        rule=STRUCTURE,
        told="5 headings of level 2 or 3, 6 or more",
        line=None,
        flawed=skill(("## End", "End")),
    ),
    "no example": Flaw(
        rule=STRUCTURE,
        told="no heading announces an example",
        line=None,
        flawed=skill(("## Example", "## Sample")),
    ),
    "no example and five headings": Flaw(
        rule=STRUCTURE,
        told="no heading announces an example",
        line=None,
        flawed=skill(("## Example", "Sample")),
        alone=False,
    ),
    "no troubleshooting": Flaw(
        rule=STRUCTURE,
        told="no heading announces help",
        line=None,
        flawed=skill(("## Troubleshooting", "## Help")),
    ),
    "no troubleshooting and five headings": Flaw(
        rule=STRUCTURE,
        told="no heading announces help",
        line=None,
        flawed=skill(("## Troubleshooting", "Help")),
        alone=False,
    ),
    "four fences": Flaw(
        rule=STRUCTURE,
        told="4 code fences, 5 or more",
        line=None,
        flawed=skill((BLOCK, "")),
        mended=skill((BLOCK, "``` bash\ntrue\n`````\n")),
        alone=False,
    ),
    "no fences": Flaw(
        rule=STRUCTURE,
        told="0 code fences, 5 or more",
        line=None,
        flawed=skill(("```", "~~~")),
        mended=skill(("```", "``` ")),
        alone=False,
    ),
    "two languages and no block for a third": Flaw(
        rule=STRUCTURE,
        told="code fences name 2 languages",
        line=None,
        flawed=skill((BLOCK, "")),
        alone=False,
    ),
    "two languages": Flaw(
        rule=STRUCTURE,
        told="code fences name 2 languages",
        line=None,
        flawed=skill(("```bash", "``` bash")),
    ),
    "no languages and no fences": Flaw(
        rule=STRUCTURE,
        told="code fences name 0 languages",
        line=None,
        flawed=skill(("```", "~~~")),
        alone=False,
    ),
    "no table": Flaw(
        rule=STRUCTURE,
        told="there is no table",
        line=None,
        flawed=skill(("| a | b | c |", "| a | b")),
    ),
    "no depth": Flaw(
        rule=STRUCTURE,
        told="weighs nothing up",
        line=None,
        flawed=skill(("## When to use it", "## Occasions")),
    ),
    "dense directives": Flaw(
        rule=TOKENS,
        told="stand 7 times in 60 lines, 0.117 a line",
        line=53,
        flawed=skill() | {"SKILL.md": _ordered(7, shortened(60))},
        mended=skill() | {"SKILL.md": shortened(60)},
        alone=False,
    ),
    "too many directives": Flaw(
        rule="OVER_CONSTRAINED",
        told="stand 16 times",
        line=448,
        flawed=skill() | {"SKILL.md": _ordered(16)},
    ),
    "too many and dense directives": Flaw(
        rule="OVER_CONSTRAINED",
        told="stand 240 times in 464 lines, 0.517 a line",
        line=224,
        flawed=skill() | {"SKILL.md": _ordered(240)},
    ),
    "repeated lines": Flaw(
        rule=TOKENS,
        told="3 of 448 lines that hold text stood further up already, most often"
        " 'Limit 7: keep value 49 below 91.' (3 times)",
        line=52,
        flawed=skill((ONE_MORE_LINE, ONE_MORE_LINE + FILLER + " " + FILLER + ONE_MORE_LINE)),
    ),
    "repeated fences": Flaw(
        rule=TOKENS,
        told="2 of 445 lines that hold text are fences",
        line=24,
        flawed=skill(("`````", "```"), ("````", "```")),
    ),
    "two cross references": Flaw(
        rule=COHERENCE,
        told="the text has 2 cross references, 4 or more",
        line=None,
        flawed=skill(("skills/pools, skills/pools, ", "")),
    ),
    "no relation": Flaw(
        rule=COHERENCE,
        told="no word relates the skill",
        line=None,
        flawed=skill(("A companion to", "It goes with")),
    ),
    "dead cross reference": Flaw(
        rule="DEAD_CROSS_REF",
        told="2 cross references to 'skills/gone' (line 9)",
        line=9,
        flawed=skill(("skills/pools, skills/pools, ", "skills/gone, skills/gone, ")),
    ),
    "orphan": Flaw(
        rule="ORPHAN_REFERENCE",
        told="3 links to 'references/b.md' (lines 50, 51)",
        line=50,
        flawed=skill(
            (FILLER, "[b](references/b.md)[b](references/b.md)\n[b](references/x/B.md)\n")
        ),
        mended=skill((FILLER, "[b](references/b.md)[b](references/b.md)\n[b](references/x/B.md)\n"))
        | {"references/b.md": ""},
    ),
    "orphan over several lines": Flaw(
        rule="ORPHAN_REFERENCE",
        told="4 links to 'references/b\\nc.md' (lines 51, 54, 55 and 1 more)",
        line=51,
        flawed=skill(
            (FILLER, "[o](references/table.md)\n[p](references/b\nc.md)\n"),
            (
                "Limit 9: keep",
                "[q](references/b\nc.md)[r](references/b\nc.md) [s](references/b\nc.md) 9",
            ),
        ),
    ),
    "orphan by a fragment": Flaw(
        rule="ORPHAN_REFERENCE",
        told="the file is there, but a fragment or title hides it",
        line=10,
        flawed=skill(("references/table.md)", "references/table.md#rows)")),
    ),
    "orphan by a title": Flaw(
        rule="ORPHAN_REFERENCE",
        told="the file is there, but a fragment or title hides it",
        line=10,
        flawed=skill(("references/table.md)", 'references/table.md "Rows")')),
    ),
    "orphan in a directory": Flaw(
        rule="ORPHAN_REFERENCE",
        told="only files directly in references/ count",
        line=10,
        flawed=skill(("references/table.md)", "references/deep/tables.md)")),
        mended=skill(("references/table.md)", "references/deep/tables.md)"))
        | {"references/tables.md": ""},
    ),
    "orphan where references is empty": Flaw(
        rule="ORPHAN_REFERENCE",
        told="1 link to 'references/table.md'",
        line=10,
        flawed=skill(without=["references/table.md"]) | {"references/deep/x.md": ""},
        alone=False,
    ),
    "over the cap of Codex": Flaw(
        rule="SKILL_OVER_CODEX_CAP",
        told="bytes, Codex reads 8192",
        line=None,
        flawed=skill(without=["references/table.md"]),
        mended=skill(without=["references/table.md"]) | {"SKILL.md": shortened(220)},
        alone=False,
    ),
    "tools in backticks": Flaw(
        rule="CLAUDE_TOOL_REFS",
        told="names 2 tools of Claude Code in backticks: Bash, Read (lines 50, 51)",
        line=50,
        flawed=skill((FILLER, "Use `Read` here.\n"), (ONE_MORE_LINE, "Call `Bash` here.\n")),
    ),
    "tools in backticks and prose": Flaw(
        rule="CLAUDE_TOOL_REFS",
        told="names 2 tools of Claude Code in backticks: Bash, Read (lines 50, 51)",
        line=50,
        flawed=skill((FILLER, "Use the `Read` tool.\n"), (ONE_MORE_LINE, "Call `Bash` here.\n")),
        alone=False,
    ),
    "prose of which some is in backticks": Flaw(
        rule="CLAUDE_TOOL_PROSE",
        told="'the … tool' of Claude Code (lines 50, 52",
        line=50,
        flawed=skill(
            (FILLER, "Use the `Read` tool.\n"),
            (ONE_MORE_LINE, "Call `Bash` here.\n"),
            ("Limit 9:", "The Grep tool:"),
        ),
        mended=skill((ONE_MORE_LINE, "Call `Bash` here.\n")),
        alone=False,
    ),
    "backticks of which some are in prose": Flaw(
        rule="CLAUDE_TOOL_REFS",
        told="names 2 tools of Claude Code in backticks: Bash, Read (lines 50, 51)",
        line=50,
        flawed=skill(
            (FILLER, "Use the `Read` tool.\n"),
            (ONE_MORE_LINE, "Call `Bash` here.\n"),
            ("Limit 9:", "The Grep tool:"),
        ),
        mended=skill(("Limit 9:", "The Grep tool:")),
        alone=False,
    ),
    "the tool in prose": Flaw(
        rule="CLAUDE_TOOL_PROSE",
        told="'the … tool' of Claude Code (line 50",
        line=50,
        flawed=skill((FILLER, "Take the Grep tool.\n")),
    ),
}
