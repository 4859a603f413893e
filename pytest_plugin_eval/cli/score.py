"""`plugin-eval score` and `certify`: one target after another. Spec: quality-score, 13."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from pytest_plugin_eval.cli.score_output import Output, format_of, write_lines, write_text
from pytest_plugin_eval.cli.score_session import Interrupted, Models, asking, missing_client, say
from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.quality.composite import is_below
from pytest_plugin_eval.quality.model import Layer, LayerResult, QualityReport, Target
from pytest_plugin_eval.quality.parse import PluginSource, SkillSource, read_target
from pytest_plugin_eval.quality.score import ScoreOptions, score_source
from pytest_plugin_eval.settings import Depth
from pytest_plugin_eval.text import dollars

__all__ = ["ScoreRequest", "Wanted", "score", "warn_of"]

BELOW = 1
FAILED = 2


# No dataclass: making one takes a few percent of what scoring a skill takes.
class Wanted(NamedTuple):
    """What is printed, and what is held against it."""

    output: Output | None = None
    """``None``: a table on a terminal, else Markdown."""
    verbose: bool = False
    explain: bool | None = None
    """``None``: in the page alone."""
    threshold: float | None = None
    corpus: Path | None = None


class ScoreRequest(NamedTuple):
    """What was asked for."""

    paths: tuple[str, ...]
    options: ScoreOptions
    models: Models
    wanted: Wanted


def score(request: ScoreRequest) -> int:
    """Score the targets, print the reports and return the exit code.

    0, or 1 when a composite is below the threshold, or 2 when a target cannot be scored. Raises
    `QualityError` when the corpus cannot be read, or nothing be printed: before anything is spent.
    """
    wanted = request.wanted
    corpus = _Corpus(wanted.corpus) if wanted.corpus is not None else None
    printer = _Printer(wanted, as_list=len(request.paths) > 1)
    options = replace(request.options, explain=printer.needs_findings)
    sources = _sources(request.paths)
    if options.depth is not Depth.QUICK:
        sources = list(sources)  # what is asked of models is told before; else one at a time
    reports: list[QualityReport] = []
    asked: dict[Path, QualityReport] = {}
    code = 0
    try:
        with asking(sources, options, request.models) as asks:
            for path, source in sources:
                told = _teller(path) if wanted.verbose else _silent
                if source.path in asked:
                    # One skill by another spelling: what models say of it is paid for already.
                    reports.append(replace(asked[source.path], path=path, cost_usd=0.0))
                    continue
                reports.append(score_source(source, path, options, asking=asks, on_layer=told))
                warn_of(reports[-1])
                if asks is not None and reports[-1].target is Target.SKILL:
                    asked[source.path] = reports[-1]
        code = 0 if len(reports) == len(request.paths) else FAILED
    except Interrupted as interrupted:
        code = interrupted.exit_code
    if reports:
        printer.print(reports, corpus.standings(reports) if corpus else Standings())
    has_missed = _tell_missed(reports, wanted.threshold)
    return code or (BELOW if has_missed else 0)


def warn_of(report: QualityReport) -> None:
    """Say on stderr what was not read and not measured, and what helps."""
    for problem in report.problems:
        # A problem of a layer does not say whose: there may be other targets.
        where = "" if report.path in problem else f"{report.path}: "
        say(f"warning: {where}{problem}")
    judge = next((layer for layer in report.layers if layer.layer is Layer.JUDGE), None)
    missing = judge.metadata.get("unmeasured") if judge is not None else None
    if judge is not None and isinstance(missing, Sequence) and missing:
        names = ", ".join(map(str, missing))
        cure = "" if "replies_from" in judge.metadata else missing_client()
        say(f"warning: {report.path}: the judge left {names} unmeasured{cure}")


def _sources(paths: Sequence[str]) -> Iterable[tuple[str, SkillSource | PluginSource]]:
    for path in paths:
        try:
            yield path, read_target(path)
        except QualityError as error:
            say(f"Error: {error}")


class Standings(NamedTuple):
    """Where skills stand, by path."""

    lines: Mapping[str, Sequence[str]] = MappingProxyType({})
    fields: Mapping[str, object] = MappingProxyType({})


class _Corpus:
    """The index that skills are compared with, scored once for all."""

    def __init__(self, path: Path) -> None:
        """Raises `QualityError` where there is no index."""
        from pytest_plugin_eval.quality.corpus import measure_index, read_index

        self._index = read_index(path)
        self._measured = measure_index(self._index)
        for problem in self._measured.problems:
            say(f"warning: {problem}")

    def standings(self, reports: Sequence[QualityReport]) -> Standings:
        """Return where the skills among the reports stand."""
        from pytest_plugin_eval.quality.corpus import standing
        from pytest_plugin_eval.reports.quality_standing import standing_fields, standing_lines

        lines: dict[str, Sequence[str]] = {}
        fields: dict[str, object] = {}
        for report in reports:
            if report.target is not Target.SKILL:
                say(f"note: {report.path}: a plugin has no place among the skills of a corpus")
                continue
            place = standing(report, self._index, measured=self._measured)
            lines[report.path] = standing_lines(place)
            fields[report.path] = standing_fields(place)
        return Standings(lines, fields)


class _Printer:
    """Prints reports as they were asked for."""

    def __init__(self, wanted: Wanted, *, as_list: bool) -> None:
        self._wanted = wanted
        self._as_list = as_list
        self._output = format_of(wanted.output)
        is_page = self._output is Output.HTML
        self._explain = is_page if wanted.explain is None else wanted.explain

    @property
    def needs_findings(self) -> bool:
        """Whether findings are listed or counted."""
        return self._explain or self._output is Output.TABLE

    def print(self, reports: Sequence[QualityReport], standings: Standings) -> None:
        """Print all of them."""
        match self._output:
            case Output.JSON:
                write_text(self._json(reports, standings))
            case Output.MARKDOWN:
                from pytest_plugin_eval.reports.quality_markdown import quality_markdown

                write_text(
                    quality_markdown(reports, explain=self._explain, standings=standings.lines)
                )
            case Output.HTML:
                from pytest_plugin_eval.reports.quality_html import quality_html

                write_text(quality_html(reports, explain=self._explain, standings=standings.lines))
            case Output.TABLE:
                write_lines(partial(self._lines, reports, standings))

    def _json(self, reports: Sequence[QualityReport], standings: Standings) -> str:
        from pytest_plugin_eval.reports.quality_json import JsonContext, quality_json

        corpus = self._wanted.corpus
        context = JsonContext(
            verbose=self._wanted.verbose,
            corpus_path=None if corpus is None else str(corpus),
            explain=self._explain,
            standings=standings.fields,
        )
        return quality_json(reports, context, as_list=self._as_list) + "\n"

    def _lines(
        self,
        reports: Sequence[QualityReport],
        standings: Standings,
        width: int,
        ascii_only: bool,
    ) -> Iterator[str]:
        from pytest_plugin_eval.reports.quality_table import quality_lines, quality_overview_lines

        for report in reports:
            yield from quality_lines(
                report,
                width=width,
                explain=self._explain,
                ascii_only=ascii_only,
                standing=standings.lines.get(report.path, ()),
            )
            if len(reports) > 1:
                yield ""
        if len(reports) > 1:  # last, where it is seen without scrolling
            yield from quality_overview_lines(reports, width=width, ascii_only=ascii_only)


def _teller(path: str) -> Callable[[LayerResult], None]:
    """Return what says of each layer, when it is done, what it measured and how long it took."""
    from pytest_plugin_eval.reports.quality_numbers import share

    last_s = time.perf_counter()

    def tell(layer: LayerResult) -> None:
        nonlocal last_s
        now_s = time.perf_counter()
        took_ms, last_s = (now_s - last_s) * 1000, now_s
        measured = ", ".join(
            f"{name.value} {share(score)}" for name, score in layer.dimensions.items()
        )
        cost = "at an unknown cost" if layer.cost_usd is None else dollars(layer.cost_usd)
        say(
            f"{path}: {layer.layer.value}: {took_ms:.1f} ms, {cost}, "
            f"measured {measured or 'nothing'}"
        )

    return tell


def _silent(_: LayerResult) -> None:
    pass


def _tell_missed(reports: Iterable[QualityReport], threshold: float | None) -> bool:
    """Say which composites are below the threshold, and return whether one is."""
    if threshold is None:
        return False
    from pytest_plugin_eval.reports.run_lines import below

    missed = [report for report in reports if is_below(report.composite.score, threshold)]
    for report in missed:
        score_text, limit = below(report.composite.score, threshold)
        say(f"{report.path}: composite {score_text} is below --threshold {limit}")
    return bool(missed)
