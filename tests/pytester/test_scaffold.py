"""What a session says of scripts, and that it finds a missing one before any run."""

from __future__ import annotations

import pytest

from tests.pytester.conftest import Suite

YAML = """\
schema_version: "1.1"
name: {name}
execution: {{prompt: Do it.}}
context:
  scaffold_script: {script}
graders: [{{type: regex, name: ok, pattern: x}}]
"""


@pytest.fixture
def scripts(suite: Suite) -> Suite:
    """Return a suite of two cases with a script that is there and one where it is not."""
    for name, script in (("one", "stage.sh"), ("two", "stage.sh"), ("gone", "gone.sh")):
        folder = suite.evals / name
        folder.mkdir(parents=True)
        (folder / "case.yaml").write_text(YAML.format(name=name, script=script), encoding="utf-8")
        (folder / "stage.sh").write_text("true\n", encoding="utf-8")
    return suite


def _output(suite: Suite, *arguments: str) -> str:
    result = suite.pytester.runpytest("evals", "--collect-only", "-q", *arguments)
    return " ".join(result.stdout.str().split())


def test_without_the_option_scripts_are_warned_about(scripts: Suite) -> None:
    said = _output(scripts)

    assert (
        "evals/one, evals/two: warning: scaffold_script 'stage.sh' is not run, the agent finds an"
        " empty workspace; where you trust its author, pass --eval-scaffold"
    ) in said.replace("warning: evals/one, evals/two:", "evals/one, evals/two: warning:")
    assert "does not exist" not in said


def test_with_the_option_it_is_said_whose_code_is_run(scripts: Suite) -> None:
    said = _output(scripts, "--eval-scaffold")

    assert "scaffold_script 'stage.sh' is run before each run: code of the case's author" in said
    assert "is not run" not in said
    assert "case.yaml:5: scaffold_script: 'gone.sh' does not exist in the case directory" in said
