"""Skills as items: which SKILL.md becomes one, how it passes, fails and errs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import JudgeReply, JudgeRequest
from tests.pytester.conftest import StandInAgent, StandInJudge, Suite
from tests.support.skills import W1

POOR = "---\nname: poor\ndescription: Does things.\n---\n\n# Poor\n"
REPLY = json.dumps({"f1": 0.9, "score": 0.75})
FILE = "skills/w1/SKILL.md"
ITEM = f"{FILE}::quality"
PASSED, FAILED = pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED
NOTHING = pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no line wrapped."""
    monkeypatch.setenv("COLUMNS", "240")


@pytest.fixture
def skills(suite: Suite) -> Suite:
    """Return a plugin with the skill of the worked example, 60.98 at quick depth."""
    _skill(suite.root / "skills", "w1")
    return suite


def _skill(place: Path, name: str, text: str = W1) -> Path:
    directory = place / name
    directory.mkdir(parents=True)
    file = directory / "SKILL.md"
    file.write_text(text, encoding="utf-8")
    return file


def _collected(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.endswith("::quality")]


# Which files become items


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        ([], []),
        (["."], []),
        (["skills"], []),
        (["skills/w1"], []),
        (["--eval-score"], [ITEM]),
        (["skills", "--eval-score"], [ITEM]),
        (["-o", "plugin_eval_score=true"], [ITEM]),
        (["-o", "testpaths=skills", "--eval-score"], [ITEM]),
        (["-o", f"testpaths={FILE}"], [ITEM]),
        ([FILE], [ITEM]),
        ([ITEM], [ITEM]),
        ([f"./{FILE}"], [ITEM]),
        ([FILE, FILE], [ITEM]),
        ([FILE, "skills", "--eval-score"], [ITEM]),
        (["--eval-score", "-k", "w1"], [ITEM]),
        (["--eval-score", "-k", "w2"], []),
        (["--eval-score", "--deselect", ITEM], []),
        (["--eval-score", "--ignore", "skills"], []),
    ],
    ids=lambda value: " ".join(value) or "none",
)
def test_skills_are_items_where_they_are_asked_for(
    skills: Suite, arguments: list[str], ids: list[str]
) -> None:
    result = skills.pytester.runpytest("--collect-only", "-q", *arguments)

    assert _collected(result) == ids
    assert result.ret == (PASSED if ids else NOTHING)


@pytest.mark.parametrize(
    ("place", "is_item"),
    [
        ("skills/w2", True),
        ("deep/down/here", True),
        ("evals/fixtures/w2", False),
        ("evals/first/w2", False),
        ("evals/recordings/w2", False),
        (".hidden/w2", False),
        ("build/w2", False),
        ("skills/w1/evals-of-mine/w2", True),
    ],
)
def test_score_option_finds_skills_by_the_rules_of_pytest_except_in_evals(
    skills: Suite, place: str, *, is_item: bool
) -> None:
    skills.case("first", front="runs: 1")
    skills.records("first", "h", "g")
    file = _skill(skills.root, place)

    result = skills.replay("--collect-only", "-q", "--eval-score")

    name = f"{file.relative_to(skills.root).as_posix()}::quality"
    assert (name in _collected(result)) == is_item


def test_id_is_relative_to_the_rootdir(
    skills: Suite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)

    result = skills.pytester.runpytest(
        "--rootdir", str(skills.root), str(skills.root / FILE), "-v", "-p", "no:cacheprovider"
    )

    assert result.ret == PASSED
    result.stdout.fnmatch_lines(["*SKILL.md::quality*PASSED *"])


@pytest.mark.parametrize("name", ["skill.md", "SKILL.txt", "xSKILL.md"])
def test_other_files_are_no_skills(skills: Suite, name: str) -> None:
    (skills.root / "skills" / "w1" / "SKILL.md").rename(skills.root / "skills" / "w1" / name)

    result = skills.pytester.runpytest("--collect-only", "-q", "--eval-score")

    assert _collected(result) == []


