"""Records from a recordings or results directory instead of an agent."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pytest_plugin_eval.agents.base import AgentRequest
from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.cases.fingerprint import (
    plugin_hash,
    prompt_hash,
    scaffold_hash,
    settings_hash,
    stand_ins_hash,
)
from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.layout import record_path
from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunOutcome, RunRecord
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.text import shown

__all__ = ["Replay", "changed_since", "has_other_mocks"]


class Replay:
    """An agent backend that reads what earlier runs left behind; needs no binary and no key."""

    def __init__(self, sources: Mapping[Path, Path], *, named: bool) -> None:
        """Replay from *sources*, record directories by suite root.

        *named*: the user named the results, so a record of an older prompt is graded all the same
        (decisions, 16).
        """
        self._sources = sources
        self._named = named

    def run(self, request: AgentRequest) -> RunRecord:
        """Return the saved record of a run, or one that says why it cannot be used."""
        path = record_path(self._sources[request.case.root], request.key)
        try:
            record = read_record(path)
        except RecordError as error:
            return _unusable(request, str(error))
        if record.key != request.key:
            # Copied or renamed by hand: a run that was made once must not count as another one.
            return _unusable(
                request,
                f"{path}: is the record of {_named(record.key)}, expected that of "
                f"{_named(request.key)}; record the case again with --eval-mode record",
            )
        changed = [] if self._named else changed_since(request.case, record)
        if changed:
            return _unusable(
                request,
                f"the record is stale: {' and '.join(changed)} changed since it was made; record "
                "the case again with --eval-mode record, or name the results with --eval-from",
            )
        return record if _same_plugin(request, record) else _of_older_plugin(record)

    def stop(self) -> None:
        """Do nothing: a replayed run is over at once."""

    def close(self) -> tuple[str, ...]:
        """Return nothing: a replay leaves nothing behind."""
        return ()


def _same_plugin(request: AgentRequest, record: RunRecord) -> bool:
    recorded = record.provenance.get("plugin")
    return recorded is None or recorded == plugin_hash(request.case)


def _of_older_plugin(record: RunRecord) -> RunRecord:
    # Still graded: this is how an author sees what the old version did (decisions, 16).
    return replace(record, provenance={**record.provenance, "plugin_changed": "yes"})


def changed_since(case: Case, record: RunRecord) -> list[str]:
    """Return what of the case is not as it was when the record was made, in words."""
    checks = (
        ("prompt", prompt_hash, "the prompt"),
        ("settings", settings_hash, "a setting of the case"),
    )
    recorded = record.provenance.get("scaffold", "")
    scaffold = ["the scaffold script"] if recorded not in {"", scaffold_hash(case)} else []
    mocks = ["a mock of the case"] if has_other_mocks(case, record) else []
    return [
        *scaffold,
        *(
            word
            for name, current, word in checks
            if name in record.provenance and record.provenance[name] != current(case)
        ),
        *mocks,
    ]


def has_other_mocks(case: Case, record: RunRecord) -> bool:
    """Return whether the run would now be served by other mocks than when it was recorded.

    A record that has the hash of its settings and none of mocks had no mocks.
    """
    if "settings" not in record.provenance:
        return False
    current = stand_ins_hash(case, with_plugins=record.key.arm is Arm.WITH)
    return record.provenance.get("mocks", "") != current


def _named(key: RunKey) -> str:
    return f"{shown(key.case)} {key.arm.value}-{key.number}"


def _unusable(request: AgentRequest, error: str) -> RunRecord:
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    outcome = RunOutcome(
        ending=Ending.SETUP_FAILED, error=error, started_at=now.replace("+00:00", "Z")
    )
    return RunRecord(key=request.key, outcome=outcome, trace=Trace())
