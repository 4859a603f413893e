"""The pages that a session writes of its results."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.pytest_side.stash import settings_key
from pytest_plugin_eval.scoring.model import SuiteResult
from pytest_plugin_eval.settings import Mode, Settings
from pytest_plugin_eval.storage.atomic_write import write_chunks

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.controller import EvalController

__all__ = ["PAGE", "write_pages"]

PAGE = "report.html"


def write_pages(
    suite: SuiteResult,
    directory: str,
    controller: EvalController,
    config: pytest.Config,
    *,
    several: bool,
) -> None:
    """Write the report of a suite to its results *directory* and where else it is asked for."""
    settings = config.stash[settings_key]
    # A name may be that of the results' own page.
    places = {place.absolute(): place for place in _places(suite, directory, settings, several)}
    for page in places.values():
        try:
            _write(suite, page, controller, config, several=several)
        except OSError as error:
            controller.unwritten.append(f"{page}: {error.strerror}")
        except Exception as error:  # noqa: BLE001 - border: a report file; runs were paid for
            controller.unwritten.append(f"{page}: {type(error).__name__}: {error}")
        else:
            controller.written.append(page)


def _write(
    suite: SuiteResult,
    page: Path,
    controller: EvalController,
    config: pytest.Config,
    *,
    several: bool,
) -> None:
    from pytest_plugin_eval.quality.score import explained
    from pytest_plugin_eval.reports.html import HtmlReport, RecordFiles, write_report
    from pytest_plugin_eval.reports.verdict import conclusion

    # Which of several suites they are of, the words for people do not tell.
    further = () if several else controller.scorer.missed
    settings = config.stash[settings_key]
    report = HtmlReport(
        suite,
        records=RecordFiles(config.rootpath),
        quality=tuple(map(explained, controller.quality.get(suite.info.root, ()))),
        verdict=conclusion(suite, report_only=settings.report_only, further=further),
        written_by=_written_by(page, settings),
    )
    write_report(report, page, _write_chunks)


def _written_by(page: Path, settings: Settings) -> str:
    """Return the command that writes the transcripts, where the session does not.

    A replay grades thousands of runs in seconds, and their transcripts are what they were. Who
    names a page wants it whole.
    """
    is_named = settings.html_path is not None or settings.report_path is not None
    if settings.mode is not Mode.REPLAY or is_named:
        return ""
    return shlex.join(["plugin-eval", "report", str(page.parent.absolute())])


def _write_chunks(path: Path, chunks: Iterable[str]) -> None:
    # Not worth a wait for the disk: `plugin-eval report` makes it again. The page has no surrogates
    # left; to look for them once more in all of a large one takes a while.
    write_chunks(path, (chunk.encode("utf-8", "replace") for chunk in chunks), durable=False)


def _places(
    suite: SuiteResult, directory: str, settings: Settings, several: bool
) -> Iterator[Path]:
    if directory and settings.report_path is None:
        yield Path(directory, PAGE)
    for copy in filter(None, (settings.report_path, settings.html_path)):
        yield copy.with_stem(f"{copy.stem}-{Path(suite.info.root).name}") if several else copy
