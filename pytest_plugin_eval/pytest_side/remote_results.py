"""What workers elsewhere made, written where the controller keeps its results (decisions, 15)."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.pytest_side.ids import case_of, is_run_id, run_key
from pytest_plugin_eval.pytest_side.stash import settings_key, workbench_key
from pytest_plugin_eval.settings import Mode

if TYPE_CHECKING:
    from pytest_plugin_eval.cases.discovery import EvalDirectory
    from pytest_plugin_eval.records.model import RunRecord

__all__ = ["LARGEST_BYTES", "ROOT", "SPOOLED", "RemoteResults"]

LARGEST_BYTES = 64 * 1024 * 1024
"""Of one file that travels: a record holds at most two thirds of that of a workspace."""
ROOT = "root.txt"
"""In each directory that a worker keeps files in: the suite root here that they are for."""
SPOOLED = ("session.json", "runs/**/*.jsonl", "mock-recordings/*/*.json")
"""What workers send, as patterns."""
_NAME = re.compile(r"session\.json|runs/.+\.jsonl|mock-recordings/[^/]+/[^/]+\.json", re.S)


class RemoteResults:
    """Opens results directories for workers elsewhere, and fills them from their reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._places: dict[str, EvalDirectory] = {}
        self.directories: Mapping[Path, Path] = {}
        """By suite root, once workers elsewhere have collected."""

    def expect(self, ids: Iterable[str], worker: str) -> None:
        """Take in what a worker has collected, and open the results directories.

        Raises `pytest.UsageError` when its cases are not found here by the same ids, or when
        results cannot be written: before anything is spent.
        """
        from pytest_plugin_eval.errors import EvalError
        from pytest_plugin_eval.pytest_side.results_places import open_results

        if self.directories:
            return
        for case in dict.fromkeys(case_of(nodeid) for nodeid in ids if is_run_id(nodeid)):
            self._places[case] = self._place(case, worker)
        bench = self._config.stash[workbench_key]
        bases = {place.root: bench.results_base(place) for place in self._places.values()}
        try:
            settings = self._config.stash[settings_key]
            self.directories = open_results(settings, bench.session_id, bases)
        except EvalError as error:
            raise pytest.UsageError(str(error)) from None

    def take(self, nodeid: str, payload: Mapping[str, object]) -> None:
        """Write the files that came with a run, and have its data name their place here."""
        files, place = payload.get("files"), self._places.get(case_of(nodeid))
        if not isinstance(files, list) or place is None:
            return
        run, case = payload["run"], payload["case"]
        assert isinstance(run, dict)
        assert isinstance(case, dict)
        case["root"] = str(place.root)
        directory = self.directories[place.root]
        run["results_dir"] = str(directory)
        problems = [self._write(*file) for file in files]
        if self._config.stash[settings_key].mode is not Mode.REPLAY:
            from pytest_plugin_eval.execution.keeper import RUNS
            from pytest_plugin_eval.records.layout import record_path

            path = record_path(directory / RUNS, run_key(nodeid, case["id"]))
            run["record_path"] = str(path) if path.is_file() else ""
            problems += self._recorded(place, path, case["plan"])
        run["notes"] = [*run["notes"], *filter(None, problems)]

    def sweep(self, spools: Path) -> None:
        """Take in what workers on this machine kept and had no time to send."""
        for root in spools.glob(f"*/*/{ROOT}"):
            name = root.read_text(encoding="utf-8")
            for pattern in SPOOLED:
                for path in root.parent.glob(pattern):
                    data = zlib.compress(path.read_bytes(), 1)
                    self._write(name, path.relative_to(root.parent).as_posix(), data)

    def close(self) -> None:
        """Complete what is in the directories, and give those free that nobody else has."""
        from pytest_plugin_eval.execution.keeper import finish_answers
        from pytest_plugin_eval.storage.marker import owner
        from pytest_plugin_eval.storage.results_dir import release_results_directory

        for directory in self.directories.values():
            finish_answers(directory)
            if owner(directory) == self._config.stash[workbench_key].session_id:
                release_results_directory(directory)

    def _place(self, case: str, worker: str) -> EvalDirectory:
        from pytest_plugin_eval.cases.discovery import eval_directory_of, is_case_directory

        settings = self._config.stash[settings_key]
        path = self._config.rootpath / case
        place = eval_directory_of(path, eval_dir=settings.eval_dir, root=settings.root)
        if place is None or not is_case_directory(str(path)):
            raise pytest.UsageError(
                f"{worker} has a case {case!r}, and there is none in {self._config.rootpath}: "
                "the workers' rootdir must be laid out like this one; let them have the ini file, "
                "or pass --rootdir=. and start pytest there"
            )
        return place

    def _write(self, root: object, name: object, data: object) -> str | None:
        """Write a file of a worker; return why it could not be.

        A worker on another machine is believed no more than it takes: it names nothing but what it
        may have made, below the results of a suite of this session.
        """
        from pytest_plugin_eval.storage.atomic_write import write_bytes

        assert isinstance(name, str)
        assert isinstance(data, bytes)
        directory = self.directories.get(Path(f"{root}"))
        if directory is None and len(self.directories) == 1:
            # By way of a link it has another name there.
            directory = next(iter(self.directories.values()))
        if directory is None or not _is_expected(name):
            return f"{name} of {root} belongs to no results of this session"
        unpacking = zlib.decompressobj()
        try:
            content = unpacking.decompress(data, LARGEST_BYTES)
            if not unpacking.eof:
                return f"{name} is cut, or has more than {LARGEST_BYTES} bytes"
            write_bytes(directory / name, content)
        except (OSError, zlib.error) as error:
            return f"{name} could not be written: {error}"
        return None

    def _recorded(self, place: EvalDirectory, path: Path, plan: object) -> list[str | None]:
        """Write the recording of a run where one is wanted; return what there is to say of it."""
        if self._config.stash[settings_key].mode is not Mode.RECORD or not path.is_file():
            return []
        from pytest_plugin_eval.execution.keeper import write_recording
        from pytest_plugin_eval.records.codec import read_record
        from pytest_plugin_eval.records.model import Arm

        assert isinstance(plan, dict)
        try:
            record: RunRecord = read_record(path)
        except RecordError as error:
            return [f"the recording could not be written: {error}"]
        last = plan["with_runs" if record.key.arm is Arm.WITH else "without_runs"]
        recordings = self._config.stash[workbench_key].records_dir(place)
        return [write_recording(recordings, record, last)]


def _is_expected(name: str) -> bool:
    """Whether a file is one that workers make, and lies below the directory that it is for."""
    parts = name.split("/")
    is_plain = not any(part in ("", ".", "..") or os.sep in part or "\0" in part for part in parts)
    return is_plain and _NAME.fullmatch(name) is not None
