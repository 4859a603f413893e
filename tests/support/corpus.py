"""The shared corpus of skills and plugins whose scores are known, where it is there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("PLUGIN_EVAL_SHARED") or Path(__file__).parents[3] / "shared")
CORPUS = SHARED / "corpus"
EXPECTED = CORPUS / "expected.json"

needs_corpus = pytest.mark.skipif(
    not EXPECTED.is_file(), reason="no shared corpus: name it by PLUGIN_EVAL_SHARED"
)


def expected() -> Mapping[str, Mapping[str, Mapping[str, object]]]:
    """Return the entries by section and name; none of what is not there."""
    if not EXPECTED.is_file():
        return {}
    data: dict[str, dict[str, dict[str, object]]] = json.loads(EXPECTED.read_text("utf-8"))
    return data
