"""A pytest plugin with the least that a collector of directories can do, to compare ours with.

Loaded by ``-p bare_collector``. It takes the same directories as cases and yields as many items,
which do nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

ITEMS = 6


class BareItem(pytest.Item):
    """An item that passes."""

    def runtest(self) -> None:
        """Do nothing."""


class BareCase(pytest.Directory):
    """A directory with items."""

    def collect(self) -> Iterator[BareItem]:
        """Yield the items."""
        for number in range(ITEMS):
            yield BareItem.from_parent(self, name=f"run-{number}")


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> BareCase | None:
    """Answer for directories that hold a prompt."""
    if not (path / "prompt.md").is_file():
        return None
    return BareCase.from_parent(parent, path=path)
