"""The loopback server: what it serves, to whom, and how it ends."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest

from pytest_plugin_eval.agents.loopback import with_loopback_direct
from pytest_plugin_eval.cases.mock import Place, PlacedServer
from pytest_plugin_eval.errors import AgentError
from pytest_plugin_eval.mocks.asking import Asked
from pytest_plugin_eval.mocks.service import MockService, OpenMocks
from tests.support.mocks import agent_tool, mock_tool, placed, run_mocks

pytest.importorskip("mcp", reason="the extra `mocks` is not installed")

LATEST_HANDSHAKE = "2025-06-18"


@pytest.fixture
def service() -> Iterator[MockService]:
    """Return a service that is closed after the test."""
    with closing(MockService()) as service:
        yield service


def url_of(opened: OpenMocks, key: str = "plugin:demo:tracker") -> str:
    servers: Any = opened.config["mcpServers"]
    return str(servers[key]["url"])


def post(url: str, method: str, **params: object) -> tuple[int, Any]:
    """Send a request of the protocol and return status and result."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return send(url, "POST", json.dumps(body))


def send(
    url: str, verb: str, body: str = "", headers: Mapping[str, str] | None = None
) -> tuple[int, Any]:
    parts = urlsplit(url)
    assert parts.hostname is not None
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": LATEST_HANDSHAKE,
        **(headers or {}),
    }
    with closing(http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)) as connection:
        connection.request(verb, parts.path, body, sent)
        response = connection.getresponse()
        text = response.read().decode()
    try:
        return response.status, json.loads(text)["result"]
    except (ValueError, KeyError):
        return response.status, text


def call(url: str, tool: str = "t", **inputs: object) -> tuple[str, bool]:
    """Call a tool and return its text and whether it is an error."""
    status, result = post(url, "tools/call", name=tool, arguments=inputs)
    assert status == 200, result
    return result["content"][0]["text"], result.get("isError", False)


def test_a_run_is_configured_by_url_and_may_use_its_tools(service: MockService) -> None:
    withheld = PlacedServer(place=Place.WITHHELD, key="plugin:demo:mail", segment="x")
    opened = service.open(run_mocks(placed(mock_tool(), mock_tool(name="u")), withheld))

    servers: Any = opened.config["mcpServers"]
    assert list(servers) == ["plugin:demo:tracker"]
    assert servers["plugin:demo:tracker"]["type"] == "http"
    assert urlsplit(url_of(opened)).hostname == "127.0.0.1"
    assert opened.tools == ("mcp__plugin_demo_tracker__t", "mcp__plugin_demo_tracker__u")


def test_tools_are_listed_with_description_and_schema(service: MockService) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "number"}}}
    tool = mock_tool(description="Finds.", input_schema=schema)
    opened = service.open(run_mocks(placed(tool, mock_tool(name="u"))))

    _, result = post(url_of(opened), "tools/list")

    assert [
        (each["name"], each["description"], each["inputSchema"]) for each in result["tools"]
    ] == [
        ("t", "Finds.", schema),
        ("u", "", {"type": "object", "additionalProperties": True}),
    ]


def test_calls_are_answered_and_noted(service: MockService) -> None:
    opened = service.open(run_mocks(placed(mock_tool("v={{input.x}}"))))

    answer = call(url_of(opened), x={"é": [1, None]})
    result = opened.close()

    assert answer == ('v={"é":[1,null]}', False)
    assert [each.inputs for each in result.calls] == [{"x": {"é": [1, None]}}]


def test_a_call_without_arguments_has_an_empty_input(service: MockService) -> None:
    opened = service.open(run_mocks(placed(mock_tool("v"))))

    status, _ = post(url_of(opened), "tools/call", name="t")

    assert status == 200
    assert opened.close().calls[0].inputs == {}


def test_errors_of_tools_are_marked(service: MockService) -> None:
    opened = service.open(run_mocks(placed(mock_tool("no", is_error=True))))

    assert call(url_of(opened)) == ("no", True)
    assert call(url_of(opened), "zz") == ("unknown tool: zz", True)


