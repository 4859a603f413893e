"""Workers in another directory or on another machine, and whose files are written where."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.records.codec import read_record
from tests.pytester.conftest import Suite
from tests.pytester.test_xdist import AGENT, CUT_OFF
from tests.support.remote import missing_ssh, remote_host

INI = "[pytest]\ntestpaths = evals\n"
SYNCED = (".claude-plugin", "evals", "pytest.ini")
ON_TIME = ("startedAt", "durationSeconds")
needs_ssh = pytest.mark.skipif(
    missing_ssh() is not None, reason=f"no machine to log in to without {missing_ssh()}"
)


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory that is not there yet, for the workers."""
    return tmp_path_factory.mktemp("machine") / "checkout"


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the configuration by which ssh reaches a machine."""
    with remote_host(tmp_path_factory.mktemp("ssh") / "server") as config:
        yield config


def _ini(suite: Suite) -> None:
    (suite.root / "pytest.ini").write_text(INI, encoding="utf-8")


def _checkout(suite: Suite, elsewhere: Path) -> None:
    """Have the same suite on the other machine, as a checkout of the same commit is."""
    _ini(suite)
    shutil.copytree(suite.root, elsewhere)


def _there(elsewhere: Path, count: int = 2) -> tuple[str, ...]:
    return ("--evals", "--dist", "load", "--tx", f"{count}*popen//chdir={elsewhere}")


def _by_ssh(config: Path, elsewhere: Path, count: int = 1) -> tuple[str, ...]:
    spec = f"ssh=elsewhere//ssh_config={config}//python={sys.executable}//chdir={elsewhere}"
    return ("--evals", "--dist", "load", "--tx", f"{count}*{spec}")


def _files(directory: Path) -> set[str]:
    """Return the files below a directory that belong to evals or their results."""
    below = (path for path in directory.rglob("*") if path.is_file())
    return {
        path.relative_to(directory).as_posix()
        for path in below
        if not {"pytest", "_pytest", "__pycache__"}.intersection(path.relative_to(directory).parts)
    }


def _document(directory: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((directory / "aggregate-result.json").read_text("utf-8"))
    return {name: value for name, value in document.items() if name not in ON_TIME}


def _runs(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [run for case in document["cases"] for arm in case["arms"].values() for run in arm]


def _results(suite: Suite) -> Path:
    (directory,) = (suite.evals / "results").iterdir()
    return directory


@pytest.fixture
def recorded(suite: Suite) -> Suite:
    """Return a suite with recordings, a failing case and one that does not load."""
    for name, replies in (("a", "hhg"), ("b", "hhh"), ("deep/c", "ggg")):
        suite.case(name, front="tags: [smoke]")
        suite.records(name, replies, "gh")
    suite.case("broken", graders={})
    return suite


def test_document_is_the_same_with_workers_in_another_checkout(
    recorded: Suite, elsewhere: Path
) -> None:
    _checkout(recorded, elsewhere)
    before = _files(elsewhere)
    recorded.replay("evals", "--eval-results-dir", "plain")

    result = recorded.replay(*_there(elsewhere), "--eval-results-dir=spread", "-v")

    assert _document(recorded.root / "spread") == _document(recorded.root / "plain")
    assert _files(elsewhere) == before
    assert str(elsewhere) not in result.stdout.str().partition("short test summary")[2]
    assert {path.name for path in (recorded.root / "spread").iterdir()} == {
        "aggregate-result.json",
        "report.html",
    }


@pytest.mark.filterwarnings("ignore:The --rsyncdir:DeprecationWarning")
def test_document_is_the_same_with_a_suite_that_xdist_has_copied(
    recorded: Suite, elsewhere: Path
) -> None:
    _ini(recorded)
    elsewhere.mkdir()
    recorded.replay("evals", "--eval-results-dir", "plain")

    told = [f"--rsyncdir={name}" for name in SYNCED]
    place = str(recorded.evals)
    recorded.replay(place, *told, *_there(elsewhere), "--eval-results-dir=spread")

    assert _document(recorded.root / "spread") == _document(recorded.root / "plain")


@needs_ssh
def test_document_is_the_same_with_a_machine_that_is_logged_in_to(
    recorded: Suite, elsewhere: Path, machine: Path
) -> None:
    _checkout(recorded, elsewhere)
    before = _files(elsewhere)
    recorded.replay("evals", "--eval-results-dir", "plain")

    recorded.replay(*_by_ssh(machine, elsewhere, 2), "--eval-results-dir=spread")

    assert _document(recorded.root / "spread") == _document(recorded.root / "plain")
    assert _files(elsewhere) == before


def test_records_come_home(suite: Suite, elsewhere: Path) -> None:
    suite.case("a", front="runs: 2")
    suite.case("b", front="runs: 1", graders={"no": "---\ntype: regex\npattern: bye\n---\n"})
    suite.pytester.makeconftest(AGENT)
    _checkout(suite, elsewhere)
    before = _files(elsewhere)

    result = suite.pytester.runpytest(*_there(elsewhere), "--trust-plugin")

    place = _results(suite)
    runs = _runs(_document(place))
    paths = {run["tracePath"] for run in runs}
    assert paths == {str(path) for path in (place / "runs").rglob("*.jsonl")}
    assert len(paths) == 6
    assert all(read_record(Path(path)).trace.last_message == "hello" for path in paths)
    assert (place / "session.json").is_file()
    assert not [path.name for path in place.iterdir() if path.name.startswith(".")]
    assert {name for name in _files(elsewhere) - before if "gw" not in name} == set()
    words = "".join(result.stdout.str().split())
    assert f"trace:{place.relative_to(suite.root)}/runs/evals/b/with-1.jsonl" in words
    assert str(elsewhere) not in words


def test_recordings_are_written_here(suite: Suite, elsewhere: Path) -> None:
    suite.case("a", front="runs: 1")
    suite.pytester.makeconftest(AGENT)
    _checkout(suite, elsewhere)
    suite.records("a", "hhh")
    before = _files(elsewhere)

    suite.pytester.runpytest(*_there(elsewhere), "--trust-plugin", "--eval-mode=record")

    recordings = {path.name for path in (suite.evals / "recordings").rglob("*.jsonl")}
    assert recordings == {"with-1.jsonl", "without-1.jsonl"}
    assert {name for name in _files(elsewhere) - before if "gw" not in name} == set()
    notes = [note for run in _runs(suite.document()) for note in run.get("notes", ())]
    assert notes == ["2 recordings of an earlier session with more runs were removed"]


def test_workers_here_and_elsewhere_make_one_result(suite: Suite, elsewhere: Path) -> None:
    suite.case("a", front="runs: 4")
    suite.pytester.makeconftest(AGENT)
    _checkout(suite, elsewhere)

    suite.pytester.runpytest(*_there(elsewhere, 1), "--tx", "popen", "--trust-plugin")

    document = _document(_results(suite))
    assert len(_runs(document)) == 8
    assert all(Path(run["tracePath"]).is_file() for run in _runs(document))
    used = {path.name for path in (*suite.root.glob("gw*"), *elsewhere.glob("gw*"))}
    assert any(name.startswith("gw0") for name in used)
    assert any(name.startswith("gw1") for name in used)


def test_several_suites_have_each_a_directory(suite: Suite, elsewhere: Path) -> None:
    for name in ("one", "two"):
        plugin = Suite(suite.pytester, suite.root / name)
        (plugin.root / ".claude-plugin").mkdir(parents=True)
        manifest = json.dumps({"name": name})
        (plugin.root / ".claude-plugin/plugin.json").write_text(manifest, encoding="utf-8")
        plugin.case("a", front="runs: 1")
    suite.pytester.makeconftest(AGENT)
    (suite.root / "pytest.ini").write_text("[pytest]\ntestpaths = one two\n", encoding="utf-8")
    shutil.copytree(suite.root, elsewhere)

    suite.pytester.runpytest(*_there(elsewhere), "--trust-plugin", "--eval-results-dir=out")

    for name in ("one", "two"):
        document = _document(suite.root / "out" / name)
        assert document["suite"]["plugins"][0]["path"] == str(suite.root / name)
        assert all(Path(run["tracePath"]).is_file() for run in _runs(document))


def test_what_interrupted_workers_made_comes_home(suite: Suite, elsewhere: Path) -> None:
    for name in ("a", "b", "c"):
        suite.case(name, front="runs: 1")
    suite.pytester.makeconftest(AGENT + CUT_OFF + f"\nHERE = pathlib.Path({str(suite.root)!r})\n")
    _checkout(suite, elsewhere)
    before = _files(elsewhere)

    result = suite.pytester.runpytest_subprocess(*_there(elsewhere), "--trust-plugin")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    document = _document(_results(suite))
    assert [run["ending"] for run in _runs(document)] == ["interrupted"] * 2
    assert all(Path(run["tracePath"]).is_file() for run in _runs(document))
    assert document["suite"]["spentUsd"] == pytest.approx(0.25)
    assert "continue with: the same command and --eval-resume=" in " ".join(
        result.stdout.str().split()
    )
    assert _files(elsewhere) == before


def test_results_of_workers_elsewhere_are_gone_on_with_here(suite: Suite, elsewhere: Path) -> None:
    suite.case("a", front="runs: 3")
    suite.pytester.makeconftest(AGENT)
    _checkout(suite, elsewhere)
    options = ("--trust-plugin", "--eval-max-cost-usd=0.5")
    suite.pytester.runpytest(*_there(elsewhere, 1), *options)
    assert suite.document()["partialReason"] == "cost_ceiling"

    place = str(_results(suite).relative_to(suite.root))
    refused = suite.pytester.runpytest(*_there(elsewhere), f"--eval-resume={place}")
    result = suite.pytester.runpytest(
        "evals", "-n", "1", "--trust-plugin", f"--eval-resume={place}"
    )

    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["ERROR: --eval-resume *: workers elsewhere have no part of*"])
    assert suite.document()["partial"] is False
    assert suite.document()["suite"]["runsTakenOver"] == 2  # type: ignore[index]
    assert result.ret == 0


def test_plugin_elsewhere_is_trusted_by_the_machine_that_runs_it(
    suite: Suite, elsewhere: Path
) -> None:
    suite.case("a", front="runs: 1")
    suite.pytester.makeconftest(AGENT)
    _checkout(suite, elsewhere)

    result = suite.pytester.runpytest(*_there(elsewhere))

    words = " ".join(result.stdout.str().split())
    assert "is not a trusted plugin directory" in words
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert not list(elsewhere.glob("gw*"))  # no run was made


def test_ids_that_are_not_those_of_this_rootdir_are_refused(suite: Suite, elsewhere: Path) -> None:
    suite.case("a", front="runs: 1")
    suite.pytester.makeconftest(AGENT)
    _checkout(suite, elsewhere)
    (elsewhere / "pytest.ini").write_text("[pytest]\ntestpaths = plugin/evals\n", encoding="utf-8")
    (elsewhere / "plugin").mkdir()
    for name in (".claude-plugin", "evals"):
        (elsewhere / name).rename(elsewhere / "plugin" / name)

    result = suite.pytester.runpytest(*_there(elsewhere), "--trust-plugin")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: gw* has a case 'plugin/evals/a', and there is none in *"])
    assert not list(elsewhere.glob("gw?.*"))  # no run was made


@pytest.mark.parametrize("named", ["evals", "evals/a"])
def test_relative_path_is_refused_in_a_line(suite: Suite, elsewhere: Path, named: str) -> None:
    suite.case("a")
    suite.records("a", "h", "h")
    _checkout(suite, elsewhere)

    result = suite.replay(named, *_there(elsewhere))

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {named}: xdist tells workers elsewhere of no path*"])


@pytest.mark.parametrize("spelt", [["--tx", "popen"], ["--tx=popen"]])
def test_tx_beside_a_number_of_workers_is_refused(suite: Suite, spelt: list[str]) -> None:
    suite.case("a")
    suite.records("a", "h", "h")

    result = suite.replay("evals", "-n", "1", *spelt)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: -n 1 beside --tx: xdist would use no --tx*"])


@needs_ssh
def test_session_is_stopped_for_workers_that_know_their_own_spending_alone(
    suite: Suite, elsewhere: Path, machine: Path
) -> None:
    suite.case("a", front="runs: 10")
    suite.pytester.makeconftest(AGENT)
    _checkout(suite, elsewhere)
    options = ("--trust-plugin", "--eval-max-cost-usd=1", "--maxschedchunk=1")

    suite.pytester.runpytest(*_by_ssh(machine, elsewhere, 2), *options)

    document = suite.document()
    assert document["partialReason"] == "cost_ceiling"
    # Four runs reach it; each of the two workers has at most another in hand and one waiting.
    assert 1 <= document["suite"]["spentUsd"] <= 2  # type: ignore[index]
    assert all(Path(run["tracePath"]).is_file() for run in _runs(document))
