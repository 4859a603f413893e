"""The results of a suite as Markdown, for a comment of a pull request or a job's summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_plugin_eval.quality.model import QualityReport
from pytest_plugin_eval.reports.composite import composite_lines, known_quality_cost, skill_row
from pytest_plugin_eval.reports.markdown import escaped, table
from pytest_plugin_eval.reports.quality_numbers import points
from pytest_plugin_eval.reports.summary import summary_lines
from pytest_plugin_eval.reports.table import case_rows
from pytest_plugin_eval.reports.verdict import conclusion
from pytest_plugin_eval.scoring.model import SuiteResult
from pytest_plugin_eval.text import cut, plural

__all__ = ["results_markdown"]

MOST_CHARACTERS = 50_000
"""Of the rows; GitHub takes 65,536 characters in a comment."""
NOTE_LENGTH = 300
NAME_LENGTH = 200
LINE_LENGTH = 1_000
MOST_SKILLS = 50
_NO_WRAP = 10**9


def results_markdown(suite: SuiteResult, quality: Sequence[QualityReport] = ()) -> list[str]:
    """Return the lines: what the suite comes to, its cases, what else is to be known of them.

    Rows that would make it longer than a comment may be are left out, those of passed cases first.
    """
    came_to = conclusion(suite)
    lines = [f"### {_heading(suite)}: {came_to.standing}", "", f"{_line(_capital(came_to.text))}."]
    if suite.cases:
        lines += ["", *_cases(suite)]
    summary = summary_lines(suite, quality_usd=known_quality_cost(quality))
    lines += ["", *(f"- {_line(text)}" for text in (*summary, *_composites(quality)))]
    skills = [skill for report in quality for skill in report.skills]
    if skills:
        lines += ["", "<details><summary>Quality scores of the skills</summary>", ""]
        lines += [*_skills(skills), "", "</details>"]
    return lines


def _heading(suite: SuiteResult) -> str:
    names = [plugin["name"] for plugin in suite.info.plugins if plugin.get("name")]
    return f"Evals of {escaped(cut(', '.join(names), NAME_LENGTH))}" if names else "Evals"


def _line(text: str) -> str:
    return escaped(cut(text, LINE_LENGTH))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cases(suite: SuiteResult) -> Iterator[str]:
    titles, *cells = case_rows(suite)
    rows = [
        (
            cut(name, NAME_LENGTH),
            "passed" if case.passed else "failed",
            *rest,
            cut(note, NOTE_LENGTH),
        )
        for case, (name, *rest, note) in zip(suite.cases, cells, strict=True)
    ]
    name, *numbers, note = titles
    head = (name, "RESULT", *(f"{number}:" for number in numbers), note)
    first, second, *lines = table(head, rows)
    shown = _fitting([case.passed for case in suite.cases], [len(line) + 1 for line in lines])
    yield from (first, second, *(line for at, line in enumerate(lines) if at in shown))
    left_out = len(lines) - len(shown)
    if left_out:
        failed = sum(not case.passed for at, case in enumerate(suite.cases) if at not in shown)
        yield ""
        yield f"And {plural(left_out, 'more case')}, {failed} of them failed: see the report."


def _fitting(passed: Sequence[bool], sizes: Sequence[int]) -> set[int]:
    """Return the positions of the rows for which there is room, failed cases before others."""
    room = MOST_CHARACTERS
    shown = set()
    for at in sorted(range(len(sizes)), key=lambda at: passed[at]):
        room -= sizes[at]
        if room < 0:
            break
        shown.add(at)
    return shown


def _composites(quality: Sequence[QualityReport]) -> Iterator[str]:
    for report in quality:
        yield from composite_lines([replace(report, skills=())], width=_NO_WRAP)


def _skills(skills: Sequence[QualityReport]) -> Iterator[str]:
    rows = sorted((skill_row(skill) for skill in skills), key=lambda row: row.score)[:MOST_SKILLS]
    cells = [
        (
            cut(row.name, NAME_LENGTH),
            points(row.score),
            row.badge.replace("_", " "),
            ", ".join(row.flags),
        )
        for row in rows
    ]
    yield from table(("SKILL", "COMPOSITE:", "BADGE", "FLAGS"), cells)
    if len(skills) > MOST_SKILLS:
        yield ""
        yield f"And {plural(len(skills) - MOST_SKILLS, 'skill')} with higher scores."
