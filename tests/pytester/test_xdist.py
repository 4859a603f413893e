"""What xdist changes, and what it must not."""

from __future__ import annotations

import json
import re

import pytest

from tests.pytester.conftest import NICE, Suite


def _volatile_removed(document: dict[str, object]) -> object:
    text = json.dumps(document)
    text = re.sub(r'"(startedAt|recorded_at)": "[^"]*"', "", text)
    return json.loads(re.sub(r'"durationSeconds": \d+,', "", text).replace("{, ", "{"))


def test_document_is_the_same_with_and_without_workers(suite: Suite) -> None:
    for name, replies in (("a", "hhg"), ("b", "hhh"), ("deep/c", "ggg")):
        suite.case(name, front="tags: [smoke]")
        suite.records(name, replies, "gh")
    suite.case("broken", graders={})

    suite.replay("evals", "--eval-results-dir", "plain")
    suite.replay("evals", "--eval-results-dir", "spread", "-n", "2")

    plain, spread = (
        json.loads((suite.root / name / "aggregate-result.json").read_text(encoding="utf-8"))
        for name in ("plain", "spread")
    )
    for document in (plain, spread):
        del document["startedAt"], document["durationSeconds"]
    assert spread == plain


def test_markers_hold_in_the_workers(suite: Suite) -> None:
    suite.case("a", front="tags: [smoke]")
    suite.records("a", "h", "g")
    suite.case("b")
    suite.records("b", "h", "g")

    result = suite.replay("evals", "-n", "2", "-m", "smoke", "--strict-markers", "-v")

    assert "evals/b::" not in result.stdout.str()
    result.assert_outcomes(passed=2)


def test_id_of_a_run_selects_it_in_the_workers(suite: Suite) -> None:
    suite.case("a")
    suite.records("a", "hh", "g")

    result = suite.replay("evals/a::run[with-2]", "-n", "2", "-v")

    assert "run[with-2]" in result.stdout.str()
    assert "run[with-1]" not in result.stdout.str()


def test_worker_that_dies_loses_its_run_and_nothing_else(suite: Suite) -> None:
    suite.case("a")
    suite.records("a", "hhhh", "gg")
    suite.pytester.makeconftest(
        """
        import os

        def pytest_runtest_setup(item):
            if item.name == "run[with-2]":
                os._exit(1)
        """
    )

    result = suite.replay("evals", "-n", "2", "-v", "-rs")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines_random(
        ["*crashed while running*run[[]with-2[]]*", "*asymmetric loss*", "*evals/a::score*"]
    )
    case = suite.document()["cases"][0]  # type: ignore[index]
    assert [run["measured"] for run in case["arms"]["with"]] == [True, False, True, True]
    assert "delta" not in case["aggregates"]
    assert suite.document()["partialReason"] == "not_measured"


@pytest.mark.parametrize("options", [["--eval-concurrency", "2", "-n", "1"]])
def test_concurrency_is_refused_beside_workers(suite: Suite, options: list[str]) -> None:
    suite.case("a")

    result = suite.pytester.runpytest("evals", *options)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --eval-concurrency 2: not with xdist, use -n 2 alone"])


def test_every_run_on_each_worker_is_refused(suite: Suite) -> None:
    suite.case("a")

    result = suite.pytester.runpytest("evals", "--dist", "each", "--tx", "2*popen")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --dist each: *"])


def test_loadscope_keeps_a_case_on_one_worker(suite: Suite) -> None:
    for name in ("a", "b"):
        suite.case(name)
        suite.records(name, "hhh", "ggg")

    result = suite.replay("evals", "-n", "2", "--dist", "loadscope", "-v")

    workers: dict[str, set[str]] = {}
    for line in result.outlines:
        found = re.match(r"\[(gw\d)\].* evals/(\w)::run", line)
        if found:
            workers.setdefault(found[2], set()).add(found[1])
    assert {name: len(ids) for name, ids in workers.items()} == {"a": 1, "b": 1}


def test_mode_and_notes_are_said_although_workers_collect(suite: Suite) -> None:
    suite.case("a")
    suite.records("a", "h", "g")
    (suite.evals / "evals.json").write_text("{}", encoding="utf-8")

    result = suite.replay("evals", "-n", "1")

    result.stdout.fnmatch_lines(
        ["evals: replay mode,*", "*/evals/evals.json:*", "*is of another evaluation*"]
    )


