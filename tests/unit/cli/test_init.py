"""`plugin-eval init`: what it does to an index that is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.main import main

Captured = pytest.CaptureFixture[str]


def _corpus(base: Path) -> Path:
    skill = base / "corpus/demo/skills/one"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: one\ndescription: Does it.\n---\n")
    return base / "corpus"


def test_directory_without_a_skill_empties_no_index(tmp_path: Path, capsys: Captured) -> None:
    index = tmp_path / "index"
    assert main(["init", str(_corpus(tmp_path)), "--corpus-dir", str(index)]) == 0
    before = (index / "index.json").read_bytes()
    (tmp_path / "wrong").mkdir()

    assert main(["init", str(tmp_path / "wrong"), "--corpus-dir", str(index)]) == 2

    assert (index / "index.json").read_bytes() == before
    err = capsys.readouterr().err
    assert "holds no skill, expected <plugin>/skills/<skill>/SKILL.md in it" in err
    assert "stays as it is" in err


def test_first_index_may_be_empty_and_says_so(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "empty").mkdir()

    assert main(["init", str(tmp_path / "empty"), "--corpus-dir", str(tmp_path / "index")]) == 0

    assert json.loads((tmp_path / "index/index.json").read_text()) == []
    out, err = capsys.readouterr()
    assert "0 skills" in out
    assert "warning:" in err
