"""The composite of the plugins under test: in every session, at each depth, and as a limit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.execution import judging
from pytest_plugin_eval.judges.base import JudgeReply, JudgeRequest
from tests.pytester.conftest import StandInAgent, StandInJudge, Suite
from tests.support.corpus import CORPUS, expected, needs_corpus
from tests.support.skills import W1

REPLY = json.dumps({"f1": 0.9, "score": 0.75})
QUICK = "composite 58.3 no badge (Estimated): demo"
NAMED = "composite 61.0 bronze (Estimated): w1"
STANDARD = ["--eval-depth", "standard"]
INTERRUPTED = pytest.ExitCode.INTERRUPTED


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no line wrapped."""
    monkeypatch.setenv("COLUMNS", "240")


@pytest.fixture
def scored(suite: Suite) -> Suite:
    """Return a suite whose plugin has the skill of the worked example and one recorded case."""
    _skill(suite.root, "w1")
    suite.case("first", front="runs: 1")
    suite.records("first", "h", "g")
    return suite


@pytest.fixture
def live(scored: Suite, agent: StandInAgent, judge: StandInJudge) -> Suite:
    """Return that suite, to be run live by stand-ins whose judge says 0.9 and 0.75."""
    judge.answer = lambda _: REPLY
    return scored


def _skill(plugin: Path, name: str, text: str = W1) -> Path:
    directory = plugin / "skills" / name
    directory.mkdir(parents=True)
    (directory / "SKILL.md").write_text(text, encoding="utf-8")
    return directory


def _composite(suite: Suite) -> Mapping[str, object]:
    composite = suite.document()["composite"]
    assert isinstance(composite, dict)
    return composite


def _scores_of_skills(composite: Mapping[str, object]) -> list[tuple[str, object]]:
    skills = composite["skills"]
    assert isinstance(skills, list)
    return sorted((Path(skill["path"]).name, skill["score"]) for skill in skills)


def _skills(suite: Suite) -> list[tuple[object, object]]:
    skills = _composite(suite)["skills"]
    assert isinstance(skills, list)
    return [(skill["skill"], skill["confidence_label"]) for skill in skills]


# In every session


def test_composite_and_table_of_skills_stand_below_the_table(scored: Suite) -> None:
    result = scored.replay("evals")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "CASE *",
            "first *",
            "1 case *",
            "",
            QUICK,
            "SKILL  COMPOSITE BADGE  FLAGS",
            "w1     61.0      bronze",
            "results: *",
        ]
    )


def test_composite_is_in_the_document(scored: Suite) -> None:
    scored.replay("evals")

    composite = _composite(scored)
    assert list(composite)[:4] == ["plugin", "path", "depth", "score"]
    assert list(composite)[-2:] == ["flags", "skills"]
    assert composite["plugin"] == "demo"
    assert composite["path"] == str(scored.root)
    assert composite["score"] == pytest.approx(58.33)
    assert composite["badge"] == "no_badge"
    assert _skills(scored) == [("w1", "Estimated")]
    assert "composites" not in scored.document()
    assert scored.document()["costs"]["qualityUsd"] == 0  # type: ignore[index]


@needs_corpus
@pytest.mark.parametrize("name", sorted(expected().get("plugins", {"none": {}})))
def test_numbers_of_public_plugins_are_the_known_ones(name: str, suite: Suite) -> None:
    shutil.copytree(CORPUS / "plugins" / name, suite.root, dirs_exist_ok=True)
    suite.case("first", front="runs: 1")
    suite.records("first", "h", "g")

    suite.replay("evals")

    found, known = _composite(suite), expected()["plugins"][name]
    skills = {
        key.partition("/")[2]: entry["composite"]
        for key, entry in expected()["plugin_skills"].items()
        if key.startswith(f"{name}/")
    }
    assert found["score"] == pytest.approx(known["composite"], abs=1e-9)
    assert found["badge"] == known["badge_exact"]
    assert [row for row in _scores_of_skills(found) if row[0] in skills] == [
        (skill, pytest.approx(score, abs=1e-9)) for skill, score in sorted(skills.items())
    ]


def test_page_says_what_costs_most(scored: Suite) -> None:
    scored.replay("evals", "--eval-results-dir", "out")

    page = (scored.root / "out" / "report.html").read_text(encoding="utf-8")
    assert "<p>What costs most:</p>" in page
    assert "skills/w1/SKILL.md:3: +" in page


def test_composite_is_a_property_of_the_junit_suite(scored: Suite) -> None:
    scored.replay("evals", "--junitxml", "out.xml")

    text = (scored.pytester.path / "out.xml").read_text(encoding="utf-8")
    assert 'name="plugin_eval_composite" value="58.3' in text
    assert 'name="plugin_eval_composite_badge" value="no_badge"' in text
    assert 'name="plugin_eval_composite_label" value="Estimated"' in text


