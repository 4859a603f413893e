"""A worker in another directory or on another machine: what it makes travels in its reports.

It keeps the files of a run aside until the run's report is sent, and speaks of everything by the
controller's paths (decisions, 15).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_plugin_eval.errors import RecordError, SettingsError
from pytest_plugin_eval.pytest_side.remote_results import LARGEST_BYTES, ROOT, SPOOLED
from pytest_plugin_eval.pytest_side.results_places import results_directory_of
from pytest_plugin_eval.records.codec import decode, encode
from pytest_plugin_eval.settings import Mode, Settings

if TYPE_CHECKING:
    from pytest_plugin_eval.scoring.model import CaseInfo, RunReport

__all__ = ["RemoteWorker", "remote_worker"]

MIB = 1024 * 1024


class RemoteWorker:
    """Where a worker keeps what it made, and how it calls things when the controller listens."""

    def __init__(self, *, rootdir: Path, here: Path, given: Mapping[str, str]) -> None:
        """Begin in *rootdir*, started in *here*.

        *given* are ``rootdir`` and ``here`` of the controller, and ``spool``, the directory to keep
        files in: an absolute one is the controller's to remove, a relative one lies in this
        machine's directory for temporary files and is removed with `close`.
        """
        self.rootdir = Path(given["rootdir"])
        """The controller's."""
        self.here = Path(given["here"])
        """Where the reader stands."""
        spool = Path(given["spool"])
        self._is_own = not spool.is_absolute()
        self._spool = Path(tempfile.gettempdir(), spool)
        self._own_rootdir = rootdir
        self._names: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None
        self._call(str(rootdir), str(self.rootdir))
        self._call(os.path.realpath(rootdir), str(self.rootdir))
        self._call(str(here), str(self.here))
        self._directories: list[Path] = []
        self._cases: dict[int, tuple[CaseInfo, CaseInfo]] = {}

    def open_results(
        self, settings: Settings, session_id: str, bases: Mapping[Path, Path]
    ) -> dict[Path, Path]:
        """Make a directory for the files of each suite root; return them by root.

        *bases* are where results go by timestamp on this machine; the controller has the same.
        Raises `SettingsError` when nothing can be written.
        """
        opened: dict[Path, Path] = {}
        for root in bases:
            relative = os.path.relpath(root, self._own_rootdir)
            self._call(str(root), os.path.normpath(self.rootdir / relative))
        try:
            # Prompts and answers lie there: for nobody else.
            for made in (self._spool.parent.parent, self.spools, self._spool):
                made.mkdir(mode=0o700, exist_ok=True)
            for number, root in enumerate(sorted(bases)):
                directory = opened[root] = self._spool / f"{number}"
                directory.mkdir(exist_ok=True)
                (directory / ROOT).write_text(self.called(str(root)), encoding="utf-8")
                there = results_directory_of(settings, session_id, root, bases)
                self._call(str(directory), self.called(str(there)))
        except OSError as error:
            raise SettingsError(
                f"results cannot be written to {error.filename}: {error.strerror}"
            ) from error
        self._directories = list(opened.values())
        return opened

    @property
    def spools(self) -> Path:
        """What all workers of the session on this machine keep: no agent may look there."""
        return self._spool.parent

    def keeping(self, mode: Mode) -> Mode:
        """Return the mode to keep records in: recordings are the controller's to write."""
        return Mode.LIVE if mode is Mode.RECORD else mode

    def called(self, text: str) -> str:
        """Return a path, or a text with paths, as the controller has it."""
        if self._pattern is None:
            names = "|".join(map(re.escape, sorted(self._names, key=len, reverse=True)))
            self._pattern = re.compile(rf"(?<![\w./-])(?:{names})(?![\w-]|\.\w)")
        return self._pattern.sub(lambda found: self._names[found[0]], text)

    def as_read(self, run: RunReport) -> RunReport:
        """Return a run as the controller's reader is to see it."""
        outcome, reason = run.outcome, run.unmeasured_reason
        if outcome.error is not None:
            outcome = replace(outcome, error=self.called(outcome.error))
        return replace(
            run,
            case=self.case_as_read(run.case),
            outcome=outcome,
            unmeasured_reason=None if reason is None else self.called(reason),
            record_path=self.called(run.record_path),
            results_dir=self.called(run.results_dir),
            notes=tuple(map(self.called, run.notes)),
            verdicts=tuple(
                replace(one, explanation=self.called(one.explanation)) for one in run.verdicts
            ),
        )

    def case_as_read(self, case: CaseInfo) -> CaseInfo:
        """Return a case as the controller's reader is to see it; one object for all its runs."""
        known = self._cases.get(id(case))
        if known is None:
            known = self._cases[id(case)] = (case, self._case(case))
        return known[1]

    def plain_as_read(self, value: object) -> object:
        """Return plain data with every text as the controller has it, keys included."""
        if isinstance(value, str):
            return self.called(value)
        if isinstance(value, Mapping):
            return {self.plain_as_read(key): self.plain_as_read(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.plain_as_read(one) for one in value]
        return value

    def parcel(self) -> tuple[list[list[object]], list[str]]:
        """Return the files that were made since, and what there is to say of those that stay.

        Each file is the suite root, its path below the results directory, and its bytes, packed.
        """
        files: list[list[object]] = []
        notes: list[str] = []
        for directory in self._directories:
            root = (directory / ROOT).read_text(encoding="utf-8")
            for path in _spooled(directory):
                data, note = _fitting(path)
                if data is not None:
                    name = path.relative_to(directory).as_posix()
                    files.append([root, name, zlib.compress(data, 1)])
                if note is not None:
                    notes.append(note)
        return files, notes

    def forget(self) -> None:
        """Remove the files that were sent."""
        for directory in self._directories:
            for path in _spooled(directory):
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the files of this worker, where no controller on this machine will look."""
        if self._is_own:
            shutil.rmtree(self._spool, ignore_errors=True)
            with contextlib.suppress(OSError):  # other workers have theirs there
                self.spools.rmdir()
                self.spools.parent.rmdir()

    def _call(self, own: str, theirs: str) -> None:
        if len(own) > 1:  # not the root of all paths
            self._names.setdefault(own, theirs)
        self._pattern = None

    def _case(self, case: CaseInfo) -> CaseInfo:
        return replace(
            case,
            root=self.called(case.root),
            eval_dir=self.called(case.eval_dir),
            source_file=self.called(case.source_file),
            plugins=tuple(
                {name: self.called(value) for name, value in plugin.items()}
                for plugin in case.plugins
            ),
            grader_advisories={
                name: self.called(text) for name, text in case.grader_advisories.items()
            },
            advisories=tuple(map(self.called, case.advisories)),
            warnings=tuple(map(self.called, case.warnings)),
            hints=tuple(map(self.called, case.hints)),
        )


def remote_worker(
    workerinput: Mapping[str, object], *, rootdir: Path, here: Path
) -> RemoteWorker | None:
    """Return what a worker elsewhere needs; ``None`` for one in the controller's directory."""
    given = workerinput.get("elsewhere")
    if not isinstance(given, dict):
        return None
    return RemoteWorker(rootdir=rootdir, here=here, given=given)


def _spooled(directory: Path) -> Iterator[Path]:
    return (path for pattern in SPOOLED for path in sorted(directory.glob(pattern)))


def _fitting(path: Path) -> tuple[bytes | None, str | None]:
    """Return the bytes of a file that may travel, and what was left out of it."""
    data = path.read_bytes()
    if len(data) <= LARGEST_BYTES:
        return data, None
    size = f"{len(data) / MIB:.0f} MiB, of which at most {LARGEST_BYTES / MIB:g} MiB travel"
    try:
        record = decode(data, str(path))
    except RecordError:
        return None, f"{path.name} stayed with the worker: it has {size}"
    files = tuple(replace(entry, content=None) for entry in record.files)
    note = f"the record came without the contents of files: it has {size}"
    data = encode(replace(record, files=files, notes=(*record.notes, note)))
    if len(data) <= LARGEST_BYTES:
        return data, note
    return None, f"the record stayed with the worker: it has {size}"
