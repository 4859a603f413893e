"""Skills to be scored, and what asks models about them in the tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path

from pytest_plugin_eval.judges.base import JudgeBackend
from pytest_plugin_eval.quality.asking import Asking
from pytest_plugin_eval.quality.parse import SkillSource, read_skill
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter

W1 = (
    "---\nname: w1\ndescription: Use this skill when testing things.\n---\n"
    "\n# W1\n\nTakes an input and returns JSON.\n"
)
"""The skill of the worked example of all layers. Spec: quality-score, 15."""
W1_DESCRIPTION = "Use this skill when testing things."
TRIGGERING = {"predictions": [], "precision": 1.0, "recall": 0.8, "f1": 0.9}
ORCHESTRATION = {"score": 0.75, "reasoning": "r", "evidence": ["e"]}
OUTPUT_QUALITY = {"score": 0.6, "simulations": []}
SCOPE = {"score": 0.5, "assessment": "a"}
REPLIES: tuple[Mapping[str, object], ...] = (TRIGGERING, ORCHESTRATION, OUTPUT_QUALITY, SCOPE)
"""In the order in which one judge is asked."""
PHRASES = (
    "sees nothing of a skill but its description",
    "A good skill is a worker",
    "by the work it would lead to",
    "the right amount of ground",
)
"""Which of the four questions a request is."""
WAIT_S = 30.0


class InFlight:
    """Holds calls until *count* are there, and remembers how many there were at most."""

    def __init__(self, count: int) -> None:
        """Expect calls in multiples of *count*."""
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()
        self._barrier = threading.Barrier(count)

    def __call__(self, *_: object) -> None:
        """Stand in the way of one call."""
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        self._barrier.wait(WAIT_S)
        with self._lock:
            self._now -= 1
        self._barrier.wait(WAIT_S)


def texts(*replies: Mapping[str, object]) -> list[str]:
    """Return replies as a model writes them."""
    return [json.dumps(reply) for reply in replies or REPLIES]


def write_skill(directory: Path, text: str = W1) -> Path:
    """Write a skill and return its directory."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "SKILL.md").write_text(text, encoding="utf-8")
    return directory


def skill(directory: Path, text: str = W1) -> SkillSource:
    """Return a skill that was written to *directory*."""
    return read_skill(write_skill(directory, text))


def asking_of(
    backend: JudgeBackend,
    *,
    ceiling_usd: float | None = None,
    ledger: Ledger | None = None,
    env: Mapping[str, str] | None = None,
    judge_model: str | None = None,
    model: str | None = None,
) -> Asking:
    """Return what asks a back end, with a ledger of its own unless one is given."""
    return Asking(
        lambda: backend,
        ledger=ledger or Ledger(ceiling_usd),
        limiter=Limiter(),
        env=env or {},
        judge_model=judge_model,
        model=model,
    )
