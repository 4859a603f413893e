"""A case that does not load is an error of that case alone."""

from __future__ import annotations

import pytest

from tests.pytester.conftest import HELLO, Suite


@pytest.fixture
def broken(suite: Suite) -> Suite:
    """Return a suite of a good case and one with two mistakes in two files."""
    suite.case("good")
    suite.records("good", "h", "g")
    suite.case(
        "bad",
        front="max_turn: 3",
        graders={"one": HELLO.replace("pattern", "patern"), "two": HELLO},
    )
    return suite


@pytest.mark.parametrize("workers", ["0", "2"])
def test_other_cases_run_and_the_status_is_1(broken: Suite, workers: str) -> None:
    result = broken.replay("evals", "-n", workers, "-v")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    output = result.stdout.str()
    assert "evals/good::score" in output
    assert "1 case did not load, see ERRORS above" in output
    assert "load error" not in output
    assert "2 passed" in output


@pytest.mark.parametrize("workers", ["0", "2"])
def test_every_mistake_is_told_with_its_line_and_no_traceback(broken: Suite, workers: str) -> None:
    result = broken.replay("evals", "-n", workers)

    result.stdout.fnmatch_lines_random(
        [
            "*evals/bad/prompt.md:2: *max_turn*did you mean*max_turns*",
            "*evals/bad/graders/one.md:3: *patern*pattern*",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert str(broken.root / "evals" / "bad" / "prompt.md") not in result.stdout.str()


def test_document_lists_what_did_not_load(broken: Suite) -> None:
    broken.replay("evals")

    document = broken.document()
    assert len(document["loadErrors"]) >= 2  # type: ignore[arg-type]
    assert [case["name"] for case in document["cases"]] == ["good"]  # type: ignore[attr-defined]


def test_filter_that_selects_good_cases_only_still_ends_with_1(broken: Suite) -> None:
    result = broken.replay("evals", "--eval-case", "good")

    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_report_only_does_not_lift_a_load_error(broken: Suite) -> None:
    assert broken.replay("evals", "--eval-report-only").ret == pytest.ExitCode.TESTS_FAILED


def test_broken_test_module_stops_the_session_as_ever(broken: Suite) -> None:
    broken.pytester.makepyfile(test_broken="import nothing_of_this_name")

    result = broken.replay(".", "--evals")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "evals/good::score" not in result.stdout.str()


def test_nothing_but_broken_cases_is_an_error(suite: Suite) -> None:
    suite.case("bad", graders={})

    assert suite.replay("evals").ret == pytest.ExitCode.TESTS_FAILED


def test_dangling_link_is_an_error_of_no_case(suite: Suite) -> None:
    suite.case("good")
    suite.records("good", "h", "g")
    (suite.evals / "gone").symlink_to(suite.root / "nowhere")

    result = suite.replay("evals")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["error: evals/gone: is a link to", "*nowhere*"])


def test_maxfail_counts_load_errors_as_pytest_does(broken: Suite) -> None:
    result = broken.replay("evals", "-x")

    assert "evals/good::score" not in result.stdout.str()


@pytest.mark.parametrize("workers", ["0", "1"])
def test_free_only_leaves_judges_out_and_says_so(suite: Suite, workers: str) -> None:
    llm = "---\ntype: llm\ncriteria: Is it nice?\n---\n"
    suite.case("mixed", graders={"hello": HELLO, "nice": llm})
    suite.records("mixed", "h", "g")
    suite.case("judged", graders={"nice": llm})
    suite.records("judged", "h", "g")

    result = suite.replay("evals", "--eval-free-only", "-n", workers, "-rs")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines_random(
        ["SKIPPED *evals/judged*scored free grader*", "*free*", "mixed *1.00*"]
    )
    run = suite.document()["cases"][0]["arms"]["with"][0]  # type: ignore[index]
    assert run["score"] == 1
    assert run["skippedPaidGraders"] is True