@pytest.mark.parametrize("quiet", [True, False])
def test_hints_are_left_out_where_a_session_is_to_be_quiet(suite: Suite, quiet: bool) -> None:
    suite.case("a", graders={"free": "---\ntype: regex\npattern: .*\n---\n"})
    suite.records("a", "h", "g")

    said = suite.replay("evals", "-n", "1", *(["-q"] if quiet else [])).stdout.str()

    assert "evals: replay mode," in said
    assert ("cannot fail" in said) == (not quiet)


def test_votes_that_workers_do_not_ask_for_are_told_in_the_head_line(suite: Suite) -> None:
    suite.case("a", graders={"nice": NICE})
    suite.records("a", "h", "g")

    words = " ".join(suite.replay("evals", "-n", "1").stdout.str().split())

    assert "no cost: votes that are not recorded are not asked for under xdist (-n)" in words


@pytest.mark.agent
def test_agent_is_named_although_workers_run_it(suite: Suite) -> None:
    suite.case("a", front="runs: 1")

    options = ("--eval-max-cost-usd", "0", "--trust-plugin")
    result = suite.pytester.runpytest("evals", "-n", "1", *options)

    assert "agent: Claude Code 2." in " ".join(result.stdout.str().split())


def test_missing_agent_is_said_by_every_run_of_the_workers(suite: Suite) -> None:
    suite.case("a", front="runs: 1")

    options = ("--eval-agent-path", "/nowhere/claude", "--trust-plugin")
    result = suite.pytester.runpytest("evals", "-n", "1", *options)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*/nowhere/claude*"])
    result.stdout.no_fnmatch_line("*def setup*")  # no traceback


def test_missing_agent_is_a_usage_error_without_workers(suite: Suite) -> None:
    suite.case("a", front="runs: 1")

    result = suite.pytester.runpytest("evals", "--eval-agent-path", "/nowhere/claude")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *nowhere/claude*"])


AGENT = """
import os, pathlib, signal, time
from pytest_plugin_eval.agents.claude_cli import ClaudeCli
from pytest_plugin_eval.records.model import Ending, RunOutcome, RunRecord
from pytest_plugin_eval.records.trace import Trace

WORKER, HERE = os.environ.get("PYTEST_XDIST_WORKER", ""), pathlib.Path(__file__).parent
TEXT = '{"type":"text","text":"hello"}'
SAID = '{"type":"assistant","message":{"role":"assistant","content":[%s]}}' % TEXT

class Agent:
    description, version, made = "stand-in agent", "2.1.332", 0

    def run(self, request):
        self.made += 1
        (HERE / f"{WORKER}.{self.made}").touch()
        outcome = RunOutcome(ending=ending(self.made), error=None, cost_usd=0.25, turns=1)
        return RunRecord(key=request.key, outcome=outcome, trace=Trace([SAID]))

    def stop(self):
        pass

    def close(self):
        return ()

def ending(number):
    return Ending.COMPLETED

def pytest_configure(config):
    if hasattr(config, "workerinput"):  # the controller is the process of this test
        ClaudeCli.find = lambda **_: found()

def found():
    return Agent()
"""
"""Of the workers, which are processes of their own."""

REFUSED_IN_ITS_FIRST = """
def ending(number):
    if WORKER != "gw1" or number > 1:
        return Ending.COMPLETED
    while not (HERE / "gw0.2").exists():
        time.sleep(0.01)
    return Ending.CREDENTIAL_REFUSED
"""


def test_credential_refused_in_the_first_run_of_a_worker_is_an_ordinary_loss(suite: Suite) -> None:
    suite.case("a", front="runs: 4")
    suite.pytester.makeconftest(AGENT + REFUSED_IN_ITS_FIRST)

    result = suite.pytester.runpytest("evals", "-n", "2", "--eval-retries", "0", "--trust-plugin")

    case = suite.document()["cases"][0]  # type: ignore[index]
    measured = [run["measured"] for arm in case["arms"].values() for run in arm]
    assert sorted(measured) == [False, *[True] * 7]
    assert suite.document()["partialReason"] == "not_measured"
    assert result.ret == pytest.ExitCode.TESTS_FAILED


INTERRUPTED_BEFORE_IT_REPORTS = """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    if WORKER and item.name == "run[with-2]" and call.when == "call":
        os.kill(os.getppid(), signal.SIGINT)
        while True:
            time.sleep(1)
"""


