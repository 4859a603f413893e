"""`plugin-eval compare`: two skills, side by side. Spec: quality-score, 13."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_plugin_eval.cli.score import warn_of
from pytest_plugin_eval.cli.score_output import Output, format_of, write_lines, write_text
from pytest_plugin_eval.cli.score_session import Interrupted, Models, asking, say
from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.quality.model import QualityReport
from pytest_plugin_eval.quality.parse import PluginSource, SkillSource, read_target
from pytest_plugin_eval.quality.score import ScoreOptions, score_source
from pytest_plugin_eval.reports.quality_comparison import Comparison, compared
from pytest_plugin_eval.text import cut

__all__ = ["compare"]

FAILED = 2


def compare(a: str, b: str, *, options: ScoreOptions, models: Models, output: Output | None) -> int:
    """Score both skills, print what tells them apart and return the exit code."""
    sources: list[tuple[str, SkillSource]] = []
    for path in (a, b):
        try:
            sources.append((path, _skill(path)))
        except QualityError as error:
            say(f"Error: {error}")
    if len(sources) < len((a, b)):
        return FAILED
    output = format_of(output)
    reports: list[QualityReport] = []
    try:
        with asking(sources, options, models) as asks:
            for path, source in sources:
                reports.append(score_source(source, path, options, asking=asks))
                warn_of(reports[-1])
    except Interrupted as interrupted:
        return interrupted.exit_code
    _print(compared(*reports), output)
    return 0


def _skill(path: str) -> SkillSource:
    source = read_target(path)
    if isinstance(source, PluginSource):
        raise QualityError(
            f"{cut(path, 200)}: compare takes skills, got a plugin, expected a directory with "
            "SKILL.md"
        )
    return source


def _print(comparison: Comparison, output: Output) -> None:
    from pytest_plugin_eval.reports.quality_comparison_text import (
        comparison_json,
        comparison_lines,
        comparison_markdown,
    )

    def lines(width: int, ascii_only: bool) -> Iterable[str]:
        return comparison_lines(comparison, width=width, ascii_only=ascii_only)

    match output:
        case Output.JSON:
            write_text(comparison_json(comparison) + "\n")
        case Output.MARKDOWN:
            write_text(comparison_markdown(comparison))
        case Output.HTML:
            from pytest_plugin_eval.reports.quality_html import comparison_html

            write_text(comparison_html(comparison))
        case Output.TABLE:
            write_lines(lines)
