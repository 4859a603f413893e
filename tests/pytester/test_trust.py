"""A plugin's code runs as the user, so the user is asked first, or nobody."""

from __future__ import annotations

import os
import pty
import shutil
import sys
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.pytest_side import trust
from pytest_plugin_eval.storage.trust import remember, trust_file, untrusted
from tests.pytester.conftest import StandInAgent, Suite


@pytest.fixture
def asking(suite: Suite, agent: StandInAgent, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """Return a suite of a plugin that nobody trusts yet, in a session that minds."""
    monkeypatch.setattr(trust, "untrusted", untrusted)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(suite.root / "configuration"))
    for name in ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILD_NUMBER", "TF_BUILD"):
        monkeypatch.delenv(name, raising=False)
    suite.case("first", front="runs: 1")
    return suite


def test_untrusted_plugin_is_refused_before_any_run(asking: Suite, agent: StandInAgent) -> None:
    result = asking.pytester.runpytest("evals")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert agent.requests == []
    assert not (asking.evals / "results").exists()
    result.stderr.fnmatch_lines([f"ERROR: {asking.root} is not a trusted plugin*--trust-plugin*"])


@pytest.mark.parametrize(
    "arguments", [["--trust-plugin"], ["-o", "plugin_eval_trust=true"]], ids=["option", "ini"]
)
def test_asserted_trust_holds_for_the_session_alone(
    asking: Suite, agent: StandInAgent, arguments: list[str]
) -> None:
    result = asking.pytester.runpytest("evals", *arguments)

    assert result.ret == pytest.ExitCode.OK
    assert not trust_file(os.environ).exists()


def test_remembered_trust_holds(asking: Suite, agent: StandInAgent) -> None:
    remember([asking.root], trust_file(os.environ))

    assert asking.pytester.runpytest("evals").ret == pytest.ExitCode.OK


def test_replay_needs_no_trust(asking: Suite) -> None:
    asking.records("first", "h", "h")

    asking.replay("evals").assert_outcomes(passed=2)


def test_case_without_a_plugin_needs_no_trust(asking: Suite, agent: StandInAgent) -> None:
    (asking.root / ".claude-plugin" / "plugin.json").unlink()

    assert asking.pytester.runpytest("evals").ret == pytest.ExitCode.OK


def test_every_plugin_of_a_case_has_to_be_trusted(asking: Suite, agent: StandInAgent) -> None:
    remember([asking.root], trust_file(os.environ))
    other = asking.root / "other"
    (other / ".git").mkdir(parents=True)  # a repository of its own
    (other / "plugin.json").write_text('{"name": "other"}', encoding="utf-8")
    asking.case("second", front='runs: 1\nplugins: ["../..", "../../other"]')

    result = asking.pytester.runpytest("evals")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {other} is not a trusted plugin directory*"])


@pytest.mark.xdist
def test_workers_never_ask(asking: Suite) -> None:
    result = asking.pytester.runpytest("evals", "-n", "1")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *is not a trusted plugin directory*--trust-plugin*"])


@pytest.mark.xdist
@pytest.mark.parametrize("workers", ["0", "2"])
def test_plan_needs_no_trust(asking: Suite, workers: str) -> None:
    result = asking.pytester.runpytest("evals", "--collect-only", "-n", workers)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*first*"])


@pytest.mark.parametrize(
    ("answer", "is_trusted"), [("y", True), ("Yes", True), ("n", False), ("", False)]
)
def test_terminal_is_asked_once(
    asking: Suite, monkeypatch: pytest.MonkeyPatch, answer: str, is_trusted: bool
) -> None:
    screen, status = _in_terminal(asking, monkeypatch, answer)
    asked_again, _ = _in_terminal(asking, monkeypatch, "n") if is_trusted else ("", 0)

    assert f"{asking.root}" in screen
    assert "[y/N]" in screen
    assert ("is not a trusted plugin directory, and" in screen) is not is_trusted
    # The agent's binary is none, so no session gets further than that.
    assert status == pytest.ExitCode.USAGE_ERROR
    assert ("claude" in screen.rpartition("ERROR")[2].lower()) is is_trusted
    assert trust_file(os.environ).exists() is is_trusted
    assert "[y/N]" not in asked_again


def test_name_of_a_directory_cannot_write_over_the_question(
    asking: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = asking.root / "good\x1bc\r\u202eplugin"
    shutil.copytree(asking.evals, root / "evals")
    (root / ".claude-plugin").mkdir()
    (root / ".claude-plugin" / "plugin.json").write_text('{"name": "odd"}', encoding="utf-8")

    screen, status = _in_terminal(asking, monkeypatch, "n", evals=root / "evals")

    assert "[y/N]" in screen
    assert screen.count("good c  plugin\r\n  is not a trusted plugin directory. ") == 1
    assert "good c  plugin is not a trusted plugin directory, and" in screen
    assert status == pytest.ExitCode.USAGE_ERROR


def test_question_starts_a_line(asking: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    screen, _ = _in_terminal(asking, monkeypatch, "n")

    assert f"\n{asking.root}\r\n  is not a trusted plugin directory. " in screen


def test_whole_repository_is_asked_for_with_the_plugin_named(
    asking: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    (asking.root / ".git").mkdir()

    screen, _ = _in_terminal(asking, monkeypatch, "y")

    assert f"\n{asking.root}\r\n  is not a trusted repository. " in screen
    assert "scripts of the plugin demo in it run as you" in screen
    assert "Trust the whole repository" in screen
    assert untrusted([asking.root], trust_file(os.environ)) == ()


def test_installed_plugin_needs_no_trust(asking: Suite, agent: StandInAgent) -> None:
    result = asking.pytester.runpytest("evals", "--eval-plugin-id=demo@shop")

    assert result.ret == pytest.ExitCode.OK
    assert not trust_file(os.environ).exists()


def test_command_names_the_option_alone(
    asking: Suite, agent: StandInAgent, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "."]) == 1

    said = " ".join("".join(capsys.readouterr()).split())
    assert "would run as you; pass --trust-plugin" in said
    assert "pytest in a terminal" not in said


def test_ci_with_a_terminal_is_not_asked(asking: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITLAB_CI", "true")

    screen, status = _in_terminal(asking, monkeypatch, "y")

    assert "[y/N]" not in screen
    assert "nobody is asked where the variable GITLAB_CI is set" in screen
    assert "in a terminal" not in screen
    assert status == pytest.ExitCode.USAGE_ERROR


def _in_terminal(
    suite: Suite, monkeypatch: pytest.MonkeyPatch, answer: str, *, evals: Path = Path("evals")
) -> tuple[str, int]:
    """Run pytest in a terminal of its own, whose user types *answer*; no agent is there."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(evals)]
    command += [f"--eval-agent-path={sys.executable}"]
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(suite.root)
        os.execv(sys.executable, command)  # noqa: S606 - a list of arguments, as ever
    screen = b""
    try:
        os.write(terminal, f"{answer}\n".encode())
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # the other side has closed it
                break
            if not part:
                break
            screen += part
    finally:
        os.close(terminal)
    _, status = os.waitpid(process, 0)
    return screen.decode("utf-8", "replace"), os.waitstatus_to_exitcode(status)


def test_trust_is_remembered_where_the_user_keeps_configuration(asking: Suite) -> None:
    expected = Path(asking.root, "configuration", "pytest-plugin-eval", "trusted.json")

    assert trust_file(os.environ) == expected
