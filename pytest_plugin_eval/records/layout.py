"""Where the record of a run lies below the directory that holds them."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.records.model import Arm, RunKey
from pytest_plugin_eval.text import shown

__all__ = ["record_path", "recorded_keys"]

_NAME = re.compile(r"(with|without)-([1-9][0-9]{0,8})\.jsonl")


def record_path(base: Path, key: RunKey) -> Path:
    """Return ``base/<case id>/<arm>-<number>.jsonl``.

    Raises `RecordError` for a case id that is not a plain relative path, so that a record of
    foreign origin cannot name a file outside *base*.
    """
    parts = key.case.split("/")
    if any(part in ("", ".", "..") or "\0" in part or os.sep in part for part in parts):
        raise RecordError(
            f"case id must be a relative path without '..' or empty parts, got {shown(key.case)}"
        )
    return base.joinpath(*parts, f"{key.arm.value}-{key.number}.jsonl")


def recorded_keys(base: Path) -> tuple[RunKey, ...]:
    """Return the keys of all record files below *base*, sorted; empty when it does not exist."""
    keys = []
    for directory, _, names in os.walk(base):
        case = PurePosixPath(Path(directory).relative_to(base).as_posix())
        if not case.parts:
            continue
        for name in names:
            found = _NAME.fullmatch(name)
            if found:
                keys.append(RunKey(case=str(case), arm=Arm(found[1]), number=int(found[2])))
    return tuple(sorted(keys))
