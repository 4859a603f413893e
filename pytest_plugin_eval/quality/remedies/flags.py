"""Links of a skill that lead nowhere, each an anti-pattern. Spec: 5.

The other anti-patterns stand with the sub-score that has the same cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from pytest_plugin_eval.quality.counts import CROSS_REFERENCE, cross_reference_path
from pytest_plugin_eval.quality.parse import SkillSource
from pytest_plugin_eval.quality.remedies.mending import Mending, ScoredSkill
from pytest_plugin_eval.quality.remedies.places import line_at, told_lines
from pytest_plugin_eval.quality.static.anti_patterns import (
    orphan_references,
    reference_links,
)
from pytest_plugin_eval.quality.static.disclosure import REFERENCE_STEPS
from pytest_plugin_eval.quality.static.parts import reached
from pytest_plugin_eval.text import did_you_mean, plural, shown

__all__ = ["flag_mendings"]

ORPHAN, DEAD = "ORPHAN_REFERENCE", "DEAD_CROSS_REF"
NO_FILES = {"", ".."}
HINTED = 20
"""Up to so many files, the nearest existing name is looked for; beyond, it would take long."""


def flag_mendings(skill: ScoredSkill) -> Iterator[Mending]:
    """Yield one for each file or skill that is linked and not there, however often."""
    yield from _orphans(skill)
    yield from _dead(skill.source)


def _orphans(skill: ScoredSkill) -> Iterator[Mending]:
    source = skill.source
    links: dict[str, list[tuple[int, str]]] = {}
    for line, link in _numbered_orphans(source):
        links.setdefault(_cause(link), []).append((line, link))
    names = frozenset(name.lower() for name in source.reference_files)
    for orphans in links.values():
        lines = [line for line, _ in orphans]
        link = orphans[0][1]
        is_hidden = _file(link).lower() in names
        hint = did_you_mean(_file(link), source.reference_files) if len(links) <= HINTED else ""
        yield Mending(
            rule=ORPHAN,
            line=lines[0],
            text=f"{plural(len(orphans), 'link')} to {shown('references/' + link)}"
            f" ({told_lines(lines)}), where no such file is{_oddity(link, is_hidden=is_hidden)}",
            remedy=_remedy(link, hint, is_hidden=is_hidden),
            parts=_first_file(source),
            entries=len(orphans),
        )


def _numbered_orphans(source: SkillSource) -> Iterator[tuple[int, str]]:
    """Yield the orphans with their lines, each looked for behind the one before it."""
    orphans = frozenset(orphan_references(source))
    if not orphans:
        return
    line, at, behind = 1, 0, 0
    for link in reference_links(source.content):
        written = f"(references/{link})"
        start = source.content.find(written, behind)
        line += source.content.count("\n", at, start)
        at, behind = start, start + len(written)
        if link in orphans:
            yield line, link


def _file(link: str) -> str:
    """Return the file that a link means, without its directory, title and fragment."""
    return PurePosixPath(_plain(link)).name


def _plain(link: str) -> str:
    words = link.split(maxsplit=1)
    return words[0].split("#")[0] if words else ""


def _cause(link: str) -> str:
    """Return what mends a link, so that links with one remedy are one finding."""
    return _file(link).lower() if _plain(link) == link else link


def _oddity(link: str, *, is_hidden: bool) -> str:
    """Return a hint; *is_hidden* says that only a fragment or title keeps the file from sight."""
    if is_hidden:
        return "; the file is there, but a fragment or title hides it from this odd rule"
    if "/" in _plain(link):
        return "; only files directly in references/ count, an odd rule"
    return ""


def _remedy(link: str, hint: str, *, is_hidden: bool) -> str:
    file = _file(link)
    if is_hidden:
        return f"link it plainly, {shown(f'references/{_plain(link)}')}"
    if file in NO_FILES:
        return "correct the link to a file in references/"
    make = f"make the file {shown(f'references/{file}')}"
    if _plain(link) != link:
        return f"{make} and link it plainly, without a fragment or title"
    return f"{make} or correct the link{hint}"


def _first_file(source: SkillSource) -> Mapping[str, Mapping[str, float]]:
    """Return what else a file in ``references`` wins where there was none."""
    if source.reference_files:
        return {}
    points = reached(source.line_count, REFERENCE_STEPS)
    return {"progressive_disclosure": {"references": points}}


def _dead(source: SkillSource) -> Iterator[Mending]:
    if not source.dead_cross_references:
        return
    dead = set(source.dead_cross_references)
    lines: dict[str, list[int]] = {}
    written: dict[str, str] = {}
    line, end = line_at(source.content, source.body_offset), 0
    for match in CROSS_REFERENCE.finditer(source.body):
        line += source.body.count("\n", end, match.start())
        end = match.start()
        path = cross_reference_path(match[1])
        if path in dead:
            lines.setdefault(path, []).append(line)
            written.setdefault(path, match[1])
    for path, places in lines.items():
        yield Mending(
            rule=DEAD,
            line=places[0],
            text=f"{plural(len(places), 'cross reference')} to {shown(written[path])}"
            f" ({told_lines(places)}), where nothing is beside this skill's directory",
            remedy="correct it to the path of a skill that is there, or add that one; where no"
            " skill is meant, as in prose, word it without the slash",
            entries=len(places),
        )
