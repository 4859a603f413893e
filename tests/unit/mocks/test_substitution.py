"""Placeholders: every form of the table in agent-run, 7.3, and what the reference does besides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.mock import MockTool
from pytest_plugin_eval.mocks.substitution import MockToolError, substituted
from tests.support.mocks import mock_tool
from tests.support.suites import write_tree

INPUTS: Mapping[str, object] = {
    "a": {"b": "text"},
    "n": 3,
    "whole": 1.0,
    "big": 1e21,
    "yes": True,
    "nothing": None,
    "object": {"k": [1, 2.5, "é"]},
    "list": ["x", "y"],
    "a-b": "dash",
    "a.c": "dotted key",
    "nested": "{{input.n}}",
    "10": "index",
}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Return the directory of a mocked server with fixtures."""
    fixtures: dict[str, str | bytes] = {
        "a.txt": " FIX {{input.n}}\n",
        "7.json": "seven",
        "x-1.5.json": "both",
        "true.json": "yes",
        ".x.json": "dot",
        "raw.bin": b"\xff\x00A",
    }
    write_tree(tmp_path / "mocks" / "tracker" / "fixtures", fixtures)
    write_tree(tmp_path, {"mocks/tracker/other.txt": "OTHER", "mocks/secret.txt": "SECRET"})
    return tmp_path / "mocks" / "tracker"


def tool_in(directory: Path, body: str) -> MockTool:
    return mock_tool(body, file=directory / "t.md", border=directory.parent.parent)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{{input.a.b}}", "text"),
        ("{{input.n}} {{ input.n }} {{\ninput.n}}", "3 3 3"),
        ("{{input.whole}} {{input.big}}", "1 1e+21"),
        ("{{input.yes}} {{input.nothing}}", "true null"),
        ("{{input.object}} {{input.list}}", '{"k":[1,2.5,"é"]} ["x","y"]'),
        ("{{input.list.0}}{{input.list.01}}{{input.list.2}}{{input.list.-1}}", "xy"),
        ("{{input.object.k.1}}", "2.5"),
        ("[{{input.no}}{{input.a.b.c}}{{input.n.x}}]", "[]"),
        ("[{{input.list.length}}{{input.a.b.0}}]", "[]"),
        ("{{input.a-b}} {{input.10}}", "dash index"),
        ("[{{input.a.c}}]", "[]"),
        ("{{input.nested}}", "{{input.n}}"),
        ("{{{input.n}}} {{input.n}}}}", "{3} 3}}"),
        ("{{input}} {{other.x}} {{INPUT.n}}", "{{input}} {{other.x}} {{INPUT.n}}"),
        ("{{input.}} {{input.é}} {{input.a b}}", "{{input.}} {{input.é}} {{input.a b}}"),
        ("{{input .n}} {input.n}", "{{input .n}} {input.n}"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_fields_of_the_input(body: str, expected: str) -> None:
    assert substituted(mock_tool(body), INPUTS) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("[{{file:fixtures/a.txt}}]", "[ FIX {{input.n}}\n]"),
        ("{{ file:fixtures/7.json }}{{file: fixtures/7.json}}", "sevenseven"),
        ("{{file:other.txt}}", "OTHER"),
        ("{{file:fixtures/../other.txt}}", "OTHER"),
        ("{{file:fixtures/raw.bin}}", "\ufffd\x00A"),
        ("{{file:fixtures/{input.seven}.json}}", "seven"),
        ("{{file:fixtures/{input.x.y}-{input.half}.json}}", "both"),
        ("{{file:fixtures/{input.yes}.json}}", "yes"),
        ("{{file:fixtures/{input.dot}.json}}", "dot"),
        ("{{file:}}", "{{file:}}"),
        ("{{file:fixtures/{ input.seven }.json}}", "{{file:fixtures/{ input.seven }.json}}"),
        ("{{file:fixtures/{other}.json}}", "{{file:fixtures/{other}.json}}"),
    ],
)
def test_contents_of_files(here: Path, body: str, expected: str) -> None:
    inputs = {"seven": 7, "x": {"y": "x"}, "half": 1.5, "yes": True, "dot": ".x"}

    assert substituted(tool_in(here, body), inputs) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{{file:../x}}", "{{file:../x}} names a path outside the mock's directory"),
        ("{{file:/etc/hostname}}", "{{file:/etc/hostname}} names a path outside the mock's d"),
        ("{{file:../secret.txt}}", "{{file:../secret.txt}} names a path outside the mock's d"),
        ("{{file:fixtures/9.json}}", "{{file:fixtures/9.json}}: no such fixture"),
        ("{{file:fixtures/{input.nine}.json}}", "{{file:fixtures/9.json}}: no such fixture"),
        ("{{file:fixtures}}", "{{file:fixtures}}: is not a regular file"),
        ("{{file:fixtures/no}} {{file:../x}}", "{{file:../x}} names a path outside"),
        ("{{file:fixtures/no}} {{file:{input.no}}}", "{input.no} = (missing) is not a plain"),
    ],
)
def test_files_that_cannot_be_had(here: Path, body: str, expected: str) -> None:
    with pytest.raises(MockToolError) as caught:
        substituted(tool_in(here, body), {"nine": 9})

    assert str(caught.value).startswith(expected)


def test_a_name_that_is_too_long_is_an_error_of_the_tool(here: Path) -> None:
    with pytest.raises(MockToolError, match=r"could not be read \(ENAMETOOLONG\)$"):
        substituted(tool_in(here, "{{file:fixtures/{input.x}.json}}"), {"x": "7" * 300})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("../x", '"../x"'),
        ("a/b", '"a/b"'),
        ("a\\b", '"a\\\\b"'),
        ("a b", '"a b"'),
        ("..", '".."'),
        (".", '"."'),
        ("", '""'),
        ("é", '"é"'),
        ("a:b", '"a:b"'),
        ("a\nb", '"a\\nb"'),
        (None, "null"),
        ({}, "{}"),
        (-1e21, "-1e+21"),
    ],
)
def test_only_plain_segments_name_files(here: Path, value: object, shown: str) -> None:
    with pytest.raises(MockToolError) as caught:
        substituted(tool_in(here, "{{file:fixtures/{input.id}.json}}"), {"id": value})

    assert str(caught.value) == f"{{input.id}} = {shown} is not a plain file-name segment"


def test_a_link_out_of_the_eval_directory_is_not_followed(here: Path, tmp_path: Path) -> None:
    outside = write_tree(tmp_path.parent / f"{tmp_path.name}-outside", {"x.txt": "SECRET"})
    (here / "fixtures" / "out.txt").symlink_to(outside / "x.txt")
    (here / "fixtures" / "in.txt").symlink_to(here.parent / "secret.txt")

    assert substituted(tool_in(here, "{{file:fixtures/in.txt}}"), {}) == "SECRET"
    with pytest.raises(MockToolError, match="outside the mock's directory"):
        substituted(tool_in(here, "{{file:fixtures/out.txt}}"), {})
