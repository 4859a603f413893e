"""`plugin-eval run`: what it hands to pytest, and what it hands out."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from pytest_plugin_eval.agents.base import AgentRequest
from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.records.model import Ending, RunRecord
from tests.pytester.conftest import StandInAgent, Suite, answered

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def cache_elsewhere(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep the cache out of the plugin, which lies in the home directory that pytester makes."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def two_cases(suite: Suite, agent: StandInAgent) -> Suite:
    """Return a suite whose second case fails."""
    suite.case("first", front="runs: 1")
    suite.case("second", front="runs: 1", graders={"no": "---\ntype: regex\n---\nnever"})
    return suite


def files(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def test_exit_code_follows_the_scores(two_cases: Suite, capsys: Captured) -> None:
    assert main(["run", ".", "--case", "first"]) == 0
    assert main(["run", "."]) == 1
    assert main(["run", ".", "--threshold", "0"]) == 0
    assert "1 passed" in capsys.readouterr().out


def test_further_targets_are_said_to_be_ignored(two_cases: Suite, capsys: Captured) -> None:
    code = main(["run", "evals/first", "evals/second", "x", "--json"])

    out, err = capsys.readouterr()
    told = "warning: 'evals/second', 'x' ignored: one target is evaluated, 'evals/first'\n"
    assert (code, err.count(told)) == (0, 1)
    assert [case["name"] for case in json.loads(out)["cases"]] == ["first"]


def test_json_is_alone_on_stdout(two_cases: Suite, capsys: Captured) -> None:
    code = main(["run", "evals/first", "--json", "--runs", "2", "-j", "2"])

    out, err = capsys.readouterr()
    document = json.loads(out)
    assert (code, document["suite"]["concurrency"]) == (0, 2)
    assert [len(runs) for runs in document["cases"][0]["arms"].values()] == [2, 2]
    assert out == next(two_cases.evals.glob("results/*/aggregate-result.json")).read_text("utf-8")
    assert "CASE" in err


def test_runs_have_no_upper_limit(two_cases: Suite, agent: StandInAgent) -> None:
    code = main(["run", "evals/first", "--runs", "51", "--ablation", "none"])

    assert (code, len(agent.requests)) == (0, 51)


def test_json_path_and_output_dir(two_cases: Suite, capsys: Captured) -> None:
    code = main(["run", ".", "--json", "new/out.json", "--output-dir", "there"])

    assert (code, capsys.readouterr().out) == (1, "Wrote new/out.json\n")
    document = Path("new/out.json").read_text("utf-8")
    assert document == Path("there/aggregate-result.json").read_text("utf-8")
    assert not (two_cases.evals / "results").exists()


def test_json_path_that_cannot_be_written(two_cases: Suite, capsys: Captured) -> None:
    Path("taken.json").mkdir()
    Path("file").touch()

    assert main(["run", ".", "--json", "taken.json"]) == 1
    assert main(["run", ".", "--json", "file/out.json"]) == 1
    err = capsys.readouterr().err
    assert "Error: --json: 'taken.json' is a directory, expected a file\n" in err
    assert "Error: --json: file/out.json cannot be written: " in err


def test_no_pytest_configuration_has_a_say(
    two_cases: Suite, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    Path("pytest.ini").write_text(
        "[pytest]\naddopts = -n auto --no-such-option\nplugin_eval_mode = replay\n"
        "minversion = 99\nnorecursedirs = first\n"
    )
    Path("conftest.py").write_text("raise RuntimeError('must not be imported')")
    Path("evals/test_mine.py").write_text("def test_mine(): assert False")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")

    assert main(["run", ".", "--case", "first"]) == 0
    assert "test_mine" not in capsys.readouterr().out
    assert os.environ["PYTEST_ADDOPTS"] == "--no-such-option"


def test_nothing_but_results_is_left(two_cases: Suite) -> None:
    before = files(two_cases.root)

    main(["run", "."])

    new = files(two_cases.root) - before
    assert all(path.startswith("evals/results/") for path in new)
    assert len(new) == 7  # document, page, what the session was, and four records


def test_case_outside_an_eval_directory(two_cases: Suite) -> None:
    case = two_cases.case("../scratch/third", front="runs: 1")

    assert main(["run", str(case / "prompt.md")]) == 0
    assert len(list(two_cases.evals.glob("results/*/aggregate-result.json"))) == 1
    assert not list(two_cases.root.glob("scratch/**/results"))


def test_refused_before_anything_leaves_no_directory(two_cases: Suite, capsys: Captured) -> None:
    case = two_cases.case("../scratch/third", front="runs: 1")
    two_cases.case("../scratch/third/none", front="x: 1")

    assert main(["run", str(case / "prompt.md"), "--allow-tools", "Bash(("]) == 1
    assert not list(two_cases.evals.glob("results/*"))
    assert "Bash" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--case", "zz"], "Error: no case matches --case 'zz'"),
        (["--case", "f*", "--tag", "a", "b"], "Error: no case matches --case 'f*' and --tag a b"),
    ],
)
def test_no_case_matches(
    two_cases: Suite, capsys: Captured, arguments: list[str], message: str
) -> None:
    code = main(["run", ".", "--json", *arguments])

    out, err = capsys.readouterr()
    document = json.loads(out)
    assert (code, document["cases"], document["aggregates"]["overallScore"]) == (1, [], 0)
    assert message in err
    assert not (two_cases.evals / "results").exists()


def test_no_case_at_all(suite: Suite, capsys: Captured) -> None:
    code = main(["run", "--json"])

    out, err = capsys.readouterr()
    assert (code, json.loads(out)["suite"]["root"]) == (1, str(suite.root))
    assert err.startswith(f"Error: no eval cases found below {suite.root}: expected evals/<case>/")


def test_load_error_of_another_case_gives_1(two_cases: Suite, capsys: Captured) -> None:
    two_cases.case("broken", front="max_turn: 3")

    code = main(["run", ".", "--case", "first", "--json"])

    document = json.loads(capsys.readouterr().out)
    assert (code, [case["name"] for case in document["cases"]]) == (1, ["first"])
    assert "max_turn" in document["loadErrors"][0]


def test_cost_ceiling_gives_2(two_cases: Suite, capsys: Captured) -> None:
    code = main(["run", ".", "--case", "first", "--max-cost-usd", "0.2", "--json"])

    document = json.loads(capsys.readouterr().out)
    assert (code, document["partialReason"]) == (2, "cost_ceiling")


def test_way_on_is_a_command_that_goes_on(
    two_cases: Suite, agent: StandInAgent, capsys: Captured
) -> None:
    main(["run", ".", "--case", "first", "--max-cost-usd", "0.2", "--threshold", "0.5"])
    (told,) = re.findall(r"continue with: pytest(.*(?:\n    .*)*)", capsys.readouterr().out)

    result = two_cases.pytester.runpytest(*shlex.split(told), "--eval-max-cost-usd=9")

    assert result.ret == pytest.ExitCode.OK
    assert [(run.key.case, run.key.arm.value) for run in agent.requests] == [
        ("evals/first", "with"),
        ("evals/first", "without"),
    ]
    assert len(list(two_cases.evals.glob("results/*"))) == 1


def test_refused_credential_gives_2(two_cases: Suite, agent: StandInAgent) -> None:
    agent.answer = lambda request: answered(
        request, "", ending=Ending.CREDENTIAL_REFUSED, error="exit 1: no"
    )

    assert main(["run", "."]) == 2
    assert len(agent.requests) == 1


def test_interrupt_gives_130(two_cases: Suite, agent: StandInAgent, capsys: Captured) -> None:
    def answer(request: AgentRequest) -> RunRecord:
        if request.key.case == "evals/second":
            raise KeyboardInterrupt
        return answered(request, "hello")

    agent.answer = answer

    code = main(["run", ".", "--json"])

    document = json.loads(capsys.readouterr().out)
    assert (code, document["partialReason"]) == (130, "interrupted")
    assert document["cases"][0]["aggregates"]["score"] == 1


def test_bad_grant_gives_1(two_cases: Suite, capsys: Captured) -> None:
    assert main(["run", ".", "--disallow-tools", "Read(x)"]) == 1
    assert "Read(x)" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["plug[in]", "plug[in", "]plug[", "a[b]/c[d]"])
@pytest.mark.parametrize("target", ["", "evals", "evals/first"])
def test_brackets_in_the_path_of_a_plugin_are_no_parameters(
    name: str, target: str, two_cases: Suite, tmp_path: Path, capsys: Captured
) -> None:
    root = Path(shutil.copytree(two_cases.root, tmp_path / name / "plugin"))
    here = Path.cwd()

    code = main(["run", str(root / target), "--case", "first", "--json"])

    out, err = capsys.readouterr()
    assert code == 0, err
    document = json.loads(out)
    assert [case["dir"] for case in document["cases"]] == ["evals/first"]
    assert document["suite"]["root"] == str(root)
    assert Path.cwd() == here


def test_doctor_finds_the_suite_of_a_plugin_with_brackets_in_its_path(
    two_cases: Suite, tmp_path: Path, capsys: Captured
) -> None:
    root = shutil.copytree(two_cases.root, tmp_path / "plug[in]")

    main(["doctor", str(root)])

    (line,) = [line for line in capsys.readouterr().out.splitlines() if " suite:" in line]
    assert "2 cases" in line


def test_brackets_in_the_name_of_a_case_do_not_keep_it_from_running(
    two_cases: Suite, capsys: Captured
) -> None:
    (two_cases.evals / "first").rename(two_cases.evals / "first[1]")

    code = main(["run", "evals/first[1]", "--json"])

    out, err = capsys.readouterr()
    assert code == 0, err
    assert [case["dir"] for case in json.loads(out)["cases"]] == ["evals/first[1]"]


@pytest.mark.parametrize("argument", ["evals/first", "evals/first::run[with-1]", "./evals/first"])
def test_pytest_itself_runs_a_case_below_a_directory_with_brackets(
    argument: str, two_cases: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = shutil.copytree(two_cases.root, tmp_path / "plug[in]")
    monkeypatch.chdir(root)

    result = two_cases.pytester.inline_run("--rootdir=.", "--trust-plugin", argument)

    assert result.ret == 0