def test_long_answers_and_inputs_pass(service: MockService) -> None:
    opened = service.open(run_mocks(placed(mock_tool("{{input.x}}"))))

    text, _ = call(url_of(opened), x="y" * 8_000_000)

    assert len(text) == 8_000_000


def test_runs_are_kept_apart(service: MockService) -> None:
    first = service.open(run_mocks(placed(mock_tool("first"))))
    second = service.open(run_mocks(placed(mock_tool("second"))))

    assert call(url_of(first)) == ("first", False)
    assert call(url_of(second)) == ("second", False)
    assert len(first.close().calls) == len(second.close().calls) == 1
    tokens = [urlsplit(url_of(run)).path.split("/")[1] for run in (first, second)]
    assert tokens[0] != tokens[1]
    assert all(len(token) == 43 for token in tokens)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/x/0",
        "/{token}",
        "/{token}/",
        "/{token}/1",
        "/{token}/-1",
        "/{token}/0/x",
        "/0/{token}",
    ],
)
def test_other_paths_lead_nowhere(service: MockService, path: str) -> None:
    opened = service.open(run_mocks(placed(mock_tool())))
    parts = urlsplit(url_of(opened))
    token = parts.path.split("/")[1]

    status, _ = post(f"http://{parts.netloc}{path.format(token=token)}", "tools/list")

    assert status == 404


def test_a_closed_run_is_served_no_more(service: MockService) -> None:
    opened = service.open(run_mocks(placed(mock_tool())))
    url = url_of(opened)
    opened.close()

    assert post(url, "tools/list")[0] == 404


@pytest.mark.parametrize("verb", ["GET", "DELETE", "PUT"])
def test_only_posts_are_taken(service: MockService, verb: str) -> None:
    opened = service.open(run_mocks(placed(mock_tool())))

    assert send(url_of(opened), verb)[0] == 405


@pytest.mark.parametrize(
    "headers", [{"Host": "attacker.example"}, {"Origin": "http://attacker.example"}]
)
def test_a_page_in_a_browser_is_refused(service: MockService, headers: dict[str, str]) -> None:
    opened = service.open(run_mocks(placed(mock_tool())))
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})

    status, _ = send(url_of(opened), "POST", body, headers)

    assert status in {403, 421}


@pytest.mark.parametrize("body", ["", "{", "[]", '{"jsonrpc": "2.0", "id": 1, "method": "x"}'])
def test_nonsense_is_refused_and_the_next_call_answered(service: MockService, body: str) -> None:
    opened = service.open(run_mocks(placed(mock_tool("v"))))

    send(url_of(opened), "POST", body)

    assert call(url_of(opened)) == ("v", False)


def test_runs_at_once_do_not_wait_for_each_other(service: MockService) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def ask(system: str, user: str) -> Asked:
        begun.set()
        assert may_end.wait(60)
        return Asked("slow", 0.0)

    slow = service.open(run_mocks(placed(agent_tool()), ask=ask))
    quick = service.open(run_mocks(placed(mock_tool("quick"))))
    answers: list[tuple[str, bool]] = []
    thread = threading.Thread(target=lambda: answers.append(call(url_of(slow))))
    thread.start()
    assert begun.wait(60)

    while_waiting = call(url_of(quick))
    may_end.set()
    thread.join(60)

    assert while_waiting == ("quick", False)
    assert answers == [("slow", False)]


