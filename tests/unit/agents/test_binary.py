"""Which agent binary is taken, and which are refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pytest_plugin_eval.agents.binary import find_binary
from pytest_plugin_eval.errors import AgentError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")


def write_program(file: Path, answer: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\necho '{answer}'\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def environment(*directories: Path) -> dict[str, str]:
    return {"PATH": os.pathsep.join(map(str, directories))}


def test_named_binary_goes_before_path(tmp_path: Path) -> None:
    write_program(tmp_path / "bin" / "claude", "2.1.300 (Claude Code)")
    named = write_program(tmp_path / "mine", "2.1.269 (Claude Code)")

    binary = find_binary(named, environment(tmp_path / "bin"))

    assert binary.description == f"Claude Code 2.1.269: {named} (--eval-agent-path)"


def test_path_goes_before_the_python_package(tmp_path: Path) -> None:
    program = write_program(tmp_path / "bin" / "claude", "2.2.0 (Claude Code)")

    binary = find_binary(None, environment(tmp_path / "bin"))

    assert (binary.path, binary.version, binary.origin) == (program, "2.2.0", "on PATH")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("2.1.268 (Claude Code)", r"is version 2\.1\.268, expected 2\.1\.269 or later, upgrade"),
        ("1.99.999", r"expected 2\.1\.269 or later"),
        ("hello", r"was answered with 'hello', expected that of Claude Code"),
        ("", r"was answered with ''"),
    ],
    ids=["old", "very-old", "other-program", "silent"],
)
def test_unusable_binary_is_refused(tmp_path: Path, answer: str, message: str) -> None:
    named = write_program(tmp_path / "claude", answer)

    with pytest.raises(AgentError, match=message):
        find_binary(named, environment())


def test_missing_binary_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"--eval-agent-path: .*none' is not a file"):
        find_binary(tmp_path / "none", environment())


def test_file_that_cannot_be_started_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "claude"
    file.write_text("#!/nonexistent/interpreter\n", encoding="utf-8")
    file.chmod(0o755)

    with pytest.raises(AgentError, match="cannot be started"):
        find_binary(file, environment())


def test_old_git_is_refused_and_absent_git_is_not(tmp_path: Path) -> None:
    named = write_program(tmp_path / "claude", "2.1.300")
    write_program(tmp_path / "bin" / "git", "git version 2.30.9")

    with pytest.raises(AgentError, match=r"git is version 2\.30\.9, expected 2\.31 or later"):
        find_binary(named, environment(tmp_path / "bin"))

    assert find_binary(named, environment(tmp_path)).version == "2.1.300"
