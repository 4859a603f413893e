"""The skill that runs are made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.quality.parse import SkillSource
from tests.support.montecarlo import skill_in


@pytest.fixture
def w1(tmp_path: Path) -> SkillSource:
    return skill_in(tmp_path)