# What an item comes to


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        ([], "passed"),
        (["--eval-min-composite=60.98"], "passed"),
        (["--eval-min-composite=60.98", "-n", "1"], "passed"),
        (["--eval-min-composite=61"], "failed"),
        (["--eval-min-composite=61", "-n", "1"], "failed"),
        (["--eval-min-composite=0"], "passed"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_skill_passes_at_the_limit_and_fails_below(
    skills: Suite, options: list[str], outcome: str
) -> None:
    result = skills.pytester.runpytest("--eval-score", *options)

    result.assert_outcomes(**{outcome: 1})
    result.stdout.fnmatch_lines(["*= skills =*", "SKILL *", "skills/w1  61.0 * bronze*"])


def test_failure_lists_findings_dearest_first_without_a_traceback(skills: Suite) -> None:
    _skill(skills.root / "skills", "poor", POOR)

    result = skills.pytester.runpytest("skills/poor/SKILL.md")

    assert result.ret == FAILED
    start = next(n for n, line in enumerate(result.outlines) if "composite" in line)
    # However wide the terminal is: what is wrapped is indented.
    head, *findings = "\n".join(result.outlines[start:]).replace("\n    ", " ").splitlines()[:4]
    assert head == (
        "poor: composite 36.48, no badge (Estimated), below the least for a badge, 60.00"
    )
    points = [float(line.split(" points: ")[0].rpartition("+")[2]) for line in findings]
    assert all(line.startswith("skills/poor/SKILL.md:") for line in findings)
    assert points == sorted(points, reverse=True)
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*skill_items.py*")


def test_report_only_lifts_the_limit(skills: Suite) -> None:
    result = skills.pytester.runpytest(FILE, "--eval-min-composite", "90", "--eval-report-only")

    assert result.ret == PASSED
    assert result.parseoutcomes() == {"missed": 1}


@pytest.mark.parametrize("how", [[], ["-n", "1"]], ids=["plain", "xdist"])
def test_skill_that_cannot_be_read_is_an_error_in_one_line(skills: Suite, how: list[str]) -> None:
    (skills.root / FILE).write_bytes(b"---\nname: \xff\n---\n")

    result = skills.pytester.runpytest(FILE, *how)

    assert result.ret == FAILED
    result.assert_outcomes(errors=1)
    lines = [line for line in result.outlines if not line.startswith("[gw")]
    start = next(n for n, line in enumerate(lines) if "ERROR at setup" in line)
    assert lines[start + 1].startswith("skills/w1/SKILL.md: is not UTF-8 at byte 10")
    assert lines[start + 2].startswith("===")


def test_values_that_were_ignored_are_told(skills: Suite) -> None:
    text = W1.replace("Use this skill when testing things.", "[a, b]")
    (skills.root / FILE).write_text(text, encoding="utf-8")

    result = skills.pytester.runpytest(FILE, "--eval-min-composite", "0")

    result.stdout.fnmatch_lines(["skills/w1: *description*"])


def test_junit_holds_the_score_and_the_limit(skills: Suite) -> None:
    skills.pytester.runpytest(FILE, "--junitxml", "out.xml")

    text = (skills.pytester.path / "out.xml").read_text(encoding="utf-8")
    assert 'classname="skills.w1.SKILL.md" name="quality"' in text
    for name, value in (
        ("composite", "60.98"), ("composite_badge", "bronze"),
        ("composite_label", "Estimated"), ("limit", "60"),
    ):  # fmt: skip
        assert f'<property name="{name}" value="{value}' in text
    assert "cost_usd" not in text


def test_last_failed_runs_the_failed_skill_alone(skills: Suite) -> None:
    _skill(skills.root / "skills", "poor", POOR)
    skills.pytester.runpytest("--eval-score")

    result = skills.pytester.runpytest("--eval-score", "--lf", "-v")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["skills/poor/SKILL.md::quality FAILED*"])


def test_skill_that_another_plugin_repeats_is_listed_once(skills: Suite) -> None:
    pytest.importorskip("pytest_rerunfailures")

    result = skills.pytester.runpytest(FILE, "--eval-min-composite", "90", "--reruns", "1")

    assert result.parseoutcomes() == {"failed": 1, "rerun": 1}
    assert [line for line in result.outlines if line.startswith("skills/w1  ")] == [
        "skills/w1  61.0      bronze"
    ]


