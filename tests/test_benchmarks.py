"""The benchmarks run; what they measure is no test's business."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "name",
    [
        "idle",
        "collect",
        "replay",
        "page",
        "composite",
        "quality",
        *(pytest.param(name, marks=pytest.mark.agent) for name in ("live", "judging", "mocks")),
    ],
)
def test_benchmark_runs(name: str) -> None:
    command = [sys.executable, "-m", f"benchmarks.{name}", "--quick"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "goal" in done.stdout
