"""The agent binary as a judge: what it is asked, what it answers, and what it leaves behind."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.execution.judging import find_judge
from pytest_plugin_eval.judges.agent_binary import AgentBinary
from pytest_plugin_eval.judges.anthropic_sdk import AnthropicSdk
from pytest_plugin_eval.judges.base import Image, JudgeReply, JudgeRequest, SlowDown
from tests.support.agents import write_files
from tests.support.reference import base_environment
from tests.support.script import TurnData, body, drop, error, judge, rule, script, tool, turn
from tests.support.scripted_api import ScriptedApi

pytestmark = pytest.mark.agent

MODEL = "claude-haiku-4-5"
TOKEN = "sk-ant-oat01-dummy"
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)
MakeJudge = Callable[..., AgentBinary]
StartApi = Callable[[object], ScriptedApi]


@pytest.fixture
def make_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeJudge]:
    """Return a function that makes the binary's judge for an API, for a user in ``home``."""
    monkeypatch.setattr(
        "pytest_plugin_eval.judges.anthropic_sdk._is_installed", lambda name: name != "anthropic"
    )
    (tmp_path / "home" / "tmp").mkdir(parents=True)
    with ExitStack() as stack:

        def make(api: ScriptedApi, slow_down: SlowDown = lambda _: None, **env: str) -> AgentBinary:
            backend = find_judge(
                env={
                    **base_environment(api.url, tmp_path / "home"),
                    "CLAUDE_CODE_MAX_RETRIES": "0",
                    **env,
                },
                agent_path=None,
                run_root=tmp_path / "runs",
                slow_down=slow_down,
            )
            stack.callback(backend.close)
            assert isinstance(backend, AgentBinary)
            return backend

        yield make


def _request(*parts: str | Image) -> JudgeRequest:
    return JudgeRequest(model=MODEL, system="Be strict.", parts=parts or ("Good?",))


def _answering(*turns: TurnData) -> dict[str, object]:
    return script(rule(kind="any", runs=[[turn] for turn in turns], end=None))


def _failure(backend: AgentBinary) -> JudgeError:
    with pytest.raises(JudgeError) as caught:
        backend.ask(_request())
    return caught.value


