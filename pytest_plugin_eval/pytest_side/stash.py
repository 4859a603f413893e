"""The keys under which this plugin keeps its state; one owner each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.arguments import Picked
    from pytest_plugin_eval.pytest_side.payload import PayloadCodec
    from pytest_plugin_eval.pytest_side.state import CollectionState
    from pytest_plugin_eval.pytest_side.workbench import Workbench
    from pytest_plugin_eval.scoring.model import RunReport
    from pytest_plugin_eval.settings import Settings

__all__ = [
    "codec_key",
    "collection_key",
    "marks_key",
    "picked_key",
    "report_key",
    "settings_key",
    "workbench_key",
]

settings_key: pytest.StashKey[Settings] = pytest.StashKey()
marks_key: pytest.StashKey[tuple[str, ...]] = pytest.StashKey()
picked_key: pytest.StashKey[Picked] = pytest.StashKey()
collection_key: pytest.StashKey[CollectionState] = pytest.StashKey()
workbench_key: pytest.StashKey[Workbench] = pytest.StashKey()
codec_key: pytest.StashKey[PayloadCodec] = pytest.StashKey()
report_key: pytest.StashKey[RunReport] = pytest.StashKey()