def test_plugin_of_the_suite_root_comes_before_the_others(scored: Suite) -> None:
    other = scored.root / "aaa"
    _skill(other, "w1")
    (other / ".claude-plugin").mkdir()
    (other / ".claude-plugin" / "plugin.json").write_text('{"name": "aaa"}', encoding="utf-8")
    scored.case("second", front='runs: 1\nplugins: ["../../aaa", "../.."]')
    scored.records("second", "h", "g")

    result = scored.replay("evals")

    names = [one["plugin"] for one in scored.document()["composites"]]  # type: ignore[attr-defined]
    assert names == ["demo", "aaa"]
    assert _composite(scored)["plugin"] == "demo"
    result.stdout.fnmatch_lines([QUICK, "composite 58.3 no badge (Estimated): aaa"])


def test_skill_folder_under_test_is_scored_as_a_skill(suite: Suite) -> None:
    (suite.root / ".claude-plugin" / "plugin.json").unlink()
    (suite.root / ".claude-plugin").rmdir()
    (suite.root / "SKILL.md").write_text(W1, encoding="utf-8")
    suite.case("first", front="runs: 1")
    suite.records("first", "h", "g")

    result = suite.replay("evals")

    result.stdout.fnmatch_lines(["composite 6?.? bronze (Estimated): w1"])
    assert _composite(suite)["skills"] == []


def test_session_without_a_plugin_has_no_composite(suite: Suite) -> None:
    (suite.root / ".claude-plugin" / "plugin.json").unlink()
    (suite.root / ".claude-plugin").rmdir()
    suite.case("first", front="runs: 1")
    suite.record("first", "with", 1)

    result = suite.replay("evals")

    assert result.ret == pytest.ExitCode.OK
    assert suite.document()["composite"] is None
    result.stdout.no_fnmatch_line("composite *")


@pytest.mark.parametrize(
    ("limit", "status", "line"),
    [
        ([], pytest.ExitCode.OK, "no quality score of *SKILL.md: *"),
        (["1"], pytest.ExitCode.TESTS_FAILED, "error: --eval-min-composite 1: * has no score"),
    ],
)
def test_plugin_that_cannot_be_scored_fails_only_a_session_with_a_limit(
    suite: Suite, limit: list[str], status: int, line: str
) -> None:
    (suite.root / ".claude-plugin" / "plugin.json").unlink()
    (suite.root / ".claude-plugin").rmdir()
    (suite.root / "SKILL.md").write_bytes(b"---\nname: \xff\n---\n")
    suite.case("first", front="runs: 1")
    suite.records("first", "h", "g")

    result = suite.replay("evals", *(("--eval-min-composite", *limit) if limit else ()))

    assert result.ret == status
    result.stdout.fnmatch_lines([line])
    assert suite.document()["composite"] is None


def test_broken_manifest_is_no_hindrance(scored: Suite) -> None:
    (scored.root / ".claude-plugin" / "plugin.json").write_text("{", encoding="utf-8")

    result = scored.replay("evals")

    result.stdout.fnmatch_lines(["composite 58.3 no badge (Estimated): *"])


# As a limit


@pytest.mark.parametrize("how", [[], ["-x"], ["-n", "2"]], ids=lambda how: "".join(how) or "plain")
@pytest.mark.parametrize(
    ("limit", "status"),
    [("58.33", pytest.ExitCode.OK), ("58.4", pytest.ExitCode.TESTS_FAILED)],
)
def test_composite_below_the_limit_fails_the_session(
    scored: Suite, limit: str, status: int, how: list[str]
) -> None:
    result = scored.replay("evals", "--eval-min-composite", limit, *how)

    assert result.ret == status
    told = "error: composite 58.33 of demo is below --eval-min-composite 58.40"
    assert (told in result.outlines) == (status != pytest.ExitCode.OK)


def test_report_only_lifts_the_limit(scored: Suite) -> None:
    result = scored.replay("evals", "--eval-min-composite", "100", "--eval-report-only")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["only reported: composite 58.33 of demo is below *"])


def test_limit_without_a_plugin_fails(suite: Suite) -> None:
    (suite.root / ".claude-plugin" / "plugin.json").unlink()
    (suite.root / ".claude-plugin").rmdir()
    suite.case("first", front="runs: 1")
    suite.record("first", "with", 1)

    result = suite.replay("evals", "--eval-min-composite", "1")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["error: --eval-min-composite 1: * has no plugin under test *"])


# At a deeper depth


def test_deeper_depth_scores_each_skill_and_leaves_the_plugin_static(
    live: Suite, judge: StandInJudge
) -> None:
    result = live.pytester.runpytest("evals", *STANDARD)

    assert result.ret == pytest.ExitCode.OK
    assert len(judge.requests) == 4
    result.stdout.fnmatch_lines(
        [
            "quality score: standard depth asks about 1 skill: 4 calls, about $0.04",
            "quality score: $0.04 besides",
            QUICK,
            "SKILL  COMPOSITE BADGE             FLAGS",
            "w1     68.2      bronze (Assessed)",
        ]
    )
    assert _skills(live) == [("w1", "Assessed")]


