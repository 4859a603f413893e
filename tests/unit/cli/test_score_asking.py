"""What `plugin-eval score`, `certify` and `compare` ask of models, and what they tell of it."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.execution.judging import find_judge
from tests.support.judges import WAIT_S, FakeBackend
from tests.support.scores import (
    COMMANDS,
    FIND,
    QUICK_SCORE,
    answer_by,
    whole_judge,
)
from tests.support.script import TurnData, rule, script
from tests.support.scripted_api import ScriptedApi
from tests.support.sdk import KEY, MODEL, StartApi
from tests.support.skills import PHRASES, texts

Captured = pytest.CaptureFixture[str]
Run = Callable[..., int]

pytestmark = pytest.mark.usefixtures("scored_place")


class _Interrupted(FakeBackend):
    """A judge during whose call a signal arrives, which the closing ends."""

    def __init__(self, *, at: int, number: signal.Signals) -> None:
        super().__init__(*texts(), *texts())
        self._at = at
        self._number = number
        self._closed = threading.Event()
        self.before = self._interrupt

    def _interrupt(self, _: object) -> None:
        if len(self.requests) == self._at:
            os.kill(os.getpid(), self._number)
            assert self._closed.wait(WAIT_S)

    def close(self) -> None:
        super().close()
        self._closed.set()


def test_depth_is_standard_by_default_and_quick_asks_nobody(capsys: Captured) -> None:
    assert main(["score", "w1", "--output", "json"]) == 0

    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["config"]["depth"] == "standard"
    assert document["composite"]["confidence_label"] == "Estimated"
    assert document["composite"]["score"] == pytest.approx(QUICK_SCORE, abs=1e-9)
    lines = err.splitlines()
    assert "experimental" in lines[0]
    assert lines[1].startswith("warning: no model can be asked")
    assert sum("set ANTHROPIC_API_KEY" in line for line in lines) == 2
    assert lines[-1] == "spent: $0.00"


@pytest.mark.parametrize("has_client", [True, False])
def test_client_is_advised_where_it_is_missing(
    has_client: bool, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(
        "pytest_plugin_eval.judges.anthropic_sdk._is_installed", lambda _: has_client
    )

    assert main(["score", "w1", "--output", "json"]) == 0

    err = capsys.readouterr().err
    assert "w1: the judge left orchestration_fitness, output_quality" in err
    assert ("pip install 'pytest-plugin-eval[judge]'" in err) is not has_client


@pytest.mark.parametrize("command", ["score", "certify", "compare"])
def test_who_is_missed_is_told_in_the_words_of_the_command(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(FIND, find_judge)
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pytest_plugin_eval.agents.binary._bundled", lambda: None)
    monkeypatch.setenv("PATH", "")
    depth = [] if command == "certify" else ["--depth", "standard"]

    assert main([command, "w1", "other", *depth]) == 0

    err = capsys.readouterr().err
    assert "no judge for the judge and Monte Carlo layers: set ANTHROPIC_API_KEY" in err
    assert "grader" not in err
    assert "name one with --eval" not in err


def test_calls_and_price_are_told_before_and_the_spending_after(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    told: list[str] = []
    backend = whole_judge()
    backend.before = lambda _: told.append(capsys.readouterr().err)
    answer_by(monkeypatch, backend)

    assert main(["score", "w1", "--output", "json", "--concurrency", "1"]) == 0

    out, err = capsys.readouterr()
    assert told[0].splitlines()[1].startswith("asking: 4 calls, about $0.0")
    assert told[0].splitlines()[1].endswith("of a fake")
    assert json.loads(out)["composite"]["confidence_label"] == "Assessed"
    assert err == "spent: $1.00\n"
    assert backend.is_closed


def test_each_skill_is_counted(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    answer_by(monkeypatch, FakeBackend(*texts(), *texts()))

    assert main(["score", "w1", "demo/skills/w1", "--judges", "2"]) == 0

    assert "asking: 16 calls, " in capsys.readouterr().err


def test_skill_that_is_spelt_in_several_ways_is_paid_for_once(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    backend = whole_judge()
    answer_by(monkeypatch, backend)
    Path("link").symlink_to("w1")
    paths = ["w1", "w1/", "w1/SKILL.md", "link", "w1"]

    assert main(["score", *paths, "--output", "json"]) == 0

    out, err = capsys.readouterr()
    documents = json.loads(out)
    assert [one["plugin_path"] for one in documents] == paths
    assert len({one["composite"]["score"] for one in documents}) == 1
    assert len(backend.requests) == 4
    assert "asking: 4 calls" in err


def test_certify_runs_all_layers(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    answer_by(monkeypatch, FakeBackend(*texts(), json.dumps(["a", "b", "c", "d", "e"]), "Done."))

    assert main(["certify", "w1", "--output", "json", "--concurrency", "1"]) == 0

    out, err = capsys.readouterr()
    document = json.loads(out)
    assert [layer["layer"] for layer in document["layers"]] == ["static", "judge", "monte_carlo"]
    assert document["composite"]["confidence_label"] == "Certified"
    assert "asking: 55 calls, " in err


def test_price_that_nobody_knows_is_called_unknown(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    answer_by(monkeypatch, FakeBackend(*texts(), price_usd=None))

    assert main(["score", "w1"]) == 0

    err = capsys.readouterr().err
    assert "asking: 4 calls, at an unknown price, of a fake" in err
    assert "spent: $0.00 and 4 calls of unknown cost" in err


def test_ceiling_leaves_the_rest_unmeasured(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    backend = whole_judge()
    answer_by(monkeypatch, backend)

    arguments = ["score", "w1", "--max-cost-usd", "0.3", "--concurrency", "1", "--output", "json"]
    assert main(arguments) == 0

    out, err = capsys.readouterr()
    assert len(backend.requests) == 2
    assert json.loads(out)["layers"][1]["metadata"]["unmeasured"] == [
        "output_quality",
        "scope_calibration",
    ]
    assert "the judge left output_quality, scope_calibration unmeasured" in err
    assert err.endswith("spent: $0.50, the ceiling was $0.30\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_note_of_experimental_layers(command: str, capsys: Captured) -> None:
    depth = [] if command == "certify" else ["--depth", "standard"]
    paths = ["w1", "other"] if command == "compare" else ["w1"]

    assert main([command, *paths, *depth]) == 0

    assert capsys.readouterr().err.count("experimental") == 1


def test_verbose_says_more_of_each_layer(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    answer_by(monkeypatch, whole_judge())

    assert main(["score", "w1", "-v", "--output", "json", "--concurrency", "1"]) == 0

    out, err = capsys.readouterr()
    layers = [line for line in err.splitlines() if line.startswith("w1: ")]
    assert [line.split()[1] for line in layers] == ["static:", "judge:"]
    assert all(" ms, $" in line for line in layers)
    assert layers[1].endswith(
        "$1.00, measured triggering_accuracy 0.900, orchestration_fitness 0.750, "
        "output_quality 0.600, scope_calibration 0.500"
    )
    assert json.loads(out)["config"]["verbose"] is True


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_tells_what_was_spent(
    command: str, number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    backend = _Interrupted(at=3, number=number)
    answer_by(monkeypatch, backend)
    depth = [] if command == "certify" else ["--depth", "standard"]
    paths = ["w1", "other"] if command == "compare" else ["w1"]

    code = main([command, *paths, *depth, "--concurrency", "1", "--output", "json"])

    out, err = capsys.readouterr()
    assert code == 128 + number
    assert out == ""
    assert "interrupted: " in err
    assert err.endswith("\nspent: $0.75\n")


def test_finished_scores_are_reported_when_interrupted(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    answer_by(monkeypatch, _Interrupted(at=6, number=signal.SIGINT))

    assert main(["score", "w1", "other", "--concurrency", "1", "--output", "json"]) == 130

    assert [one["plugin_path"] for one in json.loads(capsys.readouterr().out)] == ["w1"]


def _by_the_api(
    scripted_api: StartApi, monkeypatch: pytest.MonkeyPatch, *turns: TurnData
) -> ScriptedApi:
    """Let the judge be found by the environment, which leads to an API that gives these turns."""
    rules = [
        rule(kind="bare", contains=phrase, runs=[[answer]], end=None)
        for phrase, answer in zip(PHRASES, turns, strict=True)
    ]
    api = scripted_api(script(*rules))
    monkeypatch.setattr(FIND, find_judge)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("CLAUDE_CODE_MAX_RETRIES", "0")
    return api


def test_environment_leads_to_who_is_asked(
    scripted_api: StartApi, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    api = _by_the_api(scripted_api, monkeypatch, *texts())

    assert main(["score", "w1", "--output", "json", "--judge-model", MODEL]) == 0

    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["composite"]["confidence_label"] == "Assessed"
    assert list(document["model_usage"]) == [MODEL]
    assert len(api.requests) == 4
    assert "asking: 4 calls, about $0.0" in err
    assert KEY not in out + err


def test_bad_replies_leave_the_rest_measured(
    scripted_api: StartApi, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    good = texts()
    _by_the_api(scripted_api, monkeypatch, good[0], '{"score": NaN}', "no JSON", good[3])

    assert main(["score", "w1", "--output", "json", "--judge-model", MODEL]) == 0

    out, err = capsys.readouterr()
    document = json.loads(out, parse_constant=_refuse)
    assert document["layers"][1]["metadata"]["unmeasured"] == [
        "orchestration_fitness",
        "output_quality",
    ]
    assert "the judge left orchestration_fitness, output_quality unmeasured" in err


def _refuse(name: str) -> object:
    raise AssertionError(f"{name} is no JSON")