def test_many_runs_at_once(service: MockService) -> None:
    runs = [service.open(run_mocks(placed(mock_tool(f"run {n}")))) for n in range(16)]
    answers: dict[int, list[tuple[str, bool]]] = {n: [] for n in range(16)}

    def talk(number: int) -> None:
        answers[number] += [call(url_of(runs[number])) for _ in range(5)]

    threads = [threading.Thread(target=talk, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert answers == {n: [(f"run {n}", False)] * 5 for n in range(16)}
    assert [len(run.close().calls) for run in runs] == [5] * 16


def test_closing_ends_the_thread_and_the_port() -> None:
    service = MockService()
    opened = service.open(run_mocks(placed(mock_tool())))
    port = urlsplit(url_of(opened)).port

    service.close()

    assert "mocked-servers" not in [thread.name for thread in threading.enumerate()]
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_closing_does_not_wait_for_a_model() -> None:
    begun, may_end = threading.Event(), threading.Event()

    def ask(system: str, user: str) -> Asked:
        begun.set()
        may_end.wait(60)
        return Asked("late", 0.0)

    service = MockService()
    opened = service.open(run_mocks(placed(agent_tool()), ask=ask))
    url = url_of(opened)
    thread = threading.Thread(target=_try, args=(url,))
    thread.start()
    assert begun.wait(60)

    result = opened.close()
    service.close()
    is_over = "mocked-servers" not in [each.name for each in threading.enumerate()]
    may_end.set()
    thread.join(60)

    assert is_over
    assert result.calls == ()


def _try(url: str) -> None:
    try:
        call(url)
    except (OSError, http.client.HTTPException, AssertionError):
        return


def test_closing_twice_or_unused_does_nothing() -> None:
    service = MockService()

    service.close()
    service.close()

    assert "mocked-servers" not in [thread.name for thread in threading.enumerate()]


def test_a_service_opens_again_after_its_end(service: MockService) -> None:
    service.open(run_mocks(placed(mock_tool())))
    service.close()

    opened = service.open(run_mocks(placed(mock_tool("v"))))

    assert call(url_of(opened)) == ("v", False)


def test_nothing_is_written_to_the_terminal(
    service: MockService, capfd: pytest.CaptureFixture[str]
) -> None:
    opened = service.open(run_mocks(placed(mock_tool("v"))))
    send(url_of(opened), "POST", "{")
    send(url_of(opened), "POST", "{}", {"Host": "attacker.example"})
    call(url_of(opened))
    service.close()

    assert capfd.readouterr() == ("", "")


def test_a_missing_extra_is_told_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pytest_plugin_eval.mocks.protocol", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)

    with pytest.raises(AgentError, match=r"uvicorn, .*pip install 'pytest-plugin-eval\[mocks\]'"):
        MockService().open(run_mocks(placed(mock_tool())))


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"PATH": "/bin"}, {"PATH": "/bin"}),
        ({"NO_PROXY": "x"}, {"NO_PROXY": "x"}),
        (
            {"HTTP_PROXY": "http://p"},
            {"HTTP_PROXY": "http://p", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
        ),
        (
            {"all_proxy": "http://p", "NO_PROXY": "a,b"},
            {"all_proxy": "http://p", "NO_PROXY": "a,b,127.0.0.1", "no_proxy": "a,b,127.0.0.1"},
        ),
        (
            {"http_proxy": "http://p", "no_proxy": "a"},
            {"http_proxy": "http://p", "NO_PROXY": "a,127.0.0.1", "no_proxy": "a,127.0.0.1"},
        ),
        (
            {"HTTP_PROXY": "http://p", "NO_PROXY": "*"},
            {"HTTP_PROXY": "http://p", "NO_PROXY": "*", "no_proxy": "*"},
        ),
        (
            {"HTTP_PROXY": "http://p", "no_proxy": "127.0.0.1", "NO_PROXY": "a"},
            {"HTTP_PROXY": "http://p", "no_proxy": "127.0.0.1", "NO_PROXY": "a,127.0.0.1"},
        ),
    ],
)
def test_no_proxy_stands_before_the_loopback(env: dict[str, str], expected: dict[str, str]) -> None:
    assert with_loopback_direct(env) == expected


def test_the_protocol_is_imported_with_the_first_run_only() -> None:
    program = (
        "import sys; import pytest_plugin_eval.mocks.service, pytest_plugin_eval.mocks.summary;"
        "print([name for name in ('mcp', 'uvicorn', 'anyio', 'anthropic') if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )

    assert done.stdout == "[]\n"
