"""What the commands of the quality score are tried with."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.judges.base import JudgeBackend
from tests.support.judges import FakeBackend
from tests.support.skills import texts

FIND = "pytest_plugin_eval.execution.judging.find_judge"
QUICK_SCORE = 60.984848484848484
"""Of the skill ``w1``. Spec: 15, example 5."""
FLAGGED = "---\nname: other\ndescription: Short.\n---\n\n# Other\n\nSee skills/ghost.\n"
COMMANDS = ("score", "certify", "compare")
FORMATS = ("json", "markdown", "html", "table")


def answer_by(monkeypatch: pytest.MonkeyPatch, backend: JudgeBackend) -> None:
    """Have *backend* found as the judge."""
    monkeypatch.setattr(FIND, lambda **_: backend)


def whole_judge() -> FakeBackend:
    """Return a judge that answers the four questions."""
    return FakeBackend(*texts())
