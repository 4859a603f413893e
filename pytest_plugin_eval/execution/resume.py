"""Going on in the results directory of a session that did not get to its end."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_plugin_eval.agents.replay import has_other_mocks
from pytest_plugin_eval.cases.fingerprint import (
    newer_files,
    plugin_hash,
    prompt_hash,
    scaffold_hash,
    settings_hash,
)
from pytest_plugin_eval.errors import RecordError, SettingsError
from pytest_plugin_eval.execution.keeper import RUNS
from pytest_plugin_eval.execution.planning import PlannedCase
from pytest_plugin_eval.records.codec import decode, read_record
from pytest_plugin_eval.records.layout import record_path
from pytest_plugin_eval.records.model import RunKey, RunOutcome, RunRecord
from pytest_plugin_eval.settings import Settings
from pytest_plugin_eval.storage.session_file import (
    PLUGIN_CHANGED,
    SESSION_FILE,
    differences,
    other_cases,
    read_session_file,
    session_facts,
)

__all__ = ["Resume", "with_earlier"]

NAMED = 6
"""Differences that are told one by one; the others are counted."""


class Resume:
    """What is left of an earlier session in one suite's results directory.

    Asks the files each time, so that every process of a session gets the same answers.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._runs = directory / RUNS

    def check(
        self,
        planned: Sequence[PlannedCase],
        settings: Settings,
        agent_version: str,
        env: Mapping[str, str],
    ) -> tuple[str, ...]:
        """Return lines for the reader: what is gone on with, which cases are new or left out.

        *planned* are the cases of this suite root. Raises `SettingsError`, listing what changed,
        when the runs that are lacking would be made with something else than those that are there.
        """
        now = session_facts(
            (one.case for one in planned), settings, agent_version=agent_version, env=env
        )
        try:
            then = read_session_file(self._directory)
        except RecordError as error:
            raise SettingsError(f"--eval-resume: {error}") from error
        if then is None and next(self._runs.rglob("*.jsonl"), None) is not None:
            raise SettingsError(
                f"--eval-resume: {self._directory} does not tell what its runs were made with, "
                "expected a session.json there; grade its runs with --eval-mode replay --eval-from"
            )
        changed = [*differences(then, now)] if then is not None else []
        if not changed:
            changed = [line for one in planned for line in self._stale(one)]
        if changed:
            newer = newer_files((one.case for one in planned), self._began_at())
            raise SettingsError(_refusal(self._directory, changed, newer))
        others = other_cases(then, now) if then is not None else ()
        # Not how many runs there are: the first worker of a session may have added one by now.
        return (f"resuming {self._directory}", *others)

    def finished(self, key: RunKey) -> RunRecord | None:
        """Return the record of a run that was made and measured, else ``None``."""
        record = self._record(key)
        return record if record is not None and record.outcome.is_measured else None

    def unmeasured(self, key: RunKey) -> RunRecord | None:
        """Return the record of a run that was made and has to be made again, else ``None``.

        Where it cannot be, this is still what became of it, and what it cost.
        """
        record = self._record(key)
        return None if record is None or record.outcome.is_measured else record

    def earlier(self, key: RunKey) -> RunOutcome | None:
        """Return the outcome of a run that has to be made again; ``None`` if it was never made.

        Its cost and attempts still count, see `with_earlier`. Of a record that was cut they are
        known as long as its first line is whole.
        """
        record = self.unmeasured(key)
        return self._outcome_of_torn(key) if record is None else record.outcome

    def note(self, key: RunKey) -> str | None:
        """Return what to say of a run whose record is there and of no use, else ``None``."""
        path = record_path(self._runs, key)
        try:
            record = read_record(path)
        except RecordError as error:
            return f"made again: {error}" if path.exists() else None
        if record.key != key:
            return f"made again: {path}: is the record of another run"
        return None

    def _stale(self, planned: PlannedCase) -> list[str]:
        """Return what differs between a case and the measured records that are there of it."""
        case, changed = planned.case, []
        current = {
            "prompt": (prompt_hash(case), "the prompt has"),
            "settings": (settings_hash(case), "the settings have"),
            "scaffold": (scaffold_hash(case), "the scaffold script has"),
            "plugin": (plugin_hash(case) or "", PLUGIN_CHANGED.removesuffix(" changed")),
        }
        for record in filter(None, map(self.finished, planned.keys)):
            for name, (value, words) in current.items():
                # Runs without the plugin have no hash of it.
                if record.provenance.get(name, value) != value:
                    changed.append(f"{words} changed since the record of a run, of {case.id}")
            if has_other_mocks(case, record):
                changed.append(f"the mocks have changed since the record of a run, of {case.id}")
        return list(dict.fromkeys(changed))

    def _began_at(self) -> float:
        try:
            return (self._directory / SESSION_FILE).stat().st_mtime
        except OSError:
            return math.inf

    def _record(self, key: RunKey) -> RunRecord | None:
        try:
            record = read_record(record_path(self._runs, key))
        except RecordError:
            return None
        # Copied or renamed by hand: a run that was made once must not count as another one.
        return record if record.key == key else None

    def _outcome_of_torn(self, key: RunKey) -> RunOutcome | None:
        path = record_path(self._runs, key)
        if self._record(key) is not None:
            return None
        try:
            with path.open("rb") as file:
                header = json.loads(file.readline())
            alone = json.dumps({**header, "trace_lines": 0, "file_lines": 0})
            record = decode(f"{alone}\n".encode(), str(path))
        except (OSError, ValueError, TypeError, RecursionError, RecordError):
            return None
        return record.outcome if record.key == key else None


def with_earlier(outcome: RunOutcome, earlier: RunOutcome | None) -> RunOutcome:
    """Return *outcome* with the cost and the attempts of what was made of the same run before.

    The cost is unknown where one of them is; what is known of it is kept.
    """
    if earlier is None:
        return outcome
    whole = outcome.with_cost(earlier.cost_usd, earlier.known_usd)
    return replace(whole, attempts=outcome.attempts + earlier.attempts)


def _refusal(directory: Path, changed: Sequence[str], newer: Sequence[str]) -> str:
    more = len(changed) - NAMED
    lines = [*changed[:NAMED], *([f"and {more} more"] if more > 0 else [])]
    if newer and any(PLUGIN_CHANGED in line for line in changed):
        others = f" and {len(newer) - NAMED} more" if len(newer) > NAMED else ""
        lines.append(f"files of the plugin that are newer: {', '.join(newer[:NAMED])}{others}")
    return "\n  ".join(
        (
            f"--eval-resume: {directory} was made with something else, so its runs and new ones "
            "would not be of one kind; start anew without --eval-resume",
            *lines,
        )
    )
