"""A plugin, and the results of a session of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.rescoring import CASE, Captured, Saved, session
from tests.support.suites import MANIFEST, write_tree


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Return a plugin with one case."""
    files = {f"evals/first/{name}": text for name, text in CASE.items()}
    return write_tree(tmp_path / "plugin", {**MANIFEST, **files})


@pytest.fixture
def saved(plugin: Path, capsys: Captured) -> Saved:
    """Return the results of a session of that plugin."""
    return session(plugin, capsys)
