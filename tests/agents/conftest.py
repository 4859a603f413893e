"""The backend with the real agent binary, in directories of the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pytest_plugin_eval.agents.claude_cli import ClaudeCli
from tests.support.fixtures import written_documents
from tests.support.reference import base_environment
from tests.support.scripted_api import ScriptedApi

__all__ = ["written_documents"]

MakeBackend = Callable[..., ClaudeCli]
KEY = "sk-ant-scripted-0000"
"""The dummy key that `base_environment` exports."""


def make_backend(
    api: ScriptedApi,
    base: Path,
    *,
    env: Mapping[str, str] | None = None,
    agent_path: Path | None = None,
    run_root: Path | None = None,
) -> ClaudeCli:
    """Return a backend whose operator lives in ``base/home``; its run root is ``base/runs``."""
    (base / "home" / "tmp").mkdir(parents=True, exist_ok=True)
    operator = {**base_environment(api.url, base / "home"), **(env or {})}
    return ClaudeCli.find(agent_path=agent_path, env=operator, run_root=run_root or base / "runs")


@pytest.fixture
def backend(tmp_path: Path) -> MakeBackend:
    """Return a function that makes a backend for an API."""
    return lambda api, **options: make_backend(api, tmp_path, **options)
