"""The HTML report: one page, and beside it a page a case when the transcripts are too many.

What a model wrote is hostile: every value that a template puts out is cleaned and escaped, nothing
of it becomes a link, and a Content-Security-Policy lets only the page's own script and style act.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_plugin_eval.quality.model import QualityReport
from pytest_plugin_eval.reports.html_anchors import Anchors
from pytest_plugin_eval.reports.html_case import case_view
from pytest_plugin_eval.reports.html_model import CaseView, PairView
from pytest_plugin_eval.reports.html_records import RecordFiles, Records
from pytest_plugin_eval.reports.html_runs import pair_views
from pytest_plugin_eval.reports.html_suite import suite_view
from pytest_plugin_eval.reports.html_trace import Kind
from pytest_plugin_eval.reports.verdict import Conclusion, conclusion
from pytest_plugin_eval.scoring.model import CaseResult, SuiteResult
from pytest_plugin_eval.text import cut, printable, without_surrogates

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["INLINE_BYTES", "HtmlReport", "RecordFiles", "Records", "side_directory", "write_report"]

INLINE_BYTES = 4 * 1024 * 1024
"""Records and evidence up to this size are shown on the page itself."""
MOST_CHARACTERS = 10_000
"""Of any one text; what models write is cut to less where it is put together."""
_BUFFERED = 64
_SIDE_PAGE = re.compile(r"[0-9]{5,}-[a-z0-9-]*\.html")
_MARK = '<meta name="generator" content="pytest-plugin-eval">'
_NAME_LENGTH = 60
_WORDS = {
    Kind.START: "Session",
    Kind.TEXT: "Agent says",
    Kind.THINKING: "Agent thinks",
    Kind.CALL: "Agent calls",
    Kind.RESULT: "Result",
    Kind.ERROR: "Result, an error",
    Kind.INPUT: "Put before the agent",
    Kind.END: "End",
}


class HtmlReport:
    """A suite's report, rendered a case at a time."""

    def __init__(
        self,
        suite: SuiteResult,
        *,
        records: Records,
        quality: Sequence[QualityReport] = (),
        verdict: Conclusion | None = None,
        written_by: str = "",
        inline_bytes: int = INLINE_BYTES,
    ) -> None:
        """*records* are read one case at a time, and only for the page that shows them.

        *verdict* is what the suite came to, where more is known than what its results say. With
        *written_by*, side pages are not written: it is the command that would write them.
        """
        self._suite = suite
        self._records = records
        self._quality = tuple(quality)
        self._verdict = verdict
        self._written_by = written_by
        self._inline_bytes = inline_bytes
        self._anchors = Anchors(suite.cases)

    @cached_property
    def is_split(self) -> bool:
        """Whether the details of the runs go to pages of their own."""
        size = 0
        for case in self._suite.cases:
            for run in case.runs:
                size += self._records.size(run)
                size += sum(len(v.evidence or "") + len(v.explanation) for v in run.verdicts)
                if size > self._inline_bytes:
                    return True
        return False

    def chunks(self, files: str = "report-files") -> Iterator[str]:
        """Yield the page in parts; *files* is the directory of the side pages beside it."""
        view = suite_view(
            self._suite,
            self._verdict or conclusion(self._suite),
            quality=self._quality,
            is_status_known=self._verdict is not None,
            is_split=self.is_split,
            files=files,
            written_by=self._written_by,
        )
        yield from _rendered("report.html.j2", page="", suite=view, cases=self._cards(files))

    def side_pages(self, page: str = "report.html") -> Iterator[tuple[str, Iterator[str]]]:
        """Yield name and content of each page that lies beside *page*; none when all is on it."""
        if not self.is_split or self._written_by:
            return
        for number, case in enumerate(self._suite.cases, 1):
            yield (
                _side_name(number, case),
                _rendered(
                    "case.html.j2",
                    page=page,
                    case=self._case(case),
                    pairs=pair_views(case, self._records, self._anchors),
                ),
            )

    def _cards(self, files: str) -> Iterator[tuple[CaseView, Iterable[PairView]]]:
        for number, case in enumerate(self._suite.cases, 1):
            if self.is_split:
                side_page = "" if self._written_by else f"{files}/{_side_name(number, case)}"
                yield self._case(case, is_short=True, side_page=side_page), ()
            else:
                yield self._case(case), pair_views(case, self._records, self._anchors)

    def _case(self, case: CaseResult, *, is_short: bool = False, side_page: str = "") -> CaseView:
        return case_view(
            case,
            self._anchors,
            threshold=self._suite.info.threshold,
            is_short=is_short,
            side_page=side_page,
        )


def write_report(
    report: HtmlReport, path: Path, write: Callable[[Path, Iterable[str]], None]
) -> None:
    """Write a report as *path*, with its side pages in a directory named after it.

    *write* writes a file of text parts whole or not at all. Side pages of an earlier report are
    removed when the new page no longer links to them. Raises `OSError`.
    """
    from urllib.parse import quote

    files = side_directory(path)
    kept = set()
    for name, chunks in report.side_pages(quote(path.name)):
        write(files / name, chunks)
        kept.add(name)
    write(path, report.chunks(quote(files.name)))
    if files.is_dir():
        _remove_others(files, kept)


def side_directory(page: Path) -> Path:
    """Return where the pages lie that belong to a page."""
    return page.with_name(f"{page.stem}-files")


def _remove_others(files: Path, kept: set[str]) -> None:
    for old in files.iterdir():
        is_named_so = _SIDE_PAGE.fullmatch(old.name) and old.name not in kept
        if is_named_so and old.is_file() and _is_ours(old):
            old.unlink(missing_ok=True)
    if not kept and not any(files.iterdir()):
        files.rmdir()


def _is_ours(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return _MARK in file.read(1000)


def _side_name(number: int, case: CaseResult) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", case.info.name.lower()).strip("-")
    return f"{number:05}-{words[:_NAME_LENGTH]}.html"


def _rendered(template: str, **values: object) -> Iterator[str]:
    stream = _environment().get_template(template).stream(**values)
    stream.enable_buffering(_BUFFERED)
    yield from stream


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("pytest_plugin_eval", "reports/templates"),
        autoescape=True,
        finalize=_clean,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    assets = {name: _asset(environment, f"report.{name}") for name in ("css", "js")}
    environment.globals |= {
        "style": Markup(assets["css"]),  # noqa: S704 -- our own file
        "script": Markup(assets["js"]),  # noqa: S704 -- our own file
        "policy": _policy(assets["css"], assets["js"]),
        "generator": Markup(_MARK),  # noqa: S704 -- written above
        "words": _WORDS,
    }
    return environment


def _asset(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _policy(style: str, script: str) -> str:
    """Return the policy by which nothing but these two texts, as they are, has an effect."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _clean(value: object) -> object:
    """Return a value as a template may put it out; it is escaped after this.

    Characters that control a terminal or reorder the text around them are replaced.
    """
    if type(value) is not str:  # markup of our own templates, numbers
        return value
    if len(value) > MOST_CHARACTERS:
        value = cut(value, MOST_CHARACTERS)
    if value.isascii() and value.isprintable():  # most of them, and much quicker
        return value
    return printable(without_surrogates(value.replace("\r\n", "\n")))
