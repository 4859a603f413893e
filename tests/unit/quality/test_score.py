"""Scores of skills and plugins: which layers run, in which order, and what comes of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_plugin_eval.errors import JudgeError, QualityError
from pytest_plugin_eval.judges.base import JudgeReply
from pytest_plugin_eval.quality.asking import Asking
from pytest_plugin_eval.quality.model import Dimension, Layer, QualityReport, Target
from pytest_plugin_eval.quality.parse import read_target
from pytest_plugin_eval.quality.score import (
    ScoreOptions,
    count_calls,
    estimate_usd,
    explained,
    monte_carlo_runs,
    score_target,
)
from pytest_plugin_eval.settings import Depth
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from tests.support.agents import write_files
from tests.support.judges import Answer, FakeBackend
from tests.support.skills import W1, asking_of, texts, write_skill

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
PROMPTS = json.dumps([f"prompt {number}" for number in range(15)])
QUICK = 60.984848484848484
STANDARD = 62.53360215053763
CERTIFIED = 64.92049319727892
TOLERANCE = 1e-9
NO_LUCK = JudgeError("no luck", status=500)
PLUGIN = {
    ".claude-plugin/plugin.json": '{"name": "demo"}',
    "skills/w1/SKILL.md": W1,
    "skills/w2/SKILL.md": W1.replace("w1", "w2"),
}


def _scored(
    path: Path, *answers: Answer, depth: Depth = Depth.QUICK, each_skill: bool = False
) -> QualityReport:
    """Return the score by answers that are given in the order of the questions."""
    options = ScoreOptions(depth=depth, concurrency=1, explain=False, each_skill=each_skill)
    asking = asking_of(FakeBackend(*answers)) if answers else None
    return score_target(str(path), options, asking=asking, now=lambda: NOW)


def _runs(count: int) -> list[Answer]:
    """Return what the runs of the worked example come to. Spec: quality-score, 15."""
    return [_run(number % 10) for number in range(count)]


def _run(digit: int) -> Answer:
    if digit == 9:
        return NO_LUCK
    if digit == 8:
        return JudgeReply(text="", model="opus", input_tokens=400, output_tokens=100, cost_usd=0.5)
    return JudgeReply(
        text="x" * (100 * digit + 50),
        model="opus",
        input_tokens=1207,
        output_tokens=100 * digit,
        cost_usd=0.5,
    )


def _layers(report: QualityReport) -> list[Layer]:
    return [layer.layer for layer in report.layers]


def test_quick_score_asks_nobody(tmp_path: Path) -> None:
    def find() -> FakeBackend:
        raise AssertionError("nobody may look for a back end")

    asking = Asking(find, ledger=Ledger(), limiter=Limiter(), env={})

    path = str(write_skill(tmp_path / "w1"))
    report = score_target(path, ScoreOptions(), asking=asking, now=lambda: NOW)

    assert _layers(report) == [Layer.STATIC]
    assert report.composite.score == pytest.approx(QUICK, abs=TOLERANCE)
    assert (report.composite.badge, report.composite.confidence_label) == ("bronze", "Estimated")


def test_report_says_what_was_scored_and_how(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "w1")
    options = ScoreOptions(concurrency=7, judges=3, monte_carlo_n=11, explain=False)

    report = score_target(str(path), options, now=lambda: NOW)

    assert (report.path, report.target, report.name) == (str(path), Target.SKILL, "w1")
    assert (report.depth, report.effective_depth) == (Depth.QUICK, Depth.QUICK)
    assert (report.concurrency, report.judges, report.monte_carlo_n) == (7, 3, 11)
    assert report.timestamp == "2026-01-31T12:00:00+00:00"
    assert (report.cost_usd, report.model_usage, report.problems) == (0.0, {}, ())


def test_standard_score_is_that_of_the_example(tmp_path: Path) -> None:
    report = _scored(write_skill(tmp_path / "w1"), *texts(), depth=Depth.STANDARD)

    assert _layers(report) == [Layer.STATIC, Layer.JUDGE]
    assert report.composite.score == pytest.approx(STANDARD, abs=TOLERANCE)
    assert report.composite.confidence_label == "Assessed"
    assert report.effective_depth is Depth.STANDARD
    assert report.cost_usd == 1.0


@pytest.mark.parametrize(
    ("depth", "runs", "label"),
    [(Depth.DEEP, 50, "Certified"), (Depth.THOROUGH, 100, "Certified+")],
    ids=["deep", "thorough"],
)
def test_score_of_all_layers_is_that_of_the_example(
    depth: Depth, runs: int, label: str, tmp_path: Path
) -> None:
    report = _scored(write_skill(tmp_path / "w1"), *texts(), PROMPTS, *_runs(runs), depth=depth)

    assert _layers(report) == [Layer.STATIC, Layer.JUDGE, Layer.MONTE_CARLO]
    static, judge, monte_carlo = report.layers
    assert static.score == pytest.approx(0.5833, abs=TOLERANCE)
    assert judge.score == pytest.approx(0.6875, abs=TOLERANCE)
    assert monte_carlo.score == pytest.approx(0.7373651218931194, abs=TOLERANCE)
    composite = report.composite
    assert composite.score == pytest.approx(CERTIFIED, abs=TOLERANCE)
    assert (composite.badge, composite.confidence_label) == ("bronze", label)
    assert report.effective_depth is depth
    assert report.model_usage["opus"] == runs // 10 * (8 * 1207 + 2800 + 500)


def test_dimensions_are_those_of_the_example(tmp_path: Path) -> None:
    report = _scored(write_skill(tmp_path / "w1"), *texts(), PROMPTS, *_runs(50), depth=Depth.DEEP)

    rows = {row.dimension: (row.score, row.grade) for row in report.composite.dimensions}
    assert rows == {
        Dimension.TRIGGERING_ACCURACY: (pytest.approx(0.7785, abs=TOLERANCE), "C+"),
        Dimension.ORCHESTRATION_FITNESS: (pytest.approx(0.775, abs=TOLERANCE), "C+"),
        Dimension.OUTPUT_QUALITY: (pytest.approx(0.6525, abs=TOLERANCE), "D"),
        Dimension.SCOPE_CALIBRATION: (pytest.approx(0.5, abs=TOLERANCE), "F"),
        Dimension.PROGRESSIVE_DISCLOSURE: (pytest.approx(0.2, abs=TOLERANCE), "F"),
        Dimension.TOKEN_EFFICIENCY: (pytest.approx(0.8953472222222223, abs=TOLERANCE), "B+"),
        Dimension.ROBUSTNESS: (pytest.approx(0.9, abs=TOLERANCE), "A-"),
        Dimension.STRUCTURAL_COMPLETENESS: (pytest.approx(0.0, abs=TOLERANCE), "F"),
        Dimension.CODE_TEMPLATE_QUALITY: (0.0, "—"),
        Dimension.ECOSYSTEM_COHERENCE: (pytest.approx(0.5, abs=TOLERANCE), "F"),
    }


@pytest.mark.parametrize(
    ("answers", "depth", "composite", "label", "effective"),
    [
        pytest.param([NO_LUCK], Depth.STANDARD, QUICK, "Estimated", Depth.QUICK, id="no judge"),
        pytest.param([NO_LUCK], Depth.DEEP, QUICK, "Estimated", Depth.QUICK, id="nothing"),
        pytest.param([NO_LUCK], Depth.THOROUGH, QUICK, "Estimated", Depth.QUICK, id="thorough"),
        pytest.param(
            [*texts(), NO_LUCK], Depth.DEEP, STANDARD, "Assessed", Depth.STANDARD, id="no run"
        ),
    ],
)
def test_label_names_what_was_measured(
    answers: Sequence[Answer],
    depth: Depth,
    composite: float,
    label: str,
    effective: Depth,
    tmp_path: Path,
) -> None:
    report = _scored(write_skill(tmp_path / "w1"), *answers, depth=depth)

    assert report.composite.score == pytest.approx(composite, abs=TOLERANCE)
    assert (report.composite.confidence_label, report.effective_depth) == (label, effective)
    assert report.depth is depth
    assert any("no luck" in problem for problem in report.problems)


def test_problems_come_in_the_order_of_the_layers(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "w1", W1.replace("Use this skill when testing things.", "[1]"))

    report = _scored(path, NO_LUCK, depth=Depth.DEEP)

    read, judge, *others = report.problems
    assert "description" in read
    assert judge.startswith("judge: ")
    assert others
    assert all(problem.startswith("monte_carlo: ") for problem in others)


@pytest.mark.parametrize("depth", [Depth.STANDARD, Depth.DEEP, Depth.THOROUGH])
def test_deeper_score_needs_something_to_ask(depth: Depth, tmp_path: Path) -> None:
    with pytest.raises(QualityError, match=f"depth '{depth.value}' asks models"):
        _scored(write_skill(tmp_path / "w1"), depth=depth)


def test_missing_target_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(QualityError):
        _scored(tmp_path / "absent")


@pytest.mark.parametrize(
    ("depth", "monte_carlo_n", "runs"),
    [
        (Depth.QUICK, None, 0),
        (Depth.QUICK, 7, 0),
        (Depth.STANDARD, 7, 0),
        (Depth.DEEP, None, 50),
        (Depth.DEEP, 0, 50),
        (Depth.DEEP, 7, 7),
        (Depth.THOROUGH, None, 100),
        (Depth.THOROUGH, 7, 7),
    ],
)
def test_runs_are_those_of_the_depth_unless_chosen(
    depth: Depth, monte_carlo_n: int | None, runs: int
) -> None:
    assert monte_carlo_runs(ScoreOptions(depth=depth, monte_carlo_n=monte_carlo_n)) == runs


def test_interruption_goes_on_to_the_caller(tmp_path: Path) -> None:
    backend = FakeBackend("Hm.")
    asking = asking_of(backend)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    backend.before = interrupt

    with pytest.raises(KeyboardInterrupt):
        score_target(
            str(write_skill(tmp_path / "w1")),
            ScoreOptions(depth=Depth.DEEP, concurrency=1),
            asking=asking,
        )

    assert backend.is_closed


def test_plugin_lists_its_skills_at_quick(tmp_path: Path) -> None:
    path = write_files(tmp_path / "demo", PLUGIN)

    report = _scored(path)

    assert (report.target, report.name) == (Target.PLUGIN, "demo")
    assert [(one.name, one.path) for one in report.skills] == [
        ("w1", str(path / "skills" / "w1")),
        ("w2", str(path / "skills" / "w2")),
    ]
    assert [one.composite.score for one in report.skills] == pytest.approx(
        [QUICK, QUICK], abs=TOLERANCE
    )
    assert report.problems == ()


@pytest.mark.parametrize("depth", [Depth.STANDARD, Depth.DEEP, Depth.THOROUGH])
def test_plugin_is_scored_statically_at_every_depth(depth: Depth, tmp_path: Path) -> None:
    path = write_files(tmp_path / "demo", PLUGIN)

    report = _scored(path, depth=depth)

    assert _layers(report) == [Layer.STATIC]
    assert report.composite == _scored(path).composite
    assert report.composite.confidence_label == "Estimated"
    assert (report.depth, report.effective_depth) == (depth, Depth.QUICK)
    assert report.skills == ()
    assert report.problems == (
        f"{path}: only the static layer runs on a plugin, not depth '{depth.value}': its"
        " confidence is Estimated",
    )


def test_each_skill_is_scored_at_the_depth_where_asked_for(tmp_path: Path) -> None:
    path = write_files(tmp_path / "demo", PLUGIN)

    report = _scored(path, *texts(), *texts(), depth=Depth.STANDARD, each_skill=True)

    assert report.composite == _scored(path).composite
    assert [one.composite.score for one in report.skills] == pytest.approx(
        [STANDARD, STANDARD], abs=TOLERANCE
    )
    assert [one.composite.confidence_label for one in report.skills] == ["Assessed"] * 2
    assert report.cost_usd == 2.0


def test_problem_of_all_skills_is_told_once(tmp_path: Path) -> None:
    path = write_files(tmp_path / "demo", PLUGIN)

    report = _scored(path, JudgeError("bad key", status=401), depth=Depth.STANDARD, each_skill=True)

    _, problem = report.problems
    assert problem.startswith("2 skills: judge: ")
    assert problem.endswith("the service refused the credential: bad key")


def test_problem_of_one_skill_names_it(tmp_path: Path) -> None:
    path = write_files(tmp_path / "demo", PLUGIN)

    report = _scored(path, *texts(), *texts()[:3], "{}", depth=Depth.STANDARD, each_skill=True)

    _, problem = report.problems
    assert problem.startswith(f"{path / 'skills' / 'w2'}: judge: scope_calibration not measured")


def test_linked_skill_has_its_place_in_the_plugin(tmp_path: Path) -> None:
    path = write_files(tmp_path / "demo", {".claude-plugin/plugin.json": "{}"})
    (path / "skills").mkdir()
    (path / "skills" / "w1").symlink_to(write_skill(tmp_path / "elsewhere"))

    (skill,) = _scored(path).skills

    assert skill.path == str(path / "skills" / "w1")


@pytest.mark.parametrize("explain", [True, False])
def test_findings_are_looked_for_where_wanted(explain: bool, tmp_path: Path) -> None:
    path = str(write_skill(tmp_path / "w1"))

    report = score_target(path, ScoreOptions(explain=explain), now=lambda: NOW)

    assert bool(report.findings) is explain


@pytest.mark.parametrize(
    ("depth", "each_skill", "judge_calls", "run_calls"),
    [
        (Depth.QUICK, True, 0, 0),
        (Depth.STANDARD, False, 0, 0),
        (Depth.STANDARD, True, 8, 0),
        (Depth.DEEP, True, 8, 2 * (50 + 1)),
    ],
)
def test_estimate_counts_every_call(
    depth: Depth, each_skill: bool, judge_calls: int, run_calls: int, tmp_path: Path
) -> None:
    class Flat(FakeBackend):
        def estimate_usd(
            self, model: str, *, input_tokens: int, output_tokens: int
        ) -> float | None:
            return 1.0

    source = read_target(write_files(tmp_path / "demo", PLUGIN))
    options = ScoreOptions(depth=depth, each_skill=each_skill)

    assert estimate_usd(source, options, asking_of(Flat("x"))) == judge_calls + run_calls
    assert count_calls(source, options) == judge_calls + run_calls


@pytest.mark.parametrize("target", ["demo", "demo/skills/w1"])
def test_findings_can_be_had_later(target: str, tmp_path: Path) -> None:
    path = str(write_files(tmp_path / "demo", PLUGIN).parent / target)
    report = score_target(path, ScoreOptions(explain=False))

    assert report.findings == ()
    assert explained(report).findings == score_target(path, ScoreOptions()).findings


@pytest.mark.parametrize("change", ["removed", "reworded"])
def test_findings_of_files_that_have_changed_are_not_those_of_the_score(
    change: str, tmp_path: Path
) -> None:
    path = write_skill(tmp_path / "w1")
    report = score_target(str(path), ScoreOptions(explain=False))
    if change == "removed":
        (path / "SKILL.md").unlink()
    else:
        (path / "SKILL.md").write_text("# Other\n", encoding="utf-8")

    assert explained(report) == report


def test_estimate_without_a_price_is_unknown(tmp_path: Path) -> None:
    source = read_target(write_skill(tmp_path / "w1"))
    options = ScoreOptions(depth=Depth.DEEP)

    assert estimate_usd(source, options, asking_of(FakeBackend("x", price_usd=None))) is None