def test_skills_and_evals_run_in_one_session(skills: Suite) -> None:
    skills.case("first", front="runs: 1")
    skills.records("first", "h", "g")

    result = skills.replay("--eval-score")

    assert result.ret == PASSED
    assert result.parseoutcomes() == {"passed": 3, "baseline": 1}
    result.stdout.fnmatch_lines(["composite 58.3 *", "*= skills =*"])


def test_module_beside_a_skill_is_collected_as_ever(skills: Suite) -> None:
    (skills.root / "skills" / "w1" / "test_x.py").write_text("def test_x(): pass\n", "utf-8")

    result = skills.pytester.runpytest("--eval-score")

    result.assert_outcomes(passed=2)


@pytest.mark.parametrize("option", ["--setup-plan", "--setup-only"])
def test_options_that_show_fixtures_score_nothing(skills: Suite, option: str) -> None:
    result = skills.pytester.runpytest(FILE, option)

    result.stdout.no_fnmatch_line("*= skills =*")


# Deeper depths


@pytest.mark.parametrize(
    ("arguments", "calls", "line"),
    [
        ([FILE], 4, "skills/w1  68.2      bronze (Assessed)*"),
        ([ITEM], 4, "skills: standard depth asks about 1 skill: 4 calls, about $0.04"),
        (["--eval-score"], 0, "skills/w1: scored at quick depth: * for a SKILL.md that is named"),
        (["skills", "--eval-score"], 0, "skills/w1: scored at quick depth: *"),
        ([FILE, "--eval-mode", "replay"], 4, "skills/w1  68.2 *"),
        ([FILE, "--collect-only"], 0, "skills: standard depth asks about 1 skill: 4 calls, *"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_models_are_asked_about_skills_that_are_named(
    skills: Suite, judge: StandInJudge, arguments: list[str], calls: int, line: str
) -> None:
    judge.answer = lambda _: REPLY

    result = skills.pytester.runpytest("--eval-depth", "standard", *arguments)

    assert result.ret == PASSED
    assert len(judge.requests) == calls
    result.stdout.fnmatch_lines([line])
    result.stdout.no_fnmatch_line("*quality score*")  # of a plugin under test: there is none


def test_skill_that_is_also_of_the_plugin_under_test_is_paid_for_once(
    skills: Suite, agent: StandInAgent, judge: StandInJudge
) -> None:
    judge.answer = lambda _: REPLY
    skills.case("first", front="runs: 1")

    skills.pytester.runpytest("evals", FILE, "--eval-depth", "standard")

    composite = skills.document()["composite"]
    assert isinstance(composite, dict)
    assert [one["confidence_label"] for one in composite["skills"]] == ["Assessed"]
    assert len(judge.requests) == 4


def test_ceiling_ends_a_session_of_skills_as_partial(skills: Suite, judge: StandInJudge) -> None:
    result = skills.pytester.runpytest(FILE, "--eval-depth", "standard", "--eval-max-cost-usd", "0")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert judge.requests == []
    result.stdout.fnmatch_lines(["skills/w1: *cost ceiling $0 reached*"])


def test_refused_credential_ends_a_session_of_skills(
    skills: Suite, judge: StandInJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: JudgeRequest) -> JudgeReply:
        raise JudgeError("invalid x-api-key", status=401)

    monkeypatch.setattr(judge, "ask", refuse)

    result = skills.pytester.runpytest(FILE, "--eval-depth", "standard")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["incomplete: the credential was refused; exit status 2"])


def test_cost_of_judges_is_a_property(skills: Suite, judge: StandInJudge) -> None:
    judge.answer = lambda _: REPLY

    skills.pytester.runpytest(FILE, "--eval-depth", "standard", "--junitxml", "out.xml")

    text = (skills.pytester.path / "out.xml").read_text(encoding="utf-8")
    assert '<property name="cost_usd" value="0.04"' in text
