"""What moved between two results, and what may have moved it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.results.attribution import Mover
from pytest_plugin_eval.results.difference import CaseMove, Difference, Rate, difference
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import CaseInfo, SuiteResult
from tests.support import results

GRADERS = tuple({"name": f"g{n}", "type": "regex", "weight": 1, "config": {}} for n in (1, 2))
HERE = {"model": "claude-haiku-4-5", "plugin": "aaaa", "settings": "s"}


def _case(name: str = "one", graders: Sequence[Mapping[str, object]] = GRADERS) -> CaseInfo:
    return replace(results.case_info(name, runs=results.plan(2, 2)), graders=tuple(graders))


def _suite(
    with_runs: str = "PP PP",
    without_runs: str = "PF PF",
    *,
    case: CaseInfo | None = None,
    provenance: Mapping[str, str] | None = None,
    with_provenance: Mapping[str, str] | None = None,
    **fields: object,
) -> SuiteResult:
    """Return a suite of one case; a word is a run, a letter a grader, `-` a lost run."""
    info = case or _case()
    runs = []
    for arm, words in (("with", with_runs), ("without", without_runs)):
        for number, letters in enumerate(words.split(), 1):
            name = f"{arm}-{number}"
            made = (
                results.lost(name, case=info)
                if letters == "-"
                else results.run(name, letters, case=info)
            )
            told = provenance if provenance is not None else HERE
            own = with_provenance if arm == "with" and with_provenance is not None else told
            runs.append(replace(made, provenance=own))
    counts = [sum(run.key.arm is arm for run in runs) for arm in Arm]
    selected = results.plan(counts[0], counts[1])
    info = replace(info, plan=selected)
    result = case_result(info, runs, threshold=1.0, expected=selected)
    return suite_result(results.suite_info(**fields), [result], partial_reason=None)


def _only(found: Difference) -> CaseMove:
    (case,) = found.cases
    return case


OTHER_MODEL = {**HERE, "model": "claude-opus-5-5"}
OTHER_PLUGIN = {**HERE, "plugin": "bbbb"}
BOTH_OTHER = {**OTHER_MODEL, "plugin": "bbbb"}


@pytest.mark.parametrize(
    ("new", "mover", "reason"),
    [
        pytest.param(_suite(), Mover.NOBODY, "", id="nothing"),
        pytest.param(
            _suite("PP PF", provenance=OTHER_PLUGIN),
            Mover.PLUGIN,
            "only WITH moved, and the plugin's files changed",
            id="plugin",
        ),
        pytest.param(
            _suite("PP PF", provenance=OTHER_MODEL),
            Mover.PLUGIN_WITH_MODEL,
            "only WITH moved; the plugin's files are the same, the model "
            "(claude-haiku-4-5 -> claude-opus-5-5) changed",
            id="plugin with model",
        ),
        pytest.param(
            _suite("PP PF", provenance=BOTH_OTHER),
            Mover.PLUGIN_OR_MODEL,
            "only WITH moved; the plugin's files and the model",
            id="plugin or model",
        ),
        pytest.param(
            _suite("PP PP", "PF FF", provenance=OTHER_MODEL),
            Mover.MODEL,
            "W/OUT moved, and the model",
            id="model",
        ),
        pytest.param(
            _suite("PP PF", "PF FF", provenance=OTHER_MODEL),
            Mover.MODEL,
            "W/OUT moved, and the model",
            id="model, both arms",
        ),
        pytest.param(
            _suite("PP PF", "PF FF", provenance=BOTH_OTHER),
            Mover.MODEL_AND_PLUGIN,
            "WITH moved as well, and the plugin's files changed",
            id="model and plugin, both arms",
        ),
        pytest.param(
            _suite("PP PP", "PF FF", claude_version="2.1.333"),
            Mover.MODEL,
            "W/OUT moved, and Claude Code (2.1.332 -> 2.1.333) changed",
            id="agent",
        ),
        pytest.param(
            _suite("PP PP", "PF FF", provenance={**HERE, "settings": "t"}),
            Mover.MODEL,
            "W/OUT moved, and the case's settings changed",
            id="settings",
        ),
        pytest.param(
            _suite("PP PF"),
            Mover.CHANCE,
            "only WITH moved, and plugin, model and Claude Code are the same",
            id="chance with",
        ),
        pytest.param(
            _suite("PP PP", "PF FF"),
            Mover.CHANCE,
            "W/OUT moved, and model and Claude Code are the same",
            id="chance without",
        ),
        pytest.param(
            _suite("PP PF", "PF FF", provenance=OTHER_PLUGIN),
            Mover.UNKNOWN,
            "WITH moved as well, and the plugin's files changed",
            id="chance without, and the plugin changed",
        ),
        pytest.param(
            _suite("PP PP", "PF FF", provenance={**HERE, "mocks": "m"}),
            Mover.MODEL,
            "W/OUT moved, and the mocks changed",
            id="mocks",
        ),
        pytest.param(
            _suite("PP PP", "PF FF", case=replace(_case(), not_granted=("Bash",))),
            Mover.MODEL,
            "W/OUT moved, and the tools that were granted changed",
            id="grants",
        ),
        pytest.param(
            _suite("PP PP", "PF FF", case=replace(_case(), max_turns=3)),
            Mover.MODEL,
            "W/OUT moved, and the case's settings changed",
            id="turn cap",
        ),
        pytest.param(
            _suite("PP PF", with_provenance={**HERE, "model": "opus"}),
            Mover.PLUGIN_WITH_MODEL,
            "the model (claude-haiku-4-5 -> opus) changed",
            id="another model in the arm that moved",
        ),
        pytest.param(
            _suite("PP PF", provenance=OTHER_MODEL, with_provenance=HERE),
            Mover.CHANCE,
            "only WITH moved, and plugin, model and Claude Code are the same",
            id="another model in the arm that stayed",
        ),
        pytest.param(
            _suite("PP PF", provenance={"recorded_at": "now"}),
            Mover.PLUGIN_OR_MODEL,
            "what else changed is not known of both results",
            id="known of one only",
        ),
        pytest.param(
            _suite("- -", provenance=OTHER_PLUGIN),
            Mover.UNKNOWN,
            "WITH is known of one of the two results only",
            id="arm lost",
        ),
        pytest.param(
            _suite("PP PF", "", provenance=OTHER_PLUGIN),
            Mover.UNKNOWN,
            "W/OUT is known of one of the two results only",
            id="one arm",
        ),
        pytest.param(
            _suite("PP PF", "PF -", provenance=OTHER_PLUGIN),
            Mover.UNKNOWN,
            "W/OUT is known of one of the two results only",
            id="asymmetric loss",
        ),
        pytest.param(
            _suite("PP PF", provenance={}),
            Mover.PLUGIN_OR_MODEL,
            "only WITH moved",
            id="of the reference",
        ),
        pytest.param(
            _suite("PP PF PP PP", "PF PF PF PF", provenance=OTHER_PLUGIN),
            Mover.PLUGIN,
            "only WITH moved",
            id="more runs",
        ),
        pytest.param(
            _suite("PP PP PP PP", "PF PF PF PF", provenance=OTHER_PLUGIN),
            Mover.NOBODY,
            "",
            id="more runs, the same means",
        ),
    ],
)
def test_mover_of_a_case(new: SuiteResult, mover: Mover, reason: str) -> None:
    old = _suite(provenance={}) if new.cases[0].runs[0].provenance == {} else _suite()

    case = _only(difference(old, new))

    assert case.mover is mover
    assert reason in "; ".join(case.reasons)
    assert bool(reason) == bool(case.reasons)


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (replace(_case(), prompt="Say bye"), "the prompt changed"),
        (_case(graders=[GRADERS[0], {**GRADERS[1], "weight": 3}]), "grader g2: changed"),
        (
            _case(graders=[GRADERS[0], {**GRADERS[1], "config": {"pattern": "x"}}]),
            "grader g2: changed",
        ),
        (_case(graders=[GRADERS[0]]), "grader g2: gone"),
    ],
)
def test_case_that_is_not_the_same_is_not_comparable(case: CaseInfo, said: str) -> None:
    letters = "P P" if len(case.graders) == 1 else "PP PF"

    move = _only(difference(_suite(), _suite(letters, letters, case=case)))

    assert move.mover is Mover.NOT_COMPARABLE
    assert said in move.reasons


def test_new_grader_that_does_not_count_leaves_the_case_comparable() -> None:
    # The third verdict is skipped on purpose, and not scored.
    more = [*GRADERS, {**GRADERS[1], "name": "g3"}]

    move = _only(difference(_suite(), _suite("PPS PPS", "PFS PFS", case=_case(graders=more))))

    assert move.mover is Mover.NOBODY
    assert [(one.grader, one.changed, one.scored) for one in move.graders] == [("g3", "new", False)]


def test_another_judge_makes_its_graders_incomparable() -> None:
    judged = ({"name": "tone", "type": "llm", "weight": 1, "config": {}},)
    suites = []
    for model in ("claude-haiku-4-5", "claude-sonnet-5-5"):
        verdict = results.judged("P", "PPP", judge_model=model)
        run = results.run("with-1", (verdict,), case=_case(graders=judged))
        result = case_result(run.case, [run], threshold=1.0, expected=results.plan(1, 0))
        suites.append(suite_result(results.suite_info(), [result], partial_reason=None))

    found = difference(*suites)

    assert _only(found).mover is Mover.NOT_COMPARABLE
    assert "grader tone: other judge (claude-haiku-4-5 -> claude-sonnet-5-5)" in "; ".join(
        _only(found).reasons
    )
    assert [fact.what for fact in found.facts] == ["judge"]


def test_graders_are_compared_by_their_share_of_runs() -> None:
    case = _only(difference(_suite("PP PF", "FF FF"), _suite("PP PP PP PP", "FF FF FF FF")))

    (move,) = case.graders
    assert move.grader == "g2"
    assert move.rates == {
        Arm.WITH: (Rate(1, 2), Rate(4, 4)),
        Arm.WITHOUT: (Rate(0, 2), Rate(0, 4)),
    }


def test_graders_that_cancel_out_are_seen() -> None:
    case = _only(difference(_suite("PF PF"), _suite("FP FP")))

    assert case.mover is Mover.NOBODY
    assert [move.grader for move in case.graders] == ["g1", "g2"]
    assert case.has_moved


def test_what_differs_between_the_sessions_comes_first() -> None:
    found = difference(
        _suite(),
        _suite(provenance=OTHER_MODEL, threshold=0.5, free_only=True, claude_version="3"),
    )

    assert [(fact.what, fact.old, fact.new) for fact in found.facts] == [
        ("model", "claude-haiku-4-5", "claude-opus-5-5"),
        ("Claude Code", "2.1.332", "3"),
        ("threshold", "1", "0.5"),
        ("llm graders", "evaluated", "left out"),
    ]


def test_cases_of_one_result_alone_are_listed_and_lost_runs_told() -> None:
    found = difference(_suite(case=_case("gone")), _suite("PP -", case=_case("come")))

    assert (found.only_old, found.only_new) == (("evals/gone",), ("evals/come",))
    assert "1 of 4 new runs were not measured and count for nothing" in found.notes
    assert "the new results are partial (not_measured)" in found.notes


def test_grader_that_counts_in_one_result_only_makes_the_case_incomparable() -> None:
    one_arm = _case()
    runs = [
        replace(
            results.run(
                name,
                (results.verdict("P", "g1"), results.verdict("F", "g2", scored=name == "with-1")),
                case=one_arm,
            ),
            provenance=HERE,
        )
        for name in ("with-1", "with-2")
    ]
    old, new = (
        suite_result(
            results.suite_info(),
            [case_result(one_arm, [replace(run, key=runs[0].key)], threshold=1.0)],
            partial_reason=None,
        )
        for run in runs
    )

    move = _only(difference(old, new))

    assert move.mover is Mover.NOT_COMPARABLE
    assert "grader g2: counts in one of the two only" in move.reasons


def _judged(model: str | None, letter: str = "P") -> SuiteResult:
    graders = ({"name": "tone", "type": "llm", "weight": 1, "config": {}},)
    case = _case(graders=graders)
    verdict = results.judged(letter, letter * 3, judge_model=model)
    runs = [
        replace(results.run(name, (verdict,), case=case), provenance=HERE)
        for name in ("with-1", "without-1")
    ]
    result = case_result(case, runs, threshold=1.0, expected=results.plan(1, 1))
    return suite_result(results.suite_info(), [result], partial_reason=None)


@pytest.mark.parametrize(("old", "new"), [("haiku", None), (None, "haiku"), (None, None)])
def test_judge_that_is_not_known_of_both_leaves_open_who_moved(
    old: str | None, new: str | None
) -> None:
    move = _only(difference(_judged(old), _judged(new, "F")))

    assert move.mover is Mover.UNKNOWN
    assert "grader tone: its judge is not known of both results" in move.reasons


def test_runs_that_were_graded_again_moved_by_their_grading() -> None:
    there = {**HERE, "recorded_at": "2026-01-31T09:05:00.123Z"}

    found = difference(_suite(provenance=there), _suite("PF PF", "FF FF", provenance=there))

    assert _only(found).mover is Mover.GRADING
    assert "4 of 4 new runs are runs of the old results too" in "; ".join(found.notes)


def test_arms_that_ran_on_different_models_are_told() -> None:
    found = difference(_suite(), _suite(with_provenance=OTHER_MODEL))

    assert found.notes == (
        "the two arms of 1 case of the new results ran on different models, which Δ shows as well",
    )


@pytest.mark.parametrize(
    ("old", "new", "is_other"),
    [
        (r"C:\me\demo\evals", "/home/you/demo/evals", False),
        (r"C:\me\demo\evals", r"D:\x\checks", True),
        ("/a/evals/", "/b/evals", False),
        ("", "/b/evals", False),
    ],
)
def test_results_from_another_machine_are_of_the_same_suite(
    old: str, new: str, *, is_other: bool
) -> None:
    found = difference(_suite(eval_dir=old), _suite(eval_dir=new))

    assert [fact.what for fact in found.facts] == ["eval directory"] * is_other


def test_model_that_was_asked_for_is_told_where_no_run_tells_its_own() -> None:
    found = difference(_suite(provenance={}, model="haiku"), _suite(provenance={}, model="opus"))

    assert [(fact.what, fact.old, fact.new) for fact in found.facts] == [
        ("model asked for", "haiku", "opus")
    ]