def test_run_that_was_made_and_not_reported_is_told_from_one_that_was_not_made(
    suite: Suite,
) -> None:
    suite.case("a", front="runs: 3")
    suite.pytester.makeconftest(AGENT + INTERRUPTED_BEFORE_IT_REPORTS)

    result = suite.pytester.runpytest_subprocess("evals", "-n", "1", "--trust-plugin")

    reasons = {
        entry["reason"]: entry["runs"]
        for entry in suite.document()["suite"]["runsNotStarted"]  # type: ignore[index]
    }
    assert reasons.pop("made, but the session ended before it was graded") == ["with-2"]
    assert list(reasons) == ["the session ended before"]
    words = " ".join(result.stdout.str().split())
    assert "1 run not graded (made, but the session ended before it was graded)" in words


CUT_OFF = """
import threading

class CutOff(Agent):
    stopped = threading.Event()

    def run(self, request):
        (HERE / f"{WORKER}.begun").touch()
        while not all((HERE / f"gw{n}.begun").exists() for n in (0, 1)):
            time.sleep(0.01)
        if "GROUP" in os.environ:
            os.kill(os.getpid(), signal.SIGINT)
        (HERE / f"{WORKER}.signalled").touch()
        while not all((HERE / f"gw{n}.signalled").exists() for n in (0, 1)):
            time.sleep(0.01)
        if WORKER == "gw0":
            os.kill(os.getppid(), signal.SIGINT)
        assert self.stopped.wait(60)
        time.sleep(0.5)  # as an agent takes to end
        outcome = RunOutcome(
            ending=Ending.INTERRUPTED, error="interrupted", cost_usd=None, known_cost_usd=0.125
        )
        return RunRecord(key=request.key, outcome=outcome, trace=Trace([SAID]))

    def stop(self):
        self.stopped.set()

def found():
    return CutOff()
"""


@pytest.mark.parametrize("group", [False, True], ids=["main process", "process group"])
def test_interrupt_before_any_report_leaves_results_and_counts_what_was_paid(
    suite: Suite, monkeypatch: pytest.MonkeyPatch, group: bool
) -> None:
    for name in ("a", "b", "c"):
        suite.case(name, front="runs: 1")
    suite.pytester.makeconftest(AGENT + CUT_OFF)
    if group:
        monkeypatch.setenv("GROUP", "1")

    result = suite.pytester.runpytest_subprocess("evals", "-n", "2", "--trust-plugin")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    document = suite.document()
    assert (document["partial"], document["partialReason"]) == (True, "interrupted")
    totals: dict[str, object] = document["suite"]  # type: ignore[assignment]
    assert totals["spentUsd"] == pytest.approx(0.25)
    runs = [
        run
        for case in document["cases"]  # type: ignore[attr-defined]
        for arm in case["arms"].values()
        for run in arm
    ]
    assert [run["ending"] for run in runs] == ["interrupted"] * 2
    said = " ".join(result.stdout.str().split())
    assert "results: " in said
    assert "continue with: the same command and --eval-resume=" in said
    assert "of workers that died" not in said
    (results,) = (suite.evals / "results").iterdir()
    assert not [path for path in results.iterdir() if path.name.startswith(".")]


def test_case_in_the_table_is_not_listed_as_not_started(suite: Suite) -> None:
    plugin = Suite(suite.pytester, suite.root / "below")
    (plugin.root / ".claude-plugin").mkdir(parents=True)
    (plugin.root / ".claude-plugin/plugin.json").write_text('{"name": "x"}', encoding="utf-8")
    plugin.case("a", front="runs: 1")
    plugin.case("b", front="runs: 1")
    plugin.case("c", front="runs: 1")
    suite.pytester.makeconftest(AGENT + CUT_OFF)

    suite.pytester.runpytest_subprocess("below/evals", "-n", "2", "--trust-plugin")

    document = plugin.document()
    shown = {f"evals/{case['name']}" for case in document["cases"]}  # type: ignore[attr-defined]
    left = document["suite"]["notStarted"]  # type: ignore[index]
    assert shown.isdisjoint(left)
    assert shown | set(left) == {"evals/a", "evals/b", "evals/c"}


NOT_AWAITED = """
from pytest_plugin_eval.pytest_side import session_place

session_place.STOPPING_S = 0.1
CutOff.stop = lambda self: (time.sleep(3), self.stopped.set())
"""


def test_calls_of_workers_that_do_not_end_in_time_were_cut_off(suite: Suite) -> None:
    suite.case("a", front="runs: 2")
    suite.pytester.makeconftest(AGENT + CUT_OFF + NOT_AWAITED)

    result = suite.pytester.runpytest_subprocess("evals", "-n", "2", "--trust-plugin")

    words = " ".join(result.stdout.str().split())
    assert "warning: 2 calls that were cut off are not counted" in words
    (results,) = (suite.evals / "results").iterdir()
    assert (results / "session.json").is_file()  # so that it can be gone on with
