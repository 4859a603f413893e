"""A judge that asks a scripted Messages API by the real package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from pytest_plugin_eval.judges.anthropic_sdk import AnthropicSdk
from pytest_plugin_eval.judges.base import SlowDown
from tests.support.scripted_api import ScriptedApi
from tests.support.sdk import KEY, MakeJudge


@pytest.fixture
def make_judge() -> Iterator[MakeJudge]:
    """Return a function that makes a judge for an API, without repetitions by default."""
    with ExitStack() as stack:

        def make(
            api: ScriptedApi, slow_down: SlowDown = lambda _: None, **env: str
        ) -> AnthropicSdk:
            backend = AnthropicSdk(
                {
                    "ANTHROPIC_BASE_URL": api.url,
                    "ANTHROPIC_API_KEY": KEY,
                    "CLAUDE_CODE_MAX_RETRIES": "0",
                    **env,
                },
                secrets=(KEY,),
                slow_down=slow_down,
            )
            stack.callback(backend.close)
            return backend

        yield make
