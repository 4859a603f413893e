"""The stand-ins of one run. Spec: agent-run, 7.3, 7.4 and 7.6."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.mock import Condition, Expectation
from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.mocks.asking import Asked, UnansweredError
from pytest_plugin_eval.mocks.recordings import write_recordings
from pytest_plugin_eval.mocks.responder import Aborted, Answer, MockResult, RunResponder
from pytest_plugin_eval.records.redact import MARK, redactor
from tests.support.mocks import Model, agent_tool, mock_tool, placed, run_mocks

IS_FOO = (Expectation(path="x", condition=Condition.TEXT, values=("foo",)),)
REASON = 'the model\'s call violates expect: x = 1 is not "foo"'


def test_a_fixed_mock_answers_with_its_text() -> None:
    server = placed(mock_tool("v={{input.x}}"))
    responder = RunResponder(run_mocks(server))

    answer = responder.answer(server, "t", {"x": 1})
    result = responder.close()

    assert answer == Answer("v=1")
    (call,) = result.calls
    assert (call.name, call.inputs, call.output, call.is_error, call.is_asked) == (
        "mcp__plugin_demo_tracker__t",
        {"x": 1},
        "v=1",
        False,
        False,
    )
    assert (result.errors, result.cost_usd, result.aborted) == (0, 0.0, None)


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        (mock_tool("no {{input.x}}", is_error=True), "no 1"),
        (mock_tool("", is_error=True), ""),
        (mock_tool("{{file:../x}}"), "{{file:../x}} names a path outside the mock's directory"),
        (agent_tool("{{file:../x}}"), "{{file:../x}} names a path outside the mock's directory"),
    ],
)
def test_errors_of_the_tool(tool: object, text: str) -> None:
    server = placed(tool)  # type: ignore[arg-type]  # of a table
    responder = RunResponder(run_mocks(server))

    assert responder.answer(server, "t", {"x": 1}) == Answer(text, is_error=True)
    assert responder.close().errors == 1


def test_an_unknown_tool_is_an_error_and_no_call() -> None:
    server = placed(mock_tool())
    responder = RunResponder(run_mocks(server))

    assert responder.answer(server, "zz", {}).is_error
    assert responder.close().calls == ()


@pytest.mark.parametrize("tool", [mock_tool("v", expect=IS_FOO), agent_tool(expect=IS_FOO)])
def test_a_call_that_is_not_as_expected_breaks_the_run_off(tool: object) -> None:
    server = placed(tool)  # type: ignore[arg-type]  # of a table
    told: list[Aborted] = []
    responder = RunResponder(run_mocks(server, on_abort=told.append))

    first = responder.answer(server, "t", {"x": 1})
    second = responder.answer(server, "t", {"x": "foo"})
    result = responder.close()

    assert first == second
    assert first.is_error
    assert first.text.endswith(f": tracker/t — {REASON}")
    assert first.text.startswith("eval aborted by mock ")
    assert result.aborted == Aborted(server="tracker", tool="t", reason=REASON)
    assert told == [result.aborted]
    assert (len(result.calls), result.errors) == (1, 0)
    assert str(result.aborted) == f"aborted by mock tracker/t: {REASON}"


def test_the_words_of_an_abort_differ_from_run_to_run() -> None:
    server = placed(mock_tool("v", expect=IS_FOO))

    answers = {RunResponder(run_mocks(server)).answer(server, "t", {}).text for _ in range(2)}

    assert len(answers) == 2


def test_an_agent_mock_is_told_of_earlier_answers_of_its_server() -> None:
    server = placed(agent_tool("T {{input.q}}"), agent_tool("U", "u"), mock_tool("fixed", "f"))
    solo = placed(agent_tool("S", "w"), server="solo")
    model = Model("one", "other", "ERROR: gone", "four")
    responder = RunResponder(run_mocks(server, solo, ask=model))

    answers = [
        responder.answer(server, "t", {"q": 1}),
        responder.answer(server, "f", {}),
        responder.answer(solo, "w", {}),
        responder.answer(server, "u", {"k": 2}),
        responder.answer(server, "t", {"q": 3}),
    ]
    result = responder.close()

    assert answers == [
        Answer("one"),
        Answer("fixed"),
        Answer("other"),
        Answer("gone", is_error=True),
        Answer("four"),
    ]
    users = [user.rpartition("\n\n")[0] for _, user in model.asked]
    assert users == [
        "",
        "",
        'Answered before in this run:\n- t({"q":1}) → one',
        'Answered before in this run:\n- t({"q":1}) → one\n- u({"k":2}) → ERROR: gone',
    ]
    assert [system.rpartition("\n\n")[2] for system, _ in model.asked] == ["T 1", "S", "U", "T 3"]
    assert (result.cost_usd, result.errors) == (1.0, 1)
    assert (result.replay_hits, result.replay_misses) == (0, 4)
    assert [call.is_asked for call in result.calls] == [True, False, True, True, True]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("ABORT: it deletes\nissues", "it deletes issues"), ("ABORT:", "a condition of abort_when")],
)
def test_an_agent_mock_may_break_the_run_off(answer: str, reason: str) -> None:
    server = placed(agent_tool(abort_when="it deletes"))
    responder = RunResponder(run_mocks(server, ask=Model(answer)))

    given = responder.answer(server, "t", {})
    result = responder.close()

    assert given.is_error
    assert result.aborted is not None
    assert result.aborted.reason.startswith(reason)
    assert (result.recordings, result.cost_usd) == ((), 0.25)


def test_an_abort_that_nobody_allowed_is_an_error_of_the_tool() -> None:
    server = placed(agent_tool())
    responder = RunResponder(run_mocks(server, ask=Model("ABORT: why")))

    assert responder.answer(server, "t", {}) == Answer("why", is_error=True)
    assert responder.close().aborted is None


@pytest.mark.parametrize(
    ("error", "is_at_ceiling"),
    [
        (JudgeError("no\nanswer", status=529), False),
        (UnansweredError("no answer", costs_usd=(0.0, 0.0)), False),
        (UnansweredError("no answer", refused=True), True),
    ],
    ids=["refused", "lost", "ceiling"],
)
def test_a_model_that_does_not_answer_ends_the_run(error: JudgeError, is_at_ceiling: bool) -> None:
    server, other = placed(agent_tool(), mock_tool("v", "f")), placed(agent_tool(), server="solo")
    model, told = Model("one", error, "never"), list[str]()
    responder = RunResponder(run_mocks(server, other, ask=model, on_failure=told.append))
    responder.answer(server, "t", {"q": 1})

    first = responder.answer(server, "t", {"q": 2})
    later = [
        responder.answer(server, "t", {}),
        responder.answer(server, "f", {}),
        responder.answer(other, "t", {}),
    ]
    result = responder.close()

    assert first.is_error
    assert later == [Answer("the run has ended", is_error=True)] * 3
    assert told == ["tracker/t: no answer"]
    assert (result.failure, result.is_at_ceiling) == (told[0], is_at_ceiling)
    assert (len(model.asked), len(result.calls), result.aborted) == (2, 2, None)


@pytest.mark.parametrize(
    ("costs_usd", "cost_usd", "known_usd"),
    [((), 0.25, 0.25), ((0.5, 0.5), 1.25, 1.25), ((None, 0.5), None, 0.75)],
    ids=["not put", "paid for", "lost"],
)
def test_calls_in_vain_are_counted_as_far_as_they_are_known(
    costs_usd: tuple[float | None, ...], cost_usd: float | None, known_usd: float
) -> None:
    server = placed(agent_tool())
    model = Model("one", UnansweredError("no", costs_usd=costs_usd))
    responder = RunResponder(run_mocks(server, ask=model))

    responder.answer(server, "t", {"q": 1})
    responder.answer(server, "t", {"q": 2})
    result = responder.close()

    assert (result.cost_usd, result.known_usd) == (cost_usd, known_usd)


def test_without_a_model_agent_mocks_answer_with_an_error() -> None:
    server = placed(agent_tool())
    responder = RunResponder(run_mocks(server))

    assert responder.answer(server, "t", {}).is_error
    assert responder.close().failure == "tracker/t: there is no model to ask"


def test_the_budget_counts_answers_of_all_servers() -> None:
    server, solo = placed(agent_tool(), mock_tool("v", "f")), placed(agent_tool(), server="solo")
    model = Model(*"abcdefgh")
    responder = RunResponder(run_mocks(server, solo, ask=model, max_turns=1))

    for number in range(2):
        responder.answer(server, "t", {"n": number})
        responder.answer(server, "f", {})
        responder.answer(solo, "t", {"n": number})
    last = responder.answer(solo, "t", {})
    result = responder.close()

    assert len(model.asked) == 4
    assert last.is_error
    assert result.aborted == Aborted(
        server="solo",
        tool="t",
        reason="mock call budget exceeded (4 agent-answered calls this run)",
    )


def test_the_cost_is_unknown_when_one_answer_s_is() -> None:
    server = placed(agent_tool())
    prices = iter((0.25, None, 0.25))

    def ask(system: str, user: str) -> Asked:
        return Asked("a", next(prices))

    responder = RunResponder(run_mocks(server, ask=ask))

    for number in range(3):
        responder.answer(server, "t", {"n": number})

    result = responder.close()
    assert (result.cost_usd, result.known_usd) == (None, 0.5)


def test_the_cost_is_unknown_while_a_question_is_open() -> None:
    server = placed(agent_tool())
    results: list[MockResult] = []

    def ask(system: str, user: str) -> Asked:
        results.append(responder.close())
        return Asked("late", 0.25)

    responder = RunResponder(run_mocks(server, ask=ask))
    responder.answer(server, "t", {})

    assert results[0].cost_usd is None


def test_a_redacted_result_holds_the_secret_nowhere() -> None:
    secret = "sk-0123456789"
    expect = (Expectation(path="x", condition=Condition.TEXT, values=("foo",)),)
    server = placed(agent_tool(), mock_tool("{{input.x}}", "u"), mock_tool("v", "w", expect=expect))
    model = Model(f"your key is {secret}")
    responder = RunResponder(run_mocks(server, ask=model))
    inputs = {"x": secret, secret: [{"deep": f"a {secret}"}, 1, None]}

    for tool in ("t", "u", "w"):
        responder.answer(server, tool, inputs)
    result = responder.close()

    assert secret in str(result)
    clean = result.redacted(redactor([secret]))
    assert secret not in str(clean)
    assert clean.calls[0].inputs == {"x": MARK, MARK: [{"deep": f"a {MARK}"}, 1, None]}
    assert clean.aborted is not None
    assert clean.aborted.reason.endswith(f'x = "{MARK}" is not "foo"')
    assert [each.output for each in clean.recordings] == [f"your key is {MARK}"]
    assert clean.cost_usd == result.cost_usd


def test_a_redacted_failure_holds_no_secret() -> None:
    server, model = placed(agent_tool()), Model(JudgeError("no such key: sk-0123456789"))
    responder = RunResponder(run_mocks(server, ask=model))

    responder.answer(server, "t", {})

    clean = responder.close().redacted(redactor(["sk-0123456789"]))
    assert clean.failure == f"tracker/t: no such key: {MARK}"


def test_adopted_recordings_answer_the_same_calls_again(tmp_path: Path) -> None:
    tool = agent_tool(file=tmp_path / "evals" / "mocks" / "tracker" / "t.md")
    server = placed(tool)
    first = RunResponder(run_mocks(server, ask=Model("one", "ERROR: two"), root=tmp_path))
    given = [first.answer(server, "t", {"b": 1, "a": n}) for n in range(2)]
    made = first.close().recordings
    tool.replay_directory.mkdir(parents=True)
    for path in write_recordings(tmp_path / "results", made):
        path.rename(tool.replay_directory / path.name)

    again = RunResponder(run_mocks(server))
    answers = [again.answer(server, "t", {"a": n, "b": 1.0}) for n in range(2)]
    result = again.close()

    assert [recording.destination for recording in made] == ["evals/mocks/.replay/tracker/"] * 2
    assert answers == given
    assert (result.replay_hits, result.replay_misses, result.recordings) == (2, 0, ())
    assert [call.is_replayed for call in result.calls] == [True, True]


def test_a_recording_of_the_reference_answers_by_its_input(tmp_path: Path) -> None:
    tool = agent_tool(file=tmp_path / "mocks" / "tracker" / "t.md")
    tool.replay_directory.mkdir(parents=True)
    text = json.dumps({"input": {"q": 1}, "output": "edited"})
    (tool.replay_directory / f"t-{'0' * 64}.json").write_text(text, encoding="utf-8")
    server = placed(tool)

    assert RunResponder(run_mocks(server)).answer(server, "t", {"q": 1}) == Answer("edited")


def test_calls_of_one_run_are_answered_in_turn() -> None:
    server = placed(agent_tool())
    begun, may_end = threading.Event(), threading.Event()
    asked: list[str] = []

    def ask(system: str, user: str) -> Asked:
        asked.append(user)
        begun.set()
        assert may_end.wait(30)
        return Asked(f"answer {len(asked)}", 0.0)

    responder = RunResponder(run_mocks(server, ask=ask))
    threads = [
        threading.Thread(target=responder.answer, args=(server, "t", {"n": n})) for n in range(2)
    ]
    for thread in threads:
        thread.start()
    assert begun.wait(30)
    in_flight = len(asked)
    may_end.set()
    for thread in threads:
        thread.join(30)

    assert in_flight == 1
    assert "Answered before" in asked[1]


def test_nothing_is_answered_after_the_end() -> None:
    server = placed(mock_tool("v"))
    responder = RunResponder(run_mocks(server))
    responder.close()

    assert responder.answer(server, "t", {}) == Answer("the run has ended", is_error=True)
