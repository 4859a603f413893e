"""Tags of a case as markers."""

from __future__ import annotations

import pytest

from tests.pytester.conftest import Suite


@pytest.mark.parametrize("tag", ["skip", "xfail", "usefixtures", "parametrize", "timeout", "flaky"])
def test_tag_of_a_foreign_mark_does_nothing_but_warn(suite: Suite, tag: str) -> None:
    suite.case("first", front=f"tags: [{tag}]")
    suite.records("first", "h", "g")

    result = suite.replay("evals", "-W", "default")

    result.assert_outcomes(passed=2, warnings=1)
    result.stdout.fnmatch_lines(
        [f"*tag '{tag}' of case evals/first belongs to pytest or a plugin*"]
    )


@pytest.mark.parametrize("tag", ["not a name", "-a", "and", "''", "None", "'a:b'", "a(b)"])
def test_tag_that_m_cannot_name_warns(suite: Suite, tag: str) -> None:
    suite.case("first", front=f"tags: [{tag}]")
    suite.records("first", "h", "g")

    suite.replay("evals", "--strict-markers", "-W", "default").assert_outcomes(passed=2, warnings=1)


def test_tag_of_the_users_own_mark_is_that_mark(suite: Suite) -> None:
    suite.pytester.makeini("[pytest]\nmarkers = smoke: quick ones\n")
    suite.case("first", front="tags: [smoke]")
    suite.records("first", "h", "g")

    suite.replay("evals", "-m", "smoke", "--strict-markers").assert_outcomes(passed=2)


def test_same_tag_in_many_cases_is_registered_once(suite: Suite) -> None:
    for name in ("a", "b"):
        suite.case(name, front="tags: [smoke, skip]")
        suite.records(name, "h", "g")

    result = suite.replay("evals", "-W", "default")

    result.assert_outcomes(passed=4, warnings=1)


def test_warning_that_the_user_made_an_error_is_one_of_that_case(suite: Suite) -> None:
    suite.case("first", front="tags: [skip]")
    suite.records("first", "h", "g")
    suite.case("second")
    suite.records("second", "h", "g")

    result = suite.replay("evals", "-W", "error")

    result.assert_outcomes(passed=2, errors=1)
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize("tag", ["zero-findings", "v1.2", "a/b", "Ümlaut", "import", "c++", "1st"])
def test_tag_of_usual_spelling_is_a_marker(suite: Suite, tag: str) -> None:
    suite.case("first", front=f"tags: ['{tag}']")
    suite.records("first", "h", "g")
    suite.case("second")
    suite.records("second", "h", "g")

    result = suite.replay("evals", "-m", f"{tag} and not other", "-v", "-W", "error")

    result.assert_outcomes(passed=2, deselected=2)
