"""The Messages API's judge in tests: what is asked of it, and a scripted API that answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_plugin_eval.judges.anthropic_sdk import AnthropicSdk
from pytest_plugin_eval.judges.base import Image, JudgeRequest
from tests.support.script import TurnData, rule, script
from tests.support.scripted_api import ScriptedApi

KEY = "sk-ant-scripted-0000"
MODEL = "claude-haiku-4-5"

MakeJudge = Callable[..., AnthropicSdk]
StartApi = Callable[[object], ScriptedApi]


def question(*parts: str | Image, **options: Any) -> JudgeRequest:
    """Return a request, about nothing in particular where nothing is given."""
    return JudgeRequest(model=MODEL, system="Be strict.", parts=parts or ("Good?",), **options)


def answering(*turns: TurnData) -> dict[str, object]:
    """Return a script that answers the requests one after the other."""
    return script(rule(kind="bare", runs=[[turn] for turn in turns]))
