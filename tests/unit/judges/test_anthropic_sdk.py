"""The Messages API through the real package, against the scripted API: what is asked and said."""

from __future__ import annotations

import base64
import threading
import warnings
from dataclasses import replace
from typing import Any

import pytest

from pytest_plugin_eval.judges.base import Image, JudgeReply, JudgeRequest
from tests.support.script import TurnData, body, judge, script, text, thinking, tool, turn
from tests.support.sdk import MODEL, MakeJudge, StartApi, answering, question

PICTURE = Image("image/png", bytes(range(256)) * 40)


def test_request_is_one_message_without_tools(
    scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    api = scripted_api(script(judge("PASS")))

    make_judge(api).ask(question("Criterion", "Output", max_tokens=9))

    [request] = api.messages
    assert request.body == {
        "model": MODEL,
        "system": "Be strict.",
        "max_tokens": 9,
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Criterion"},
                    {"type": "text", "text": "Output"},
                ],
            }
        ],
    }


def test_reply_tells_model_tokens_and_price(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    usage = {"input": 1000, "output": 100, "cache_read": 1000, "cache_write": 1000}
    api = scripted_api(answering(turn("PASS", usage=usage)))

    reply = make_judge(api).ask(question())

    assert reply.cost_usd == pytest.approx(0.001 + 0.0005 + 0.0001 + 0.00125)
    assert replace(reply, cost_usd=None) == JudgeReply(
        text="PASS", model=MODEL, input_tokens=3000, output_tokens=100
    )


def test_model_is_the_one_that_was_served(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    answer = (
        '{"type": "message", "model": "claude-opus-5-5", "content": [],'
        ' "usage": {"input_tokens": 1000, "output_tokens": 100}}'
    )
    api = scripted_api(answering(body(answer)))

    reply = make_judge(api).ask(question())

    assert reply.model == "claude-opus-5-5"
    assert reply.cost_usd == pytest.approx(0.006)


def test_price_of_an_unknown_model_is_unknown(
    scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    backend = make_judge(scripted_api(script(judge("PASS"))))

    reply = backend.ask(JudgeRequest(model="my-model", system="", parts=("Good?",)))

    assert reply.cost_usd is None
    assert backend.estimate_usd("my-model", input_tokens=1, output_tokens=1) is None
    assert backend.estimate_usd(MODEL, input_tokens=1000, output_tokens=0) == pytest.approx(0.001)


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-5"])
def test_model_that_retires_can_judge_in_a_strict_session(
    model: str, scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    backend = make_judge(scripted_api(script(judge("PASS"))))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reply = backend.ask(JudgeRequest(model=model, system="", parts=("?",)))

    assert reply.text == "PASS"


def test_picture_arrives_intact(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(script(judge("PASS")))

    make_judge(api).ask(question("Look:", PICTURE, "One word."))

    messages: Any = api.messages[0].body["messages"]
    before, picture, after = messages[0]["content"]
    assert (before["text"], after["text"]) == ("Look:", "One word.")
    assert picture["source"]["media_type"] == "image/png"
    assert base64.b64decode(picture["source"]["data"]) == PICTURE.data


def test_text_that_is_no_unicode_can_be_judged(
    scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    api = scripted_api(script(judge("PASS")))

    reply = make_judge(api).ask(question("a\ud800b\x00c"))

    messages: Any = api.messages[0].body["messages"]
    assert reply.text == "PASS"
    assert messages[0]["content"][0]["text"] == "a\ufffdb\x00c"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (turn("PASS"), "PASS"),
        (turn("PASS", "FAIL"), "PASS\nFAIL"),
        (turn(thinking("hm"), "PASS"), "PASS"),
        (turn(text("")), ""),
        (turn(), None),
        (turn(tool("Bash", command="ls")), None),
        (turn(thinking("hm")), None),
    ],
    ids=["text", "two texts", "thoughts", "empty text", "nothing", "tool call", "thoughts alone"],
)
def test_texts_are_taken_together(
    answer: TurnData, expected: str | None, scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    backend = make_judge(scripted_api(answering(answer)))

    assert backend.ask(question()).text == expected


def test_many_threads_ask_at_once(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(answering(turn("PASS", delay_s=0.05)))
    backend = make_judge(api)
    replies: list[str | None] = []
    threads = [
        threading.Thread(target=lambda: replies.append(backend.ask(question()).text))
        for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert replies == ["PASS"] * 8