def test_answer_has_model_tokens_and_the_binarys_own_cost(
    scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    usage = {"input": 1000, "output": 100, "cache_read": 1000}
    backend = make_judge(scripted_api(_answering(turn("PASS", usage=usage))))

    reply = backend.ask(_request())

    assert reply.cost_usd == pytest.approx(0.001 + 0.0005 + 0.0001)
    assert replace(reply, cost_usd=None) == JudgeReply(
        text="PASS", model=MODEL, input_tokens=2000, output_tokens=100
    )


@pytest.mark.parametrize("sign_in", ["key", "subscription"])
def test_request_has_the_question_and_no_tools_or_thoughts(
    sign_in: str, scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    api = scripted_api(script(judge("PASS")))
    env = {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": TOKEN}

    make_judge(api, **(env if sign_in == "subscription" else {})).ask(
        _request("Criterion", Image("image/png", PICTURE), "One word.")
    )

    [request] = api.messages
    asked: Any = request.body
    assert (asked["model"], asked["tools"], asked.get("thinking")) == (MODEL, [], None)
    assert "Be strict." in [block["text"] for block in asked["system"]]
    [question] = [message for message in asked["messages"] if message["role"] == "user"]
    before, picture, after = [block for block in question["content"] if not _is_added(block)]
    assert (before["text"], after["text"]) == ("Criterion", "One word.")
    assert picture["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(PICTURE).decode(),
    }


def _is_added(block: dict[str, str]) -> bool:
    return block.get("text", "").startswith("<system-reminder>")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (turn("PASS", "FAIL"), "PASS\nFAIL"),
        (turn(), None),
        (turn(tool("Bash", command="ls")), None),
        (turn(tool("Bash", command="ls"), "PASS"), "PASS"),
    ],
    ids=["two texts", "nothing", "tool call", "text and tool call"],
)
def test_texts_are_taken_together(
    answer: TurnData, text: str | None, scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    assert make_judge(scripted_api(_answering(answer))).ask(_request()).text == text


@pytest.mark.parametrize("status", [400, 401, 403, 413, 429, 500, 529])
def test_refusal_has_its_status(status: int, scripted_api: StartApi, make_judge: MakeJudge) -> None:
    failure = _failure(make_judge(scripted_api(_answering(error(status)))))

    assert failure.status == status
    assert (failure.slow_down_until is not None) is (status in (429, 529))


@pytest.mark.parametrize(
    "fault", [drop(), drop(after_events=2), body("<html>")], ids=["drop", "inside", "garbled"]
)
def test_answer_that_is_none_fails(
    fault: TurnData, scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    assert _failure(make_judge(scripted_api(_answering(fault)))).status is None


def test_refused_key_is_asked_with_few_times(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(_answering(error(401)))

    failure = _failure(make_judge(api, CLAUDE_CODE_MAX_RETRIES=""))

    assert failure.status == 401
    assert len(api.messages) <= 3


def test_pause_is_told_before_the_binary_repeats_the_request(
    scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    api = scripted_api(_answering(error(429, headers={"retry-after": "1"}), turn("PASS")))
    told: list[tuple[float | None, int]] = []

    def slow_down(until: float | None) -> None:
        told.append((until, len(api.messages)))

    before = time.time()
    reply = make_judge(api, slow_down, CLAUDE_CODE_MAX_RETRIES="1").ask(_request())

    [(until, requests)] = told
    assert (reply.text, requests) == ("PASS", 1)
    assert until is not None
    assert before < until


def test_missing_sign_in_is_a_refused_credential(
    scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    api = scripted_api(script())

    failure = _failure(make_judge(api, ANTHROPIC_API_KEY=""))

    assert (failure.status, api.messages) == (401, ())


def test_credentials_file_signs_in(
    scripted_api: StartApi, make_judge: MakeJudge, tmp_path: Path
) -> None:
    login = {"accessToken": TOKEN, "expiresAt": 4_000_000_000_000, "scopes": ["user:inference"]}
    write_files(
        tmp_path / "home",
        {".claude/.credentials.json": json.dumps({"claudeAiOauth": login})},
    )
    api = scripted_api(script(judge("PASS")))

    reply = make_judge(api, ANTHROPIC_API_KEY="").ask(_request())

    assert reply.text == "PASS"
    assert api.messages[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("key", ["", "sk-ant-scripted-0000"], ids=["subscription", "key"])
def test_nothing_of_the_users_home_is_read(
    key: str, scripted_api: StartApi, make_judge: MakeJudge, tmp_path: Path
) -> None:
    touched = tmp_path / "touched"
    hook = {"hooks": [{"type": "command", "command": f"touch {touched}"}]}
    settings = {
        "hooks": {"SessionStart": [hook], "UserPromptSubmit": [hook]},
        "env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"},
        "model": "OWN-MODEL",
    }
    home = {
        ".claude/CLAUDE.md": "OWN-INSTRUCTIONS\n",
        ".claude/settings.json": json.dumps(settings),
        ".claude/skills/own/SKILL.md": "---\nname: own\ndescription: OWN-SKILL\n---\nDo.\n",
        ".claude/agents/own.md": "---\nname: own\ndescription: OWN-AGENT\n---\nDo.\n",
        "CLAUDE.md": "OWN-INSTRUCTIONS\n",
    }
    write_files(tmp_path / "home", home)
    before = _tree(tmp_path / "home")
    api = scripted_api(script(judge("PASS")))
    env = {"ANTHROPIC_API_KEY": key, "CLAUDE_CODE_OAUTH_TOKEN": TOKEN}

    reply = make_judge(api, **env).ask(_request())

    assert reply.text == "PASS"
    assert "OWN-" not in json.dumps(api.messages[0].body)
    assert not touched.exists()
    assert _tree(tmp_path / "home") == before


def test_closing_ends_a_question_in_flight(
    scripted_api: StartApi, make_judge: MakeJudge, tmp_path: Path
) -> None:
    api = scripted_api(_answering(turn("PASS", delay_s=600)))
    backend = make_judge(api)
    failures: list[JudgeError] = []
    thread = threading.Thread(target=lambda: failures.append(_failure(backend)))
    thread.start()
    api.wait_for_messages(1)

    backend.close()
    thread.join(60)

    assert [str(failure) for failure in failures] == ["the session was stopped"]
    assert list((tmp_path / "runs").iterdir()) == []


def test_questions_at_once_have_places_of_their_own(
    scripted_api: StartApi, make_judge: MakeJudge, tmp_path: Path
) -> None:
    backend = make_judge(scripted_api(_answering("PASS")))
    replies: list[str | None] = []
    threads = [
        threading.Thread(target=lambda: replies.append(backend.ask(_request()).text))
        for _ in range(3)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    backend.close()

    assert replies == ["PASS"] * 3
    assert list((tmp_path / "runs").iterdir()) == []


def test_both_back_ends_send_the_same_question(
    scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    api = scripted_api(script(judge("PASS")))
    request = _request("Criterion", Image("image/png", PICTURE), "One word.")
    direct = AnthropicSdk({"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "k"})

    direct.ask(request)
    direct.close()
    make_judge(api).ask(request)

    [by_package, by_binary] = [_question(message.body) for message in api.messages]
    assert by_package == by_binary


def _question(body: Any) -> object:
    [question] = [message for message in body["messages"] if message["role"] == "user"]
    # The binary marks the end of the question for the cache.
    return [
        {name: value for name, value in block.items() if name != "cache_control"}
        for block in question["content"]
    ]


def _tree(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if "tmp" not in path.parts[len(root.parts) :])
