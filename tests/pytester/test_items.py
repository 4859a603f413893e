"""Ids, selection and outcomes of runs."""

from __future__ import annotations

import pytest

from tests.pytester.conftest import HELLO, Suite

ALL = [
    "evals/first::run[with-1]",
    "evals/first::run[with-2]",
    "evals/first::run[without-1]",
    "evals/first::run[without-2]",
]


@pytest.fixture
def first(suite: Suite) -> Suite:
    """Return a suite of one case with two good runs and two bad ones without the plugin."""
    suite.case("first", front="tags: [smoke, other]")
    suite.records("first", "hh", "gg")
    return suite


def _ids(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::run[" in line and " " not in line]


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (["evals"], ALL),
        (["evals/first"], ALL),
        (["evals/first/prompt.md"], ALL),
        (["evals/first/graders/hello.md"], ALL),
        (["evals/first/graders"], ALL),
        (["evals/first::score"], ALL),
        (["evals/first::run[with-1]"], ALL[:1]),
        (["evals/first/prompt.md::run[with-1]"], ALL[:1]),
        (["evals/first::run[with-1]", "evals/first::run[without-2]"], [ALL[0], ALL[3]]),
        (["evals/first::run[with-1]", "evals/first"], ALL),
        (["evals", "-k", "first"], ALL),
        (["evals", "-k", "with and not without"], ALL[:2]),
        (["evals", "-k", "without"], ALL[2:]),
        (["evals", "-m", "smoke and other"], ALL),
        (["evals", "-m", "smoke", "--strict-markers"], ALL),
        (["evals", "--deselect", "evals/first::run[with-1]"], ALL[1:]),
        (["evals", "--eval-case", "f?rs*"], ALL),
        (["evals", "--eval-tag", "no", "smoke"], ALL),
        (["evals", "--eval-runs", "1"], [ALL[0], ALL[2]]),
        (["evals", "--eval-ablation", "none"], ALL[:2]),
        ([".", "--evals"], ALL),
    ],
    ids=" ".join,
)
def test_arguments_select_runs(first: Suite, arguments: list[str], ids: list[str]) -> None:
    result = first.replay("--collect-only", "-q", *arguments)

    assert _ids(result) == ids
    assert result.ret == pytest.ExitCode.OK


@pytest.mark.parametrize(
    "arguments",
    [
        ["-k", "nothing"],
        ["-k", "score"],
        ["--deselect", "evals/first"],
        ["--eval-case", "first?"],
        ["--eval-case", "First"],
        ["--eval-tag", "smo"],
        ["--ignore", "evals/first"],
        ["--ignore-glob", "*/fir*"],
    ],
    ids=" ".join,
)
def test_selection_may_leave_nothing(first: Suite, arguments: list[str]) -> None:
    result = first.replay("evals", *arguments)

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize("name", ["run[with-9]", "run[maybe-1]", "scores", "run"])
@pytest.mark.parametrize("distributed", [False, True])
def test_id_that_selects_nothing_is_a_usage_error(
    first: Suite, name: str, distributed: bool
) -> None:
    workers = ["-n1"] if distributed else []

    result = first.replay(f"evals/first::{name}", *workers)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: not found: evals/first::{name.replace('[', '[[]')}"])


@pytest.mark.parametrize(
    "name", ["build", "dist", "venv", ".hidden", "node", "a b", "Ümlaut", "deep/er/still", "x[1]"]
)
def test_case_directories_of_any_name_are_collected(suite: Suite, name: str) -> None:
    suite.case(name)
    suite.records(name, "h")

    result = suite.replay("evals")

    result.assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("options", "conftest", "left"),
    [
        (["--ignore=evals/first"], "", ["group/build/third", "group/second"]),
        (["--ignore=evals/group/build"], "", ["first", "group/second"]),
        (["--ignore-glob=*/group"], "", ["first"]),
        ([], "collect_ignore = ['evals/first']", ["group/build/third", "group/second"]),
        ([], "collect_ignore_glob = ['evals/gr*']", ["first"]),
    ],
    ids=["ignore", "ignore-build", "ignore-glob", "collect-ignore", "collect-ignore-glob"],
)
def test_directories_that_the_user_ignores_are_left_out(
    suite: Suite, options: list[str], conftest: str, left: list[str]
) -> None:
    for name in ("first", "group/second", "group/build/third"):
        suite.case(name)
        suite.records(name, "h")
    suite.pytester.makeconftest(conftest)

    result = suite.replay("evals", "--collect-only", "-q", *options)

    assert _ids(result) == [f"evals/{name}::run[with-1]" for name in left]


