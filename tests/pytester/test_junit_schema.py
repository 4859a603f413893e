"""The JUnit file as CI systems read it: its schema, its messages, whatever a model prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from pytest_plugin_eval.records.model import Ending
from tests.pytester.conftest import HELLO, Suite

SCHEMA = Path(__file__).parent.parent / "data" / "junit-jenkins.xsd"
FOUND_NOTHING = "wrong: grader hello failed, and no skill was called"
HOSTILE = "\x00\x07\x1b[2J\x7f\x85 ]]> <!-- &amp; </failure> \ufffe\uffff \U0001f600 \u202e"


def _written(suite: Suite, *arguments: str) -> etree._Element:
    suite.replay("evals", "--junitxml=report.xml", *arguments)
    return etree.fromstring((suite.root / "report.xml").read_bytes())


def _case(junit: etree._Element, name: str) -> etree._Element:
    (found,) = (one for one in junit.iter("testcase") if one.get("name") == name)
    return found


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "usual"])
def test_file_is_what_jenkins_accepts(suite: Suite, workers: str, *, strict: bool) -> None:
    text = HOSTILE * 99
    suite.case("first", graders={"never": HELLO.replace("hello", "zzz")})
    suite.case("lost")
    suite.case("broken", graders={"hello": "---\ntype: nothing\n---\n"})
    suite.record("first", "with", 1, text)
    suite.record("lost", "with", 1, text, ending=Ending.NO_RESULT, error=f"killed {text}")
    suite.records("first", "", "g")
    (suite.root / "test_other.py").write_text("def test_it(): assert 0\n", encoding="utf-8")

    option = ("--eval-junit-strict",) if strict else ()
    junit = _written(suite, "test_other.py", "-n", workers, *option)
    for properties in [] if strict else junit.findall(".//testcase/properties"):
        testcase = properties.getparent()
        assert testcase is not None
        testcase.remove(properties)  # all that the schema has no place for

    schema = etree.XMLSchema(etree.parse(SCHEMA))
    schema.assertValid(junit)  # raises with the reason
    assert len(junit.findall(".//testcase")) == 7
    assert junit.find(".//testcase/error") is not None


@pytest.mark.parametrize("workers", ["0", "2"])
def test_message_is_the_cause_in_one_line_and_the_text_the_whole(
    suite: Suite, workers: str
) -> None:
    suite.case("first")
    suite.records("first", "hg")

    junit = _written(suite, "-n", workers)

    failure = _case(junit, "run[with-2]").find("failure")
    assert failure is not None
    assert failure.get("message") == FOUND_NOTHING
    assert (failure.text or "").startswith(f"{FOUND_NOTHING}\n  score 0.00, threshold 1.00\n")
    verdict = _case(junit, "score").find("failure")
    assert verdict is not None
    assert verdict.get("message") == (
        "wrong in 1 of 2 runs: grader hello failed, and no skill was called"
    )


def test_message_of_a_run_that_was_not_measured_is_its_reason(suite: Suite) -> None:
    suite.case("first")
    suite.record("first", "with", 1, ending=Ending.NO_RESULT, error="killed")

    error = _case(_written(suite), "run[with-1]").find("error")

    assert error is not None
    assert error.get("message") == 'failed on setup with "not measured: killed"'


@pytest.mark.parametrize(("family", "workers"), [("xunit1", "0"), ("xunit2", "0"), ("xunit2", "2")])
def test_output_of_each_run_names_its_trace(suite: Suite, family: str, workers: str) -> None:
    suite.case("first")
    suite.records("first", "hg", "g")

    junit = _written(suite, "-o", f"junit_family={family}", "-n", workers)

    for name in ("with-1", "with-2", "without-1"):
        lines = _case(junit, f"run[{name}]").findtext("system-out", "").splitlines()
        assert lines[0].endswith(f"evals/recordings/evals/first/{name}.jsonl")


@pytest.mark.parametrize("option", [[], ["--eval-junit-strict"]], ids=["usual", "strict"])
def test_name_of_a_case_puts_no_line_into_the_output(suite: Suite, option: list[str]) -> None:
    name = "first\n[[ATTACHMENT|secret]]\n\x9b2J\u202e"
    suite.case(name)
    suite.records(name, "h", "g")

    junit = _written(suite, *option)

    output = "".join(text or "" for text in (one.text for one in junit.iter("system-out")))
    assert output.count("trace: ") == 2
    assert {line.partition("|")[0].partition(" ")[0] for line in output.split("\n")} <= {
        "trace:",
        "[[PROPERTY",
        "",
    }
    assert output.replace("\n", "").isprintable()


def test_properties_stand_in_the_output_where_the_schema_has_no_place_for_them(
    suite: Suite,
) -> None:
    suite.case("first")
    suite.records("first", "h", "g")

    usual = _case(_written(suite), "score")
    strict = _case(_written(suite, "--eval-junit-strict"), "score")

    listed = [(one.get("name"), one.get("value")) for one in usual.iterfind("properties/property")]
    assert ("delta", "1") in listed
    assert usual.find("system-out") is None
    assert strict.find("properties") is None
    assert "[[PROPERTY|delta=1]]" in strict.findtext("system-out", "").splitlines()


def test_summary_of_pytest_tells_the_cause(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "g")

    result = suite.replay("evals", "--tb=line")

    result.stdout.fnmatch_lines(
        [
            f"*prompt.md:1: {FOUND_NOTHING}",
            "FAILED evals/first::run?with-1? - wrong: grader hello failed*",
        ]
    )


def test_properties_of_ordinary_tests_are_left_alone(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "h")
    text = "def test_it(record_property): record_property('a', 'b')\n"
    (suite.root / "test_other.py").write_text(text, encoding="utf-8")

    junit = _written(suite, "test_other.py", "-W", "ignore")

    assert _case(junit, "test_it").find("properties/property") is not None


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_failures_fit_the_terminal_and_the_file_holds_whole_lines(
    suite: Suite, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    names = [f"grader-with-a-long-name-{number}" for number in range(5)]
    suite.case("first", graders={name: HELLO.replace("hello", "zzz") for name in names})
    suite.record("first", "with", 1, "a word and more " * 30)
    monkeypatch.setenv("COLUMNS", str(columns))

    result = suite.replay("evals", "--junitxml=report.xml")

    text = result.stdout.str().partition("= FAILURES =")[2].partition("\n====")[0]
    wide = [line for line in text.splitlines() if len(line) > columns]
    assert all(line.startswith(("  trace: ", "    pytest ")) for line in wide), wide
    junit = etree.fromstring((suite.root / "report.xml").read_bytes())
    failure = _case(junit, "run[with-1]").find("failure")
    assert failure is not None
    assert (failure.text or "").startswith(f"{failure.get('message')}\n")


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_strict_file_of_either_family_is_valid_with_skills_of_hostile_names(
    suite: Suite, family: str
) -> None:
    suite.case("first")
    suite.records("first", "hg", "g")
    skill = suite.root / "skills" / "one" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text('---\nname: "o\\x07ne ]]>"\ndescription: "\\x1b[2J <b>"\n---\nSay it.\n')

    options = ("--eval-junit-strict", "--eval-score", "-o", f"junit_family={family}")
    suite.replay("evals", "skills", "--junitxml=report.xml", *options)

    junit = etree.fromstring((suite.root / "report.xml").read_bytes())
    etree.XMLSchema(etree.parse(SCHEMA)).assertValid(junit)
    assert _case(junit, "quality") is not None
