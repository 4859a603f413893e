"""The group of commands."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from pytest_plugin_eval import __version__
from pytest_plugin_eval.cli.main import main

EVERY = {
    *("run", "rescore", "merge", "diff", "history", "report", "new", "doctor", "schema"),
    *("score", "certify", "compare", "init"),
}


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"plugin-eval, version {__version__}\n"


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line[:2] == "  "]
    assert set(listed[-len(EVERY) :]) == EVERY


@pytest.mark.parametrize("command", sorted(EVERY))
def test_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: plugin-eval {command} ")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "Usage: plugin-eval"),
        (["rum"], 2, "'rum' is not a command, did you mean 'run'?"),
        (["--bogus"], 2, "--bogus"),
        (["run", "--bogus"], 1, "--bogus"),
        (["run", "--runs"], 1, "requires an argument"),
        (["score", "--bogus"], 2, "--bogus"),
    ],
)
def test_usage_error(
    arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == code
    assert message in capsys.readouterr().err


def test_version_does_not_import_pytest() -> None:
    code = (
        "import sys; from pytest_plugin_eval.cli.main import main; main(['--version']);"
        "sys.exit('pytest' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, click.Abort])
def test_interrupted_command_exits_130_without_a_word(
    error: type[BaseException], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> int:
        raise error

    monkeypatch.setattr("pytest_plugin_eval.cli.rescore.rescore", interrupted)

    assert main(["rescore", "results"]) == 130
    assert capsys.readouterr().err.strip() == ""
