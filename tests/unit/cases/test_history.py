"""What a recorded conversation must hold; each table entry was tried with the agent itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.history import check_history
from tests.support.histories import as_lines, history, records
from tests.support.suites import ONE_GRADER, case_of, problems_of, warnings_of

GOOD = history()
RECORDS = records()
SUMMARY = as_lines([{"type": "summary", "summary": "s", "leafUuid": "x"}])


def changed(**fields: object) -> str:
    return as_lines({**record, **fields} for record in RECORDS)


def without(field: str) -> str:
    return as_lines(
        {name: value for name, value in record.items() if name != field} for record in RECORDS
    )


def checked(tmp_path: Path, text: str | bytes) -> tuple[str | None, tuple[tuple[int, str], ...]]:
    file = tmp_path / "h.jsonl"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return check_history(file)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\n\n"),
        "\ufeff" + GOOD,
        SUMMARY + GOOD,
        without("sessionId"),
        without("timestamp"),
        as_lines(RECORDS[:1]),
        as_lines(RECORDS[1:]),
        GOOD.encode().replace(b"Zoe", b"Zo\xff"),
    ],
    ids=[
        *("plain", "crlf", "blank", "bom", "summary", "no-session", "no-time", "one", "torn"),
        "no-utf-8",
    ],
)
def test_conversation_that_the_agent_takes(tmp_path: Path, text: str | bytes) -> None:
    assert checked(tmp_path, text) == (None, ())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty, expected lines such as"),
        ("\n \n", "is empty, expected lines such as"),
        ("hello\n", "holds no message, line 1 is no JSON object; expected"),
        (json.dumps(RECORDS), "holds no message, line 1 is no JSON object; expected"),
        ("[" * 100_000, "holds no message, line 1 is no JSON object; expected"),
        (
            "\n" + as_lines(record["message"] for record in RECORDS),
            "holds no message, line 2 is the bare message, without the record around it; expected",
        ),
        ("{}\n", "holds no message, line 1 is none; expected"),
        (SUMMARY, "holds no message, line 1 is none; expected"),
        (without("type"), "holds no message, line 1 is none; expected"),
        (without("message"), "holds no message, line 1 is none; expected"),
        (changed(message="hey"), "holds no message, line 1 is none; expected"),
        (changed(message={"content": None}), "holds no message, line 1 is none; expected"),
        (changed(message={}), "holds no message, line 1 is none; expected"),
        (changed(isSidechain=True), "holds no message, line 1 is none; expected"),
        (changed(type="system"), "holds no message, line 1 is none; expected"),
    ],
    ids=[
        *("empty", "blank", "text", "array", "deep", "bare", "object", "summary", "no-type"),
        *("no-message", "text-message", "null-content", "no-content", "sidechain", "system"),
    ],
)
def test_conversation_that_holds_nothing(tmp_path: Path, text: str, problem: str) -> None:
    found, warnings = checked(tmp_path, text)

    assert str(found).startswith(problem)
    assert warnings == ()


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            as_lines(RECORDS[:2]) + "{oops\n" + as_lines(RECORDS[2:]),
            (3, "1 line without a JSON object, which are skipped"),
        ),
        (
            history(chained=False),
            (
                4,
                "the message has no parentUuid, so the agent sees nothing of the 3 messages"
                " before it",
            ),
        ),
        (
            as_lines([*RECORDS[:2], {**RECORDS[2], "parentUuid": None}, RECORDS[3]]),
            (
                3,
                "the message has no parentUuid, so the agent sees nothing of the 2 messages"
                " before it",
            ),
        ),
    ],
    ids=["torn-line", "no-chain", "second-start"],
)
def test_conversation_of_which_the_agent_takes_a_part(
    tmp_path: Path, text: str, warning: tuple[int, str]
) -> None:
    assert checked(tmp_path, text) == (None, (warning,))


YAML = """\
schema_version: "1.1"
name: n
execution: {prompt: p}
context:
  history_file: talk/h.jsonl
"""


def test_bad_conversation_is_a_load_error_at_its_line(tmp_path: Path) -> None:
    files = {"case.yaml": YAML, "talk/h.jsonl": "hello\n", **ONE_GRADER}

    problems = problems_of(tmp_path, files)

    assert len(problems) == 1
    assert problems[0].startswith(
        "case.yaml:5: history_file: 'talk/h.jsonl' holds no message, line 1 is no JSON object;"
    )


def test_warning_names_the_line_of_the_conversation(tmp_path: Path) -> None:
    files = {"case.yaml": YAML, "talk/h.jsonl": history(chained=False), **ONE_GRADER}

    assert warnings_of(tmp_path, files) == [
        "talk/h.jsonl:4: history_file: the message has no parentUuid, so the agent sees nothing of"
        " the 3 messages before it"
    ]


def test_empty_name_is_none(tmp_path: Path) -> None:
    yaml = YAML.replace("talk/h.jsonl", '""') + '  scaffold_script: ""\n'

    case = case_of(tmp_path, {"case.yaml": yaml, **ONE_GRADER})

    assert (case.history_file, case.scaffold_script) == (None, None)
