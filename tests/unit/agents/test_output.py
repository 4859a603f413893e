"""Output kept within bounds."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.agents.output import Lines, Tail

RESULT = '{"type":"result","subtype":"success"}'
INIT = '{"type":"system","subtype":"init"}'


def test_lines_are_joined_across_chunks() -> None:
    lines = Lines(1000)

    news = [lines.feed(chunk) for chunk in (b'{"a":', b'1}\n{"b"', b":2}")]

    assert news == ["", "line", ""]
    assert lines.take() == (('{"a":1}', '{"b":2}'), 0)


def test_blank_lines_and_carriage_returns_are_dropped() -> None:
    lines = Lines(1000)

    lines.feed(b"a\r\n\n  \nb\n")

    assert lines.take() == (("a", "b"), 0)


def test_broken_utf8_does_not_stop_reading() -> None:
    lines = Lines(1000)

    lines.feed(b"a\xffb\n\xc3")
    lines.feed(b"\xa9\n")

    assert lines.take()[0] == ("a\ufffdb", "é")


def test_beyond_the_limit_only_results_are_kept() -> None:
    lines = Lines(50)

    news = lines.feed(b"a" * 40 + b"\n" + b"b" * 40 + b"\n" + RESULT.encode() + b"\n")

    assert (news, lines.has_result) == ("result", True)
    assert lines.take() == (("a" * 40, RESULT), 50)


def test_endless_line_is_bounded() -> None:
    lines = Lines(100)

    for _ in range(50):
        lines.feed(b"x" * 40)

    kept, cut = lines.take()
    assert (len(kept[0]), cut) == (80, 100)


@pytest.mark.parametrize(
    "line", ['{"type":"user","text":"\\"result\\""}', '"result"', '["result"]', '{"result"', "null"]
)
def test_other_lines_are_no_result(line: str) -> None:
    lines = Lines(1000)

    assert lines.feed(f"{line}\n".encode()) == "line"
    assert not lines.has_result


@pytest.mark.parametrize(("wrong", "news"), [(True, "wrong"), (False, "line")])
def test_init_line_is_judged(wrong: bool, news: str) -> None:
    lines = Lines(1000)
    judged: list[str] = []

    def is_wrong(line: str) -> bool:
        judged.append(line)
        return wrong

    lines.is_wrong = is_wrong

    assert lines.feed(f'{INIT}\n{{"type":"user"}}\n'.encode()) == news
    assert judged == [INIT]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"type":"system","subtype":"api_retry","error_status":429}', True),
        ('{"type":"rate_limit_event","rate_limit_info":{"status":"rejected"}}', True),
        ('{"type":"user","text":"\\"api_retry\\""}', False),
        ('{"type":"assistant","subtype":"api_retry"}', False),
        ('{"type":"system","subtype":"init"}', False),
    ],
)
def test_refused_request_is_told_at_once(line: str, told: bool) -> None:
    lines = Lines(1000)
    heard: list[str] = []
    lines.on_refusal = heard.append

    lines.feed(f"{line}\n".encode())

    assert heard == ([line] if told else [])


def test_tail_keeps_both_ends() -> None:
    tail = Tail(8)

    for chunk in (b"abc", b"defgh", b"ijkl"):
        tail.feed(chunk)

    assert tail.text() == "abcdijkl"
