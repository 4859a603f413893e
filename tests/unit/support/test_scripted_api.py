"""The scripted Messages API, asked by a plain HTTP client."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.script import (
    TurnData,
    body,
    drop,
    error,
    judge,
    rule,
    script,
    text,
    thinking,
    tool,
    turn,
)
from tests.support.script_model import ScriptError, parse_script
from tests.support.scripted_api import ScriptedApi

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = "# Environment\n - Primary working directory: /runs/1/home/cwd\n - Platform: linux"
REMINDER = {"type": "text", "text": "<system-reminder>\nnotes\n</system-reminder>"}

Body = dict[str, Any]


def _request(prompt: str = "hello", *history: Body, **options: object) -> Body:
    """Return a request as the agent makes it."""
    user = {"role": "user", "content": [REMINDER, {"type": "text", "text": prompt}]}
    system = {"role": "system", "content": ENVIRONMENT}
    request = {"model": "claude-demo-1", "messages": [user, system, *history], "stream": False}
    return {**request, "tools": [{"name": "Read"}], **options}


def _said(words: str = "...") -> Body:
    return {"role": "assistant", "content": [{"type": "text", "text": words}]}


def _results() -> Body:
    """Return a message of tool results as it looks after a skill call."""
    result = {"type": "tool_result", "tool_use_id": "t", "content": "Launching"}
    skill_body = {"type": "text", "text": "Base directory of the skill, and hello again"}
    return {"role": "user", "content": [result, skill_body]}


@contextmanager
def _connection(api: ScriptedApi) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection("127.0.0.1", api.port, timeout=30)) as connection:
        yield connection


def _post(
    api: ScriptedApi,
    request: object,
    *,
    session: str = "s",
    agent_id: str = "",
    path: str = "/v1/messages?beta=true",
) -> tuple[int, Mapping[str, str], bytes]:
    headers = {"X-Claude-Code-Session-Id": session}
    if agent_id:
        headers["x-claude-code-agent-id"] = agent_id
    with _connection(api) as connection:
        connection.request("POST", path, json.dumps(request), headers)
        response = connection.getresponse()
        names = {name.lower(): value for name, value in response.getheaders()}
        return response.status, names, response.read()


def _ask(api: ScriptedApi, request: Body, *, session: str = "s", agent_id: str = "") -> Body:
    status, _, answer = _post(api, request, session=session, agent_id=agent_id)
    assert status == 200, answer
    parsed: Body = json.loads(answer)
    return parsed


def _words(answer: Body) -> str:
    return "|".join(block.get("text", block.get("name")) for block in answer["content"])


def _events(answer: bytes) -> list[Body]:
    chunks = answer.decode().split("\n\n")
    return [json.loads(chunk.partition("\ndata: ")[2]) for chunk in chunks if chunk]


def test_json_answer_has_blocks_ids_stop_reason_and_usage() -> None:
    usage = {"input": 5, "output": 6, "cache_write": 7, "cache_read": 8}
    answer = turn("see", thinking("hm"), tool("Read", file_path="{cwd}/a.txt"), usage=usage)

    with ScriptedApi(script(rule(turns=[answer]))) as api:
        message = _ask(api, _request())

    assert message["content"] == [
        {"type": "text", "text": "see"},
        {"type": "thinking", "thinking": "hm", "signature": "scripted"},
        {
            "type": "tool_use",
            "id": "toolu_1_0_0_3610a686_2",
            "name": "Read",
            "input": {"file_path": "/runs/1/home/cwd/a.txt"},
        },
    ]
    assert (message["model"], message["stop_reason"]) == ("claude-demo-1", "tool_use")
    assert message["usage"] == {
        "input_tokens": 5,
        "output_tokens": 6,
        "cache_creation_input_tokens": 7,
        "cache_read_input_tokens": 8,
    }


def test_stream_has_the_events_of_the_api_in_order() -> None:
    answer = turn(thinking("hm"), "see", tool("Read", file_path="é"), stop_reason="max_tokens")

    with ScriptedApi(script(rule(turns=[answer]))) as api:
        _, headers, raw = _post(api, _request(stream=True))

    events = _events(raw)
    assert headers["content-type"].startswith("text/event-stream")
    assert [event["type"] for event in events] == [
        "message_start",
        *("content_block_start", "content_block_delta", "content_block_delta"),
        *("content_block_stop", "content_block_start", "content_block_delta"),
        *("content_block_stop", "content_block_start", "content_block_delta"),
        *("content_block_stop", "message_delta", "message_stop"),
    ]
    assert events[6]["delta"] == {"type": "text_delta", "text": "see"}
    assert json.loads(events[9]["delta"]["partial_json"]) == {"file_path": "é"}
    assert events[11]["delta"]["stop_reason"] == "max_tokens"
    assert events[11]["usage"] == {"output_tokens": 10}


def test_turns_follow_the_assistant_messages_after_the_prompt() -> None:
    history = [_said(), _results(), _said(), {"role": "user", "content": [REMINDER]}]

    with ScriptedApi(script(rule(prompt="hello", turns=["one", "two", "three"]))) as api:
        first = _ask(api, _request("hello"))
        second = _ask(api, _request("hello", *history[:2]))
        third = _ask(api, _request("hello", *history))

    assert [_words(answer) for answer in (first, second, third)] == ["one", "two", "three"]


def test_earlier_conversation_does_not_count() -> None:
    request = _request("old words", _said(), {"role": "user", "content": "new words"})

    with ScriptedApi(script(rule(prompt="new", turns=["one", "two"]))) as api:
        answer = _ask(api, request)

    assert _words(answer) == "one"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({}, "Done.", id="end text"),
        pytest.param({"end": "Enough."}, "Enough.", id="end text of the rule"),
        pytest.param({"end": None}, "one", id="repeated"),
    ],
)
def test_answer_beyond_the_last_turn(options: Mapping[str, object], expected: str) -> None:
    with ScriptedApi(script(rule(turns=["one"], **options))) as api:
        answer = _ask(api, _request("hello", _said(), _results()))

    assert _words(answer) == expected


LISTING = {"system": [{"type": "text", "text": "Skills:\n- demo:greet: Greets"}]}


@pytest.mark.parametrize(
    ("conditions", "request_options", "fits"),
    [
        pytest.param({"prompt": "hell"}, {}, True, id="prompt"),
        pytest.param({"prompt": ["he", "lo"]}, {}, True, id="prompt, all texts"),
        pytest.param({"prompt": ["he", "x"]}, {}, False, id="prompt, one text missing"),
        pytest.param({"prompt": "notes"}, {}, False, id="prompt is not a reminder"),
        pytest.param({"contains": "notes"}, {}, True, id="contains sees reminders"),
        pytest.param({"contains": "absent"}, {}, False, id="contains"),
        pytest.param({"arm": "with"}, LISTING, True, id="with"),
        pytest.param({"arm": "with"}, {}, False, id="not with"),
        pytest.param({"arm": "without"}, {}, True, id="without"),
        pytest.param({"arm": "without"}, LISTING, False, id="not without"),
        pytest.param({"arm": "with", "plugin_text": "Read"}, {}, True, id="name of a tool"),
        pytest.param({"model": "claude-*"}, {}, True, id="model"),
        pytest.param({"model": "*-haiku-*"}, {}, False, id="other model"),
        pytest.param({"kind": "bare"}, {}, False, id="not bare"),
        pytest.param({"kind": "bare"}, {"tools": []}, True, id="bare"),
        pytest.param({}, {"tools": []}, False, id="main is the default"),
        pytest.param({"kind": "any"}, {"tools": []}, True, id="any"),
    ],
)
def test_rule_fits_when_all_conditions_hold(
    conditions: Mapping[str, object], request_options: Mapping[str, object], fits: bool
) -> None:
    answers = script(rule(turns=["fits"], **conditions), plugin_text="demo:greet", default="not")

    with ScriptedApi(answers) as api:
        answer = _ask(api, {**_request(), **request_options})

    assert _words(answer) == ("fits" if fits else "not")


def test_words_of_the_conversation_do_not_show_the_plugin() -> None:
    answers = script(rule(arm="with", turns=["with"]), plugin_text="demo:greet", default="without")

    with ScriptedApi(answers) as api:
        answer = _ask(api, _request("use demo:greet", _said("demo:greet"), _results()))

    assert _words(answer) == "without"


def test_subagent_is_known_by_its_header() -> None:
    answers = script(rule(turns=["main"]), rule(kind="subagent", turns=["sub"]))

    with ScriptedApi(answers) as api:
        spoken = [_words(_ask(api, _request(), agent_id=agent)) for agent in ("", "a1")]

    assert spoken == ["main", "sub"]


def test_runs_take_turns_between_conversations_and_hold_within_one() -> None:
    answers = script(rule(runs=[["a1", "a2"], ["b1", "b2"]]))
    later = _request("hello", _said(), _results())

    with ScriptedApi(answers) as api:
        first = [_words(_ask(api, _request(), session=name)) for name in "xyz"]
        second = [_words(_ask(api, later, session=name)) for name in "xyz"]

    assert first == ["a1", "b1", "a1"]
    assert second == ["a2", "b2", "a2"]


def test_words_added_to_the_prompt_stay_in_the_run() -> None:
    with ScriptedApi(script(rule(runs=[["a"], ["b"]]))) as api:
        spoken = [_words(_ask(api, _request(prompt))) for prompt in ("hello", "hello, go on")]

    assert spoken == ["a", "a"]


def test_each_vote_of_a_judge_is_a_run() -> None:
    with ScriptedApi(script(judge("PASS", "FAIL", contains="hello"))) as api:
        votes = [_words(_ask(api, _request(tools=[]))) for _ in range(3)]

    assert votes == ["PASS", "FAIL", "PASS"]


def test_runs_are_handed_out_once_each_under_concurrency() -> None:
    count = 24
    spoken: list[str] = []

    with ScriptedApi(script(rule(runs=[[f"run {n}"] for n in range(count)]))) as api:

        def ask(number: int) -> None:
            spoken.append(_words(_ask(api, _request(), session=f"s{number}")))

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert sorted(spoken) == sorted(f"run {n}" for n in range(count))


def test_only_picks_requests_by_number() -> None:
    answers = script(rule(only=[2], turns=["second"]), rule(turns=["other"]))

    with ScriptedApi(answers) as api:
        spoken = [_words(_ask(api, _request(), session=name)) for name in "xyz"]

    assert spoken == ["other", "second", "other"]


def test_faults_come_first_and_then_the_turn() -> None:
    faults = [error(429, "slow down", headers={"retry-after": "7"}), error(529)]

    with ScriptedApi(script(rule(turns=[turn("well", faults=faults)]))) as api:
        answers = [_post(api, _request()) for _ in range(3)]

    assert [status for status, _, _ in answers] == [429, 529, 200]
    assert answers[0][1]["retry-after"] == "7"
    assert json.loads(answers[0][2]) == {
        "type": "error",
        "error": {"type": "rate_limit_error", "message": "slow down"},
    }
    assert json.loads(answers[1][2])["error"]["type"] == "overloaded_error"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("content", ["", "data: {not json"])
def test_body_is_sent_as_it_is(content: str, stream: bool) -> None:
    with ScriptedApi(script(rule(turns=[body(content)]))) as api:
        status, _, answer = _post(api, _request(stream=stream))

    assert (status, answer.decode()) == (200, content)


def test_connection_drops_before_the_answer() -> None:
    with (
        ScriptedApi(script(rule(turns=[drop()]))) as api,
        pytest.raises(http.client.RemoteDisconnected),
    ):
        _post(api, _request(stream=True))


def test_connection_drops_inside_a_body() -> None:
    with (
        ScriptedApi(script(rule(turns=[drop(after_events=1)]))) as api,
        pytest.raises(http.client.IncompleteRead) as caught,
    ):
        _post(api, _request())

    assert caught.value.partial.startswith(b'{"id":"msg_')
    assert (caught.value.expected or 0) > 0


@pytest.mark.parametrize(
    "path",
    [
        "/model/us.demo-1%3A0/invoke",
        "/v1/projects/p/locations/global/publishers/anthropic/models/us.demo-1:0:rawPredict",
    ],
    ids=["bedrock", "vertex"],
)
def test_clouds_name_the_model_in_the_path(path: str) -> None:
    with ScriptedApi(script(rule(model="us.demo-1:0", turns=["here"]))) as api:
        request = {name: value for name, value in _request().items() if name != "model"}
        status, _, answer = _post(api, request, path=path)

    assert (status, _words(json.loads(answer))) == (200, "here")
    assert [message.body["model"] for message in api.messages] == ["us.demo-1:0"]


def test_connection_drops_inside_the_stream() -> None:
    with (
        ScriptedApi(script(rule(turns=[turn("lost", faults=[drop(after_events=2)])]))) as api,
        pytest.raises(http.client.IncompleteRead) as caught,
    ):
        _post(api, _request(stream=True))

    assert [event["type"] for event in _events(caught.value.partial)] == [
        "message_start",
        "content_block_start",
    ]


def test_error_comes_inside_the_stream() -> None:
    fault = error(529, "too much", after_events=1)

    with ScriptedApi(script(rule(turns=[turn("lost", faults=[fault])]))) as api:
        status, _, answer = _post(api, _request(stream=True))

    assert status == 200
    assert [event["type"] for event in _events(answer)] == ["message_start", "error"]


def test_slow_stream_arrives_whole() -> None:
    with ScriptedApi(script(rule(turns=[turn("slow", event_delay_s=0.001)]))) as api:
        _, _, answer = _post(api, _request(stream=True))

    assert _events(answer)[2]["delta"]["text"] == "slow"
    assert _events(answer)[-1]["type"] == "message_stop"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(turn("late", delay_s=600), id="before the first byte"),
        pytest.param(turn("late", event_delay_s=600), id="between events"),
    ],
)
def test_closing_ends_a_delay(answer: TurnData) -> None:
    failures: list[Exception] = []
    began = time.monotonic()

    with ScriptedApi(script(rule(turns=[answer]))) as api:

        def ask() -> None:
            try:
                _post(api, _request(stream=True))
            except (http.client.HTTPException, ConnectionError) as failure:
                failures.append(failure)

        asking = threading.Thread(target=ask)
        asking.start()
        api.wait_for_messages(1)
    asking.join(30)

    assert not asking.is_alive()
    assert len(failures) == 1
    assert time.monotonic() - began < 60


def test_closing_ends_idle_connections() -> None:
    with ScriptedApi(script()) as api, _connection(api) as connection:
        connection.request("GET", "/")
        connection.getresponse().read()

        api.close()

        assert connection.sock is not None
        assert connection.sock.recv(1) == b""


def test_other_requests_are_answered_harmlessly() -> None:
    with ScriptedApi(script()) as api, _connection(api) as connection:
        seen = []
        for method, path in (("HEAD", "/"), ("GET", "/api/hello"), ("POST", "/api/event")):
            connection.request(method, path, "[]" if method == "POST" else None)
            response = connection.getresponse()
            seen.append((response.status, response.read()))
        _, _, tokens = _post(api, _request(), path="/v1/messages/count_tokens")

    assert seen == [(200, b""), (200, b"{}"), (200, b"{}")]
    assert json.loads(tokens)["input_tokens"] > 10
    assert [request.method for request in api.requests] == ["HEAD", "GET", "POST", "POST"]
    assert api.messages == ()


def test_log_tells_bodies_headers_and_choices() -> None:
    with ScriptedApi(script(rule(name="greeting", turns=["hi"]))) as api:
        _ask(api, _request("hello"), session="s1")
        (logged,) = api.messages

    assert logged.path == "/v1/messages?beta=true"
    assert logged.headers["x-claude-code-session-id"] == "s1"
    assert logged.body["model"] == "claude-demo-1"
    assert logged.choice is not None
    assert (logged.choice.rule, logged.choice.run) == ("greeting", 0)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param("x", "script: got 'x', expected a table", id="no table"),
        pytest.param(
            {"rule": []},
            "script: unknown key 'rule', expected one of rules, plugin_text, default",
            id="unknown key",
        ),
        pytest.param([{"name": "a"}], "a: needs either turns or runs", id="no turns"),
        pytest.param([{"turns": []}], "rule 1: run 1: no turns", id="no turn"),
        pytest.param([{"runs": []}], "rule 1: runs is empty", id="no run"),
        pytest.param(
            [{"turns": ["a"], "kind": "sub"}],
            "rule 1: kind: got 'sub', expected one of 'main', 'subagent', 'bare', 'any'",
            id="kind",
        ),
        pytest.param([{"turns": ["a"], "arm": "with"}], "rule 1: arm needs plugin_text", id="arm"),
        pytest.param(
            [{"turns": [{"blocks": [{"image": 1}]}]}],
            "rule 1: run 1, turn 1: block {'image': 1}, expected one with text, thinking or tool",
            id="block",
        ),
        pytest.param(
            [{"turns": [{"blocks": [], "usage": {"input": "5"}}]}],
            "rule 1: run 1, turn 1: usage: input: got '5', expected int",
            id="usage",
        ),
        pytest.param(
            [{"turns": [{"blocks": [], "faults": [{}]}]}],
            "rule 1: run 1, turn 1: fault {}, expected one of error, drop, body",
            id="fault",
        ),
        pytest.param([{"turns": ["a"], "only": [True]}], "only: got True, expected int", id="only"),
    ],
)
def test_bad_script_is_refused_with_its_place(data: object, message: str) -> None:
    with pytest.raises(ScriptError) as caught:
        parse_script(data)

    assert message in str(caught.value)


def test_words_are_json_data() -> None:
    turns: Sequence[TurnData] = [
        [text("a"), tool("Read", file_path="b")],
        error(500),
        drop(),
        "end",
    ]
    answers = script(rule(prompt="p", turns=turns), judge("PASS"), default="no")

    assert parse_script(json.loads(json.dumps(answers))) == parse_script(answers)


def test_process_of_its_own_serves_until_it_is_told_to_end(tmp_path: Path) -> None:
    script_file, port_file = tmp_path / "script.json", tmp_path / "port"
    script_file.write_text(json.dumps(script(rule(turns=["hi"]))), encoding="utf-8")
    command = [sys.executable, "-m", "tests.support.scripted_api", "--script", str(script_file)]
    command += ["--port-file", str(port_file)]

    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
            connection.request("POST", "/v1/messages", json.dumps(_request()))
            answer = json.loads(connection.getresponse().read())
        process.send_signal(signal.SIGTERM)

    assert _words(answer) == "hi"
    assert int(port_file.read_text(encoding="utf-8")) == port
    assert process.returncode == 0
