"""What `plugin-eval run` makes of an installed plugin, as far as no run is needed."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from pytest_plugin_eval.cli.run import run_evals
from pytest_plugin_eval.cli.run_options import RunOptions
from tests.support.suites import write_tree

OF_INSTALLED = ("--trust", "--eval-plugin-id", "--eval-ablation")


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory of a user who has a plugin called mine installed."""
    plugin = {"plug/plugin.json": '{"name": "plug"}', "plug/evals/a/prompt.md": "Hi"}
    installs = {"mine@shop": [{"installPath": str(tmp_path / "plug")}]}
    content = json.dumps({"version": 2, "plugins": installs})
    write_tree(tmp_path, {**plugin, "config/plugins/installed_plugins.json": content})
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def test_results_that_cannot_be_written_are_refused_first(workplace: Path) -> None:
    (workplace / "evals").write_text("a file")

    with pytest.raises(click.ClickException) as caught:
        run_evals("mine", RunOptions())

    assert caught.value.message == (
        f"results cannot be written to {workplace}/evals/results: Not a directory; "
        "name another place with --output-dir"
    )


def test_name_of_several_has_no_document(
    workplace: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    installs = {f"twin@{shop}": [{"installPath": str(workplace)}] for shop in ("a", "b")}
    content = json.dumps({"version": 2, "plugins": installs})
    write_tree(workplace, {"config/plugins/installed_plugins.json": content})
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(workplace / "config"))

    status = run_evals("twin", RunOptions(json="-"))

    out, err = capfd.readouterr()
    expected = "Error: twin: is the name of 2 installed plugins, expected one of twin@a, twin@b\n"
    assert (status, out, err) == (1, "", expected)


@pytest.mark.parametrize(
    ("target", "ablation", "expected"),
    [
        ("mine", None, {"--eval-plugin-id=mine@shop", "--eval-ablation=with-without"}),
        ("mine", "none", {"--eval-plugin-id=mine@shop", "--eval-ablation=none"}),
        ("../plug", None, set()),
        ("../plug", "none", {"--eval-ablation=none"}),
    ],
)
def test_installed_plugin_is_told_to_pytest_and_compared(
    workplace: Path,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    ablation: str | None,
    expected: set[str],
) -> None:
    given: list[str] = []

    def main(words: list[str], **_: object) -> pytest.ExitCode:
        given.extend(words)
        return pytest.ExitCode.USAGE_ERROR

    monkeypatch.setattr(pytest, "main", main)

    run_evals(target, RunOptions(ablation=ablation))

    found = {word for word in given if word.startswith(OF_INSTALLED)}
    assert found == expected