def test_money_of_the_deeper_layers_is_in_the_sums(live: Suite) -> None:
    live.pytester.runpytest("evals", *STANDARD)

    document = live.document()
    costs, suite = document["costs"], document["suite"]
    assert document["costUsd"] == 0.5
    assert costs["qualityUsd"] == pytest.approx(0.04)  # type: ignore[index]
    assert costs["agentUsd"] + costs["judgeUsd"] == document["costUsd"]  # type: ignore[index]
    assert suite["spentUsd"] == pytest.approx(0.54)  # type: ignore[index]


def test_plan_tells_calls_and_price_and_asks_nothing(live: Suite, judge: StandInJudge) -> None:
    result = live.pytester.runpytest("evals", "--collect-only", "--eval-depth", "deep")

    assert judge.requests == []
    result.stdout.fnmatch_lines(
        ["quality score: deep depth asks about 1 skill: 55 calls, about $0.55"]
    )


@pytest.mark.parametrize(
    ("arguments", "calls", "line"),
    [
        (["evals"], 4, "quality score: standard depth asks about 1 skill: 4 calls, *"),
        ([], 0, "quality score at quick depth: a replay asks for judges of skills only of evals *"),
        (["evals", "-n", "1"], 0, "quality score at quick depth: * without xdist (-n 0)"),
    ],
    ids=["named", "unnamed", "xdist"],
)
def test_replay_asks_judges_only_where_votes_would_be_asked_for(
    live: Suite, judge: StandInJudge, arguments: list[str], calls: int, line: str
) -> None:
    result = live.replay(*arguments, *STANDARD)

    assert result.ret == pytest.ExitCode.OK
    assert len(judge.requests) == calls
    result.stdout.fnmatch_lines([line])


def test_evals_that_no_argument_names_cost_nothing(live: Suite, judge: StandInJudge) -> None:
    result = live.pytester.runpytest(*STANDARD)

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert judge.requests == []
    result.stdout.no_fnmatch_line("*quality score*")


def test_ceiling_leaves_dimensions_unmeasured_and_the_session_partial(
    live: Suite, judge: StandInJudge
) -> None:
    result = live.pytester.runpytest("evals", *STANDARD, "--eval-max-cost-usd", "0.5")

    assert result.ret == INTERRUPTED
    assert judge.requests == []
    assert live.document()["partialReason"] == "cost_ceiling"
    assert _skills(live) == [("w1", "Estimated")]
    result.stdout.fnmatch_lines(
        [
            "* partial: the cost ceiling kept models from being asked for the quality score",
            "w1: * cost ceiling $0.5 reached*",
        ]
    )


def test_refused_credential_is_told_as_that_of_a_judge(
    live: Suite, judge: StandInJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: JudgeRequest) -> JudgeReply:
        raise JudgeError("invalid x-api-key", status=401)

    monkeypatch.setattr(judge, "ask", refuse)

    result = live.pytester.runpytest("evals", *STANDARD)

    assert result.ret == INTERRUPTED
    assert live.document()["partialReason"] == "auth_failed"
    result.stdout.fnmatch_lines(["w1: *the service refused the credential: invalid x-api-key*"])


def test_session_without_a_back_end_says_so_and_passes(
    live: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(**_: object) -> StandInJudge:
        raise JudgeError("no judge: set ANTHROPIC_API_KEY")

    monkeypatch.setattr(judging, "find_judge", find)

    result = live.pytester.runpytest("evals", *STANDARD)

    assert result.ret == pytest.ExitCode.OK
    assert _skills(live) == [("w1", "Estimated")]
    result.stdout.fnmatch_lines(["w1: *no judge: set ANTHROPIC_API_KEY*"])


def test_interrupt_keeps_what_was_finished(
    live: Suite, judge: StandInJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    _skill(live.root, "w2")
    asked = judge.ask

    def interrupted(request: JudgeRequest) -> JudgeReply:
        if len(judge.requests) == 4:
            raise KeyboardInterrupt
        return asked(request)

    monkeypatch.setattr(judge, "ask", interrupted)

    result = live.pytester.runpytest("evals", *STANDARD, no_reraise_ctrlc=True)

    assert result.ret == INTERRUPTED
    assert live.document()["partialReason"] == "interrupted"
    assert _skills(live) == [("w1", "Assessed"), ("w1", "Estimated")]
    suite = live.document()["suite"]
    assert suite["spentUsd"] >= 0.54  # type: ignore[index]


def test_session_that_was_stopped_asks_nothing(live: Suite, judge: StandInJudge) -> None:
    live.case("second", front="runs: 1", graders={"no": "---\ntype: regex\npattern: xyz\n---\n"})
    live.case("third", front="runs: 1")

    result = live.pytester.runpytest("evals", "-x", *STANDARD)

    assert judge.requests == []
    result.stdout.fnmatch_lines(["quality score at quick depth: the session was stopped before"])