@pytest.mark.parametrize("name", ["results/x", "recordings/x", "mocks/x", "node_modules/x"])
def test_reserved_directories_hold_no_cases(suite: Suite, name: str) -> None:
    suite.case("first")
    suite.records("first", "h")
    suite.case(name)

    # What lies in `mocks` is a server's mock, of which there may be something to say.
    result = suite.replay("evals", "--collect-only", "-q", "-W", "ignore")

    assert _ids(result) == ["evals/first::run[with-1]"]


def test_eval_directory_may_be_a_case_itself(suite: Suite) -> None:
    suite.case(".")
    suite.case("inner")

    result = suite.pytester.runpytest("evals", "--collect-only", "-q", "--eval-ablation", "none")

    assert _ids(result) == [f"evals::run[with-{n}]" for n in (1, 2, 3)]


def test_python_files_of_a_case_are_neither_collected_nor_imported(first: Suite) -> None:
    case = first.evals / "first"
    (case / "conftest.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    (case / "test_x.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    (case / "graders" / "test_y.py").write_text("def test_y(): pass", encoding="utf-8")

    result = first.replay("evals")

    result.assert_outcomes(passed=3)


def test_outcomes_have_their_own_words(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "hg", "gh")

    result = suite.replay("evals", "-v", "--eval-threshold", "0.5")

    result.stdout.fnmatch_lines(
        [
            "evals/first::run[[]with-1[]] PASSED *",
            "evals/first::run[[]with-2[]] PARTIAL 0.00 *",
            "evals/first::run[[]without-1[]] BASELINE 0.00 *",
            "evals/first::run[[]without-2[]] BASELINE 1.00 *",
            "evals/first::score PASSED *",
            "*2 passed, 1 partial, 2 baseline in *",
        ]
    )
    assert result.ret == pytest.ExitCode.OK


def test_failure_is_explained_without_a_traceback(suite: Suite) -> None:
    suite.case("first", graders={"hello": HELLO, "bye": HELLO.replace("hello", "goodbye")})
    suite.records("first", "g")

    result = suite.replay("evals")

    result.stdout.fnmatch_lines(
        [
            "wrong: grader hello failed, and no skill was called",
            "  score 0.50, threshold 1.00",
            "*bye (weight 1): matched goodbye",
            "*hello (weight 1): pattern not found in last_message",
            "*trace: evals/recordings/evals/first/with-1.jsonl",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "collector.py" not in result.stdout.str()


def test_setup_options_start_no_run(suite: Suite, agent: object) -> None:
    suite.case("first")

    for option in ("--setup-only", "--setup-plan"):
        result = suite.pytester.runpytest("evals", option)
        assert result.ret in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)

    assert agent.requests == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("workers", ["0", "1"])
def test_hooks_of_the_users_conftest_files_see_the_runs(suite: Suite, workers: str) -> None:
    suite.case("first")
    suite.records("first", "h", "g")
    for place in (suite.root, suite.evals):
        (place / "conftest.py").write_text(
            "import pathlib\n"
            "def pytest_runtest_setup(item):\n"
            "    with pathlib.Path('seen.txt').open('a') as file:\n"
            f"        file.write('{place.name} ' + item.name + '\\n')\n",
            encoding="utf-8",
        )

    suite.replay("evals", "-n", workers)

    seen = (suite.root / "seen.txt").read_text(encoding="utf-8").splitlines()
    assert {line.split()[0] for line in seen} == {suite.root.name, "evals"}
    assert {line.split()[1] for line in seen} == {"run[with-1]", "run[without-1]"}
