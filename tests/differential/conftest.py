"""A suite of a plugin, for every differential test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.suite import Suite


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """Return the suite of a plugin called demo with a skill called greet, and no cases yet."""
    return Suite(tmp_path / "demo").plugin().skill()


@pytest.fixture
def loose(tmp_path: Path) -> Suite:
    """Return a suite that belongs to no plugin."""
    return Suite(tmp_path / "loose")
