"""A plugin with the results of a session of it, and a place with skills to score."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import JudgeBackend
from tests.support.rescoring import CASE, Captured, Saved, session
from tests.support.scores import FIND, FLAGGED
from tests.support.skills import write_skill
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


@pytest.fixture
def scored_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory with two skills and a plugin, where no model can be asked."""

    def nobody(**_: object) -> JudgeBackend:
        raise JudgeError("no judge: set ANTHROPIC_API_KEY")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(FIND, nobody)
    write_skill(tmp_path / "w1")
    write_skill(tmp_path / "other", FLAGGED)
    write_skill(tmp_path / "demo" / "skills" / "w1")
    (tmp_path / "demo" / ".claude-plugin").mkdir()
    return tmp_path
