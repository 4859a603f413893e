"""`plugin-eval score`, `certify`, `compare` and `init`. Spec: quality-score, 13 and 14."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.execution.judging import find_judge
from pytest_plugin_eval.judges.base import JudgeBackend
from tests.support.judges import WAIT_S, FakeBackend
from tests.support.script import TurnData, rule, script
from tests.support.scripted_api import ScriptedApi
from tests.support.sdk import KEY, MODEL, StartApi
from tests.support.skills import PHRASES, W1, texts, write_skill

Captured = pytest.CaptureFixture[str]
Run = Callable[..., int]

FIND = "pytest_plugin_eval.execution.judging.find_judge"
QUICK_SCORE = 60.984848484848484
"""Of the skill ``w1``. Spec: 15, example 5."""
FLAGGED = "---\nname: other\ndescription: Short.\n---\n\n# Other\n\nSee skills/ghost.\n"
COMMANDS = ("score", "certify", "compare")
FORMATS = ("json", "markdown", "html", "table")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory with two skills and a plugin, where no model can be asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(FIND, _nobody)
    write_skill(tmp_path / "w1")
    write_skill(tmp_path / "other", FLAGGED)
    write_skill(tmp_path / "demo" / "skills" / "w1")
    (tmp_path / "demo" / ".claude-plugin").mkdir()
    return tmp_path


def _nobody(**_: object) -> JudgeBackend:
    raise JudgeError("no judge: set ANTHROPIC_API_KEY")


def _answer(monkeypatch: pytest.MonkeyPatch, backend: JudgeBackend) -> None:
    monkeypatch.setattr(FIND, lambda **_: backend)


def _judge() -> FakeBackend:
    return FakeBackend(*texts())


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


def test_json_has_the_numbers_of_the_specification(capsys: Captured) -> None:
    assert main(["score", "w1", "--depth", "quick", "--output", "json"]) == 0

    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["plugin_path"] == "w1"
    assert document["composite"]["score"] == pytest.approx(QUICK_SCORE, abs=1e-9)
    assert document["config"] == {
        "depth": "quick",
        "concurrency": 4,
        "output_format": "json",
        "verbose": False,
        "corpus_path": None,
        "judges": 1,
        "monte_carlo_n": None,
    }
    assert err == ""


@pytest.mark.parametrize("path", ["w1", "w1/", "w1/SKILL.md", "demo/skills/../../w1"])
def test_skill_may_be_spelt_in_many_ways(path: str, capsys: Captured) -> None:
    assert main(["score", path, "--depth", "quick", "--output", "json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["plugin_path"] == path
    assert document["composite"]["score"] == pytest.approx(QUICK_SCORE, abs=1e-9)


@pytest.mark.parametrize(
    ("output", "start"),
    [
        ([], "# Quality score: w1\n"),
        (["--output", "markdown"], "# Quality score: w1\n"),
        (["--output", "html"], "<!DOCTYPE html>"),
        (["--output", "table"], "w1 (skill, quick): w1\n"),
    ],
)
def test_output(output: list[str], start: str, capsys: Captured) -> None:
    assert main(["score", "w1", "--depth", "quick", *output]) == 0

    assert capsys.readouterr().out.startswith(start)


def test_several_paths_make_a_list_in_the_order_given(capsys: Captured) -> None:
    assert main(["score", "other", "w1", "demo", "--depth", "quick", "--output", "json"]) == 0

    documents = json.loads(capsys.readouterr().out)
    assert [one["plugin_path"] for one in documents] == ["other", "w1", "demo"]


def test_path_that_fails_leaves_the_others_be(capsys: Captured) -> None:
    (odd := Path("odd")).mkdir()
    (odd / "SKILL.md").write_bytes(b"---\nname: \xff\n---\n")

    code = main(["score", "nope", "odd", "w1", "--depth", "quick", "--output", "json"])

    out, err = capsys.readouterr()
    assert code == 2
    assert [one["plugin_path"] for one in json.loads(out)] == ["w1"]
    assert [line.split(":")[:2] for line in err.splitlines()] == [
        ["Error", " nope"],
        ["Error", f" {Path('odd', 'SKILL.md')}"],
    ]


@pytest.mark.parametrize("command", ["score", "certify"])
def test_nothing_is_printed_where_nothing_can_be_scored(command: str, capsys: Captured) -> None:
    assert main([command, "nope"]) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert len([line for line in err.splitlines() if line.startswith("Error: ")]) == 1


@pytest.mark.parametrize(
    ("threshold", "code"), [("60", 0), ("60.984848484848", 0), ("60.99", 1), ("101", 1)]
)
def test_threshold(threshold: str, code: int, capsys: Captured) -> None:
    arguments = ["score", "w1", "--depth", "quick", "--output", "json", "--threshold", threshold]

    assert main(arguments) == code

    out, err = capsys.readouterr()
    assert json.loads(out)["composite"]["badge"] == "bronze"
    assert ("below --threshold" in err) == bool(code)


def test_threshold_is_held_against_each(capsys: Captured) -> None:
    assert main(["score", "w1", "other", "--depth", "quick", "--threshold", "50"]) == 1

    err = capsys.readouterr().err
    assert [line for line in err.splitlines() if "--threshold" in line] == [
        line for line in err.splitlines() if line.startswith("other: composite ")
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score"], "Missing argument"),
        (["score", "w1", "--depth", "Quick"], "--depth"),
        (["score", "w1", "--depth", "deepest"], "--depth"),
        (["score", "w1", "--output", "xml"], "--output"),
        (["score", "w1", "--concurrency", "0"], "--concurrency"),
        (["score", "w1", "--concurrency", "21"], "--concurrency"),
        (["score", "w1", "--judges", "6"], "--judges"),
        (["score", "w1", "--judge-chars", "0"], "expected a whole number above 0, or all"),
        (["score", "w1", "--judge-chars", "\N{SUPERSCRIPT TWO}"], "--judge-chars"),
        (["score", "w1", "--threshold", "nan"], "--threshold"),
        (["score", "w1", "--max-cost-usd", "-1"], "--max-cost-usd"),
        (["score", "w1", "--max-cost-usd", "inf"], "--max-cost-usd"),
        (["score", "w1", "--depth", "quick", "--corpus", "nowhere"], "no corpus index"),
        (["certify", "w1", "--depth", "quick"], "--depth"),
        (["compare", "w1"], "Missing argument"),
        (["compare", "w1", "w1", "w1"], "unexpected extra argument"),
        (["compare", "w1", "demo"], "demo: compare takes skills, got a plugin"),
        (["compare", "w1", "w1", "--output", "xml"], "--output"),
        (["init", "nowhere"], "nowhere"),
        (["init", "w1/SKILL.md"], "got a file"),
        (["init", ".", "--corpus-dir", "w1/SKILL.md"], "cannot be written"),
        (["init", ".", "--corpus-dir", "~nobody-of-that-name/x"], "no such home directory"),
        (["score", "w1", "--corpus=~nobody-of-that-name"], "no such home directory"),
        (["score", "w1", "--judge-chars", "9" * 5000], "--judge-chars"),
    ],
)
def test_bad_usage_is_2_and_told_on_stderr(
    arguments: list[str], message: str, capsys: Captured
) -> None:
    assert main(arguments) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


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
    backend = _judge()
    backend.before = lambda _: told.append(capsys.readouterr().err)
    _answer(monkeypatch, backend)

    assert main(["score", "w1", "--output", "json", "--concurrency", "1"]) == 0

    out, err = capsys.readouterr()
    assert told[0].splitlines()[1].startswith("asking: 4 calls, about $0.0")
    assert told[0].splitlines()[1].endswith("of a fake")
    assert json.loads(out)["composite"]["confidence_label"] == "Assessed"
    assert err == "spent: $1.00\n"
    assert backend.is_closed


def test_each_skill_is_counted(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    _answer(monkeypatch, FakeBackend(*texts(), *texts()))

    assert main(["score", "w1", "demo/skills/w1", "--judges", "2"]) == 0

    assert "asking: 16 calls, " in capsys.readouterr().err


def test_skill_that_is_spelt_in_several_ways_is_paid_for_once(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    backend = _judge()
    _answer(monkeypatch, backend)
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
    _answer(monkeypatch, FakeBackend(*texts(), json.dumps(["a", "b", "c", "d", "e"]), "Done."))

    assert main(["certify", "w1", "--output", "json", "--concurrency", "1"]) == 0

    out, err = capsys.readouterr()
    document = json.loads(out)
    assert [layer["layer"] for layer in document["layers"]] == ["static", "judge", "monte_carlo"]
    assert document["composite"]["confidence_label"] == "Certified"
    assert "asking: 55 calls, " in err


def test_price_that_nobody_knows_is_called_unknown(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    _answer(monkeypatch, FakeBackend(*texts(), price_usd=None))

    assert main(["score", "w1"]) == 0

    err = capsys.readouterr().err
    assert "asking: 4 calls, at an unknown price, of a fake" in err
    assert "spent: $0.00 and 4 calls of unknown cost" in err


def test_ceiling_leaves_the_rest_unmeasured(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    backend = _judge()
    _answer(monkeypatch, backend)

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


@pytest.mark.parametrize("command", ["score", "certify"])
def test_plugin_is_told_that_only_the_static_layer_runs(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    backend = _judge()
    _answer(monkeypatch, backend)

    assert main([command, "demo"]) == 0

    err = capsys.readouterr().err
    depth = "standard" if command == "score" else "deep"
    assert err.startswith("warning: demo: only the static layer runs on a plugin")
    assert depth in err
    assert "Estimated" in err
    assert "experimental" not in err
    assert backend.requests == []


@pytest.mark.parametrize("command", COMMANDS)
def test_note_of_experimental_layers(command: str, capsys: Captured) -> None:
    depth = [] if command == "certify" else ["--depth", "standard"]
    paths = ["w1", "other"] if command == "compare" else ["w1"]

    assert main([command, *paths, *depth]) == 0

    assert capsys.readouterr().err.count("experimental") == 1


def test_verbose_says_more_of_each_layer(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    _answer(monkeypatch, _judge())

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


@pytest.mark.parametrize(
    ("options", "explained"),
    [
        (["--output", "json"], False),
        (["--output", "json", "--explain"], True),
        (["--output", "markdown"], False),
        (["--output", "markdown", "--explain"], True),
        (["--output", "table"], False),
        (["--output", "table", "--explain"], True),
        (["--output", "html"], True),
        (["--output", "html", "--no-explain"], False),
    ],
)
def test_explain(options: list[str], explained: bool, capsys: Captured) -> None:
    assert main(["score", "other", "--depth", "quick", *options]) == 0

    assert ("SKILL.md:3" in capsys.readouterr().out.replace('"line": 3', "SKILL.md:3")) == explained


def test_corpus_is_written_and_read(place: Path, capsys: Captured) -> None:
    shutil.copytree(place / "other", place / "plugins" / "p" / "skills" / "other")
    write_skill(place / "plugins" / "q" / "skills" / "w1")

    assert main(["init", "plugins"]) == 0
    assert capsys.readouterr().out.startswith("2 skills in ")
    index = Path.home() / ".plugineval" / "corpus" / "index.json"
    assert [one["name"] for one in json.loads(index.read_text())] == ["other", "w1"]

    assert main(["score", "w1", "demo", "--depth", "quick", "--output", "json", "--corpus"]) == 0
    out, err = capsys.readouterr()
    skill, plugin = json.loads(out)
    assert (skill["standing"]["compared"], skill["standing"]["composite"]["lower"]) == (2, 1)
    assert "standing" not in plugin
    assert skill["config"]["corpus_path"] == str(index.parent)
    assert err == "note: demo: a plugin has no place among the skills of a corpus\n"


def test_init_leaves_out_what_it_cannot_read(place: Path, capsys: Captured) -> None:
    (place / "plugins" / "p" / "skills" / "bad").mkdir(parents=True)
    (place / "plugins" / "p" / "skills" / "bad" / "SKILL.md").write_bytes(b"\xff")

    assert main(["init", "plugins", "--corpus-dir", "here"]) == 0

    out, err = capsys.readouterr()
    assert out == f"0 skills in {Path('here', 'index.json')}\n"
    assert err.startswith("warning: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("output", "start"),
    [
        ([], "# w1 and other\n"),
        (["--output", "html"], "<!DOCTYPE html>"),
        (["--output", "table"], "w1 and other\n"),
        (["--output", "json"], '{\n  "a": {'),
    ],
)
def test_compare(output: list[str], start: str, capsys: Captured) -> None:
    assert main(["compare", "w1", "other", *output]) == 0

    out, err = capsys.readouterr()
    assert out.startswith(start)
    assert err == ""


def test_compare_names_both_that_fail(capsys: Captured) -> None:
    assert main(["compare", "nope", "demo"]) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_tells_what_was_spent(
    command: str, number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    backend = _Interrupted(at=3, number=number)
    _answer(monkeypatch, backend)
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
    _answer(monkeypatch, _Interrupted(at=6, number=signal.SIGINT))

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


def _command(
    *arguments: str,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    **variables: str,
) -> subprocess.CompletedProcess[bytes]:
    code = "import sys; from pytest_plugin_eval.cli.main import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        stdout=stdout,
        stderr=stderr,
        check=False,
        env={**os.environ, **variables},
        timeout=60,
    )


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_table_is_made_of_what_the_terminal_has(encoding: str) -> None:
    done = _command(
        *("score", "w1", "--depth", "quick", "--output", "table"), PYTHONIOENCODING=encoding
    )

    assert done.returncode == 0, done.stderr
    assert ("█" in done.stdout.decode(encoding)) == (encoding == "utf-8")
    assert ("###" in done.stdout.decode(encoding)) == (encoding != "utf-8")


@pytest.mark.parametrize("output", ["json", "markdown", "html"])
def test_document_is_utf_8_whatever_the_locale_is(output: str) -> None:
    write_skill(Path("w\N{LATIN SMALL LETTER E WITH ACUTE}"), W1)

    done = _command(
        *("score", "w\u00e9", "--depth", "quick", "--output", output),
        PYTHONIOENCODING="ascii",
        PYTHONUTF8="1",
    )

    assert done.returncode == 0, done.stderr
    assert "w\u00e9" in done.stdout.decode()


def test_path_that_is_no_text_is_printed_all_the_same() -> None:
    directory = os.fsdecode(b"w\xff")
    write_skill(Path(directory), W1)

    for output in ("json", "markdown", "html", "table"):
        done = _command("score", directory, "--depth", "quick", "--output", output)
        assert done.returncode == 0, done.stderr
        assert "w\ufffd" in done.stdout.decode()
    failed = _command("score", os.fsdecode(b"no\xff"), "--depth", "quick")
    assert failed.returncode == 2
    assert len(failed.stderr.splitlines()) == 1


def test_reader_that_goes_away_is_no_traceback() -> None:
    code = "import sys; from pytest_plugin_eval.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "score", *["w1"] * 200, "--depth", "quick"]

    with subprocess.Popen(
        [*command, "--output", "html"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read()

    assert b"Traceback" not in err


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("threshold", ["0", "99"])
def test_reader_that_goes_away_leaves_the_exit_code_be(output: str, threshold: str) -> None:
    command = ["score", *["w1"] * 200, "--depth", "quick", "--output", output]
    ours, theirs = os.pipe()
    os.close(ours)

    done = _command(*command, "--threshold", threshold, stdout=theirs)

    os.close(theirs)
    assert done.returncode == (1 if threshold == "99" else 0)
    assert b"Error" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full device")
@pytest.mark.parametrize(
    "command",
    [
        *(["score", "w1", "--depth", "quick", "--output", one] for one in FORMATS),
        *(["compare", "w1", "other", "--output", one] for one in FORMATS),
        ["init", ".", "--corpus-dir", "corpus"],
    ],
    ids=" ".join,
)
def test_output_that_cannot_be_written_is_told_in_one_line(command: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = _command(*command, stdout=full.fileno())

    assert done.returncode == 2
    assert done.stderr == b"Error: stdout: cannot be written: No space left on device\n"


@pytest.mark.parametrize("output", FORMATS)
def test_output_that_is_closed_is_told_before_anything_is_asked(
    output: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(sys, "stdout", None)

    assert main(["score", "w1", "--output", output]) == 2

    assert capsys.readouterr().err == "Error: stdout is closed, expected somewhere to write to\n"


def test_notes_that_nobody_reads_end_nothing() -> None:
    ours, theirs = os.pipe()
    os.close(ours)

    done = _command("score", "w1", "demo", "nowhere", "--depth", "quick", stderr=theirs)

    os.close(theirs)
    assert done.returncode == 2
    assert done.stdout.startswith(b"# Quality scores")


def test_table_is_the_default_on_a_terminal() -> None:
    assert _on_a_terminal(["score", "w1", "--depth", "quick"]).startswith("w1 (skill, quick): w1")
    assert "Winner" in _on_a_terminal(["compare", "w1", "other"])


def _on_a_terminal(arguments: Sequence[str]) -> str:
    code = "import sys; from pytest_plugin_eval.cli.main import main; sys.exit(main())"
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=theirs) as process:
        os.close(theirs)
        read = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # Linux says so when the other end is closed
                break
            if not part:
                break
            read += part
        assert process.wait(60) == 0
    os.close(ours)
    return read.decode()


def test_quick_score_imports_no_more_than_it_needs() -> None:
    code = (
        "import sys; from pytest_plugin_eval.cli.main import main\n"
        "assert main(['score', 'w1', '--depth', 'quick', '--output', 'json']) == 0\n"
        "heavy = {'anthropic', 'asyncio', 'filelock', 'jinja2', 'pydantic', 'pytest', 'scipy',\n"
        "         'concurrent.futures', 'decimal', 'subprocess', 'py_mini_racer'}\n"
        "sys.stderr.write(' '.join(sorted(heavy & set(sys.modules))))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stderr == ""
