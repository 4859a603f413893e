"""Interruptions that pytest takes for itself, before the first run and after the last."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from pytest_plugin_eval.cli import new as new_module
from pytest_plugin_eval.cli.new import new_proposed
from pytest_plugin_eval.cli.new_cases import NewOptions
from pytest_plugin_eval.cli.run import collect, run_evals, run_target
from pytest_plugin_eval.cli.run_options import RunOptions
from pytest_plugin_eval.cli.target import Target, resolve_target
from pytest_plugin_eval.pytest_side.controller import EvalController
from pytest_plugin_eval.quality.asking import Asking
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from tests.support.judges import FakeBackend
from tests.support.proposals import negative, plugin_files, positive, reply
from tests.support.suites import write_tree

PHASES = ("pytest_sessionstart", "pytest_collection_modifyitems", "pytest_unconfigure")
TRUSTED = RunOptions(trust_plugin=True)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {"evals/rain/prompt.md": "Does it rain?\n"}
    files["evals/rain/graders/a.md"] = "---\ntype: regex\npattern: rain\n---\n"
    root = write_tree(tmp_path / "demo", {**plugin_files(), **files})
    monkeypatch.chdir(root)
    return root


@pytest.fixture(params=PHASES)
def phase(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _interrupted_in(phase: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a signal arrive in a phase of sessions; no run is ever made."""

    def interrupt(*_: object) -> None:
        os.kill(os.getpid(), number)

    def nothing(*_: object) -> bool:
        return True

    monkeypatch.setattr(EvalController, "pytest_runtestloop", nothing)
    monkeypatch.setattr(EvalController, phase, interrupt, raising=False)


def _target(root: Path) -> Target:
    return resolve_target(str(root), None)


def test_interrupted_session_has_the_exit_code_of_a_signal(
    root: Path, phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _interrupted_in(phase, signal.SIGINT, monkeypatch)

    assert run_target(_target(root), TRUSTED).code == 130


@pytest.mark.parametrize("phase", PHASES[:2], indirect=True)
def test_interrupted_run_has_the_exit_code_of_a_signal(
    root: Path, phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _interrupted_in(phase, signal.SIGINT, monkeypatch)

    assert run_evals(str(root), TRUSTED) == 130


def test_interrupted_collection_is_no_refusal(
    root: Path, phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _interrupted_in(phase, signal.SIGINT, monkeypatch)

    with pytest.raises(KeyboardInterrupt):
        collect(_target(root), TRUSTED)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("times", [1, 2], ids=["plan", "try"])
def test_signal_in_a_phase_of_pytest_ends_new(
    number: signal.Signals,
    times: int,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sessions: list[object] = []

    def start(self: EvalController, session: pytest.Session) -> None:
        sessions.append((self, session))
        if len(sessions) == times:
            os.kill(os.getpid(), number)

    def asking(_: NewOptions, ledger: Ledger) -> Asking:
        backend = FakeBackend(reply(positive(), negative()))
        return Asking(lambda: backend, ledger=ledger, limiter=Limiter(), env={}, model="m-1")

    monkeypatch.setattr(EvalController, "pytest_sessionstart", start, raising=False)
    monkeypatch.setattr(new_module, "_asking", asking)
    monkeypatch.setattr(new_module, "_check_sign_in", lambda: None)
    options = NewOptions(about="bonjour", skills=("greet",), run=TRUSTED)

    assert new_proposed(options, unattended=True) == 128 + number

    output = capsys.readouterr().out
    assert sorted(path.parent.name for path in root.rglob("prompt.md")) == ["rain"]
    assert len(sessions) == times
    assert "interrupted: of what was not accepted nothing is left" in output
    assert "spent: $0.25" in output
    assert "no run was made" not in output
    assert "Keep" not in output
