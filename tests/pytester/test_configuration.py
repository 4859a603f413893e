"""pytest must not read another ini file because of the value of an option of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pytester.conftest import StandInAgent, Suite

PYPROJECT = "[tool.pytest.ini_options]\n"
INI = "[pytest]\nplugin_eval_mode = replay\n"
CASE = "plugin/evals/first"


@pytest.fixture
def nested(pytester: pytest.Pytester) -> Suite:
    """Return a suite with an ini file for replay, in a repository with a pyproject of its own."""
    root = pytester.path / "plugin"
    (root / ".claude-plugin").mkdir(parents=True)
    (root / ".claude-plugin" / "plugin.json").write_text('{"name": "demo"}', encoding="utf-8")
    (root / "pytest.ini").write_text(INI, encoding="utf-8")
    (pytester.path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (pytester.path / "taken").write_text("", encoding="utf-8")
    (pytester.path / "out").mkdir()
    suite = Suite(pytester, root)
    suite.case("first", front="runs: 1")
    suite.records("first", "h", "g")
    return suite


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (["--eval-json", "taken"], "--eval-json=taken"),
        (["--eval-results-dir", "out"], "--eval-results-dir=out"),
        (["--eval-from", "out"], "--eval-from=out"),
        (["--eval-run-root", "."], "--eval-run-root=."),
        (["--eval-agent-path", "taken"], "--eval-agent-path=taken"),
        (["--eval-allow-tools", "Write", "taken"], "--eval-allow-tools=Write,taken"),
        (["--eval-model", "taken"], "--eval-model=taken"),
        (["--eval-runs", "1", "--eval-json", "taken"], "--eval-json=taken"),
        (["--rootdir=plugin", "--eval-json", "taken"], "--eval-json=taken"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_option_whose_value_changed_the_ini_file_is_told(
    nested: Suite, agent: StandInAgent, words: list[str], cure: str
) -> None:
    result = nested.pytester.runpytest(CASE, *words)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    name = cure.partition("=")[0]
    result.stderr.fnmatch_lines(
        [
            f"ERROR: {name} *: pytest took this path for a test path and read pyproject.toml"
            f" instead of plugin/pytest.ini; write {cure}"
        ]
    )
    assert agent.requests == []


def test_option_of_the_environment_is_told(
    nested: Suite, agent: StandInAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--eval-json taken")

    result = nested.pytester.runpytest(CASE)

    result.stderr.fnmatch_lines(["ERROR: --eval-json taken: *; write --eval-json=taken"])
    assert agent.requests == []


def test_option_is_told_where_no_argument_is_given(pytester: pytest.Pytester) -> None:
    (pytester.path / "setup.cfg").write_text("[tool:pytest]\n", encoding="utf-8")
    other = pytester.path / "deep" / "out"
    other.mkdir(parents=True)
    (other.parent / "tox.ini").write_text("[pytest]\n", encoding="utf-8")

    result = pytester.runpytest("--eval-results-dir", "deep/out")

    result.stderr.fnmatch_lines(["ERROR: * and read deep/tox.ini instead of setup.cfg; write *"])


@pytest.mark.parametrize(
    "words",
    [
        [CASE, "--eval-json=taken"],
        [CASE, "--eval-json", "not-there"],
        [CASE, "--eval-json", "plugin/evals/here"],
        [CASE, "-c", "plugin/pytest.ini", "--eval-json", "taken"],
        ["plugin", "--eval-results-dir", "plugin/evals/results"],
        [f"{CASE}::run[with-1]", "--eval-run-root", "../elsewhere", "--eval-json=taken"],
    ],
    ids=" ".join,
)
def test_words_that_change_nothing_are_left_alone(nested: Suite, words: list[str]) -> None:
    (nested.evals / "here").write_text("", encoding="utf-8")
    (nested.evals / "results").mkdir()

    result = nested.pytester.runpytest(*words)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["evals: replay mode*"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.toml", ""),
        (".pytest.ini", ""),
        ("pyproject.toml", '[tool.pytest]\nminversion = "9.0"\n'),
        ("pyproject.toml", "[tool.black]\n"),
        ("tox.ini", "[tox]\n[pytest]\n"),
        ("setup.cfg", "[metadata]\n[tool:pytest]\n"),
    ],
)
def test_ini_file_that_stays_the_same_is_known_in_each_format(
    suite: Suite, name: str, text: str
) -> None:
    (suite.root / name).write_text(text, encoding="utf-8")
    Path(suite.root / "taken").write_text("", encoding="utf-8")
    suite.case("first")
    suite.records("first", "h", "g")

    again = suite.replay("evals", "--eval-json", "taken")

    assert again.ret == pytest.ExitCode.OK
