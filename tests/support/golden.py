"""Compare rendered text with a stored file; `UPDATE_GOLDEN=1` renews the files."""

from __future__ import annotations

import os
from pathlib import Path

DIRECTORY = Path(__file__).parent.parent / "golden"


def check_golden(name: str, text: str) -> None:
    """Assert that *text* is what the golden file of that name holds."""
    path = DIRECTORY / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{name} differs; see tests/golden/README.md"
