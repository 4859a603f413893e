"""Results of one suite from several machines, joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.reports.document import document_text
from pytest_plugin_eval.results.merging import Merged, Part, merged
from pytest_plugin_eval.results.saved_document import parse_document
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import NotStarted, RunReport, SuiteResult
from tests.support import results

FIRST, SECOND = (results.case_info(name, runs=results.plan(2, 2)) for name in ("one", "two"))
RUNS = (
    *(results.run(f"with-{n}", "PP", case=FIRST) for n in (1, 2)),
    *(results.run(f"without-{n}", "PF", case=FIRST) for n in (1, 2)),
    *(results.run(f"with-{n}", "PF", case=SECOND) for n in (1, 2)),
    *(results.run(f"without-{n}", "FF", case=SECOND) for n in (1, 2)),
)


def _suite(runs: Sequence[RunReport], partial: str | None = None, **fields: object) -> SuiteResult:
    """Return a session in which these runs were selected and made."""
    by_case = {run.case.id: run.case for run in runs}
    listed = []
    for case in by_case.values():
        own = [run for run in runs if run.case.id == case.id]
        made = sum(run.key.arm is Arm.WITH for run in own)
        selected = results.plan(made, len(own) - made)
        listed.append(case_result(case, own, threshold=1.0, expected=selected))
    return suite_result(results.suite_info(**fields), listed, partial_reason=partial)


def _merged(*suites: SuiteResult) -> Merged:
    return merged(
        [
            Part(name=f"part-{n}", document=parse_document(document_text(suite), f"part-{n}"))
            for n, suite in enumerate(suites, 1)
        ]
    )


def _refusal(*suites: SuiteResult) -> str:
    with pytest.raises(EvalError, match="do not merge") as caught:
        _merged(*suites)
    return str(caught.value)


@pytest.mark.parametrize(
    "split",
    [
        pytest.param([range(4), range(4, 8)], id="by case"),
        pytest.param([range(0, 8, 2), range(1, 8, 2)], id="by run"),
        pytest.param([range(0, 8, 4), range(1, 8, 4), [2, 3], [6, 7]], id="four uneven parts"),
        pytest.param([range(6), range(2, 8)], id="the same runs twice"),
        pytest.param([range(8)], id="one alone"),
    ],
)
def test_parts_give_the_document_of_one_session(split: list[Sequence[int]]) -> None:
    whole = _suite(RUNS)

    found = _merged(*(_suite([RUNS[n] for n in part]) for part in split))

    assert document_text(found.suite) == document_text(whole)
    assert found.is_complete


def test_runs_in_several_parts_are_told_and_count_once() -> None:
    found = _merged(_suite(RUNS[:4]), _suite(RUNS[3:]))

    assert found.doubled == (RUNS[3].key,)
    assert found.suite.cost_usd == pytest.approx(0.08)


def test_run_that_differs_between_parts_is_refused() -> None:
    other = results.run("with-1", "PF", case=FIRST)

    message = _refusal(_suite(RUNS), _suite([other]))

    assert "evals/one with-1 is in two of them and not the same: score 1.0 and 0.5" in message
    assert "(part-1, part-2)" in message


def test_runs_of_one_score_that_were_made_twice_are_told_apart_by_their_time() -> None:
    later = replace(
        RUNS[0], outcome=replace(RUNS[0].outcome, started_at="2026-02-01T00:00:00.000Z")
    )

    message = _refusal(_suite(RUNS), _suite([later]))

    assert "started 2026-01-31T09:05:00.123Z and 2026-02-01T00:00:00.000Z" in message


def test_lost_runs_are_missing_and_the_case_does_not_pass() -> None:
    found = _merged(_suite(RUNS[:1]), _suite(RUNS[2:4]))

    assert [f"{key.case} {key.number}" for key in found.missing] == ["evals/one 2"]
    assert not found.is_complete
    assert found.suite.partial_reason == "not_measured"
    assert [case.passed for case in found.suite.cases] == [False]


def test_run_that_another_part_has_made_is_owed_no_more() -> None:
    owed = NotStarted(case=FIRST.id, runs=("with-2", "without-2"), reason="cost ceiling $1 reached")
    stopped = _suite([RUNS[0], RUNS[2]], "cost_ceiling", runs_not_started=(owed,))

    alone = _merged(stopped)
    both = _merged(stopped, _suite([RUNS[1], RUNS[3]]))

    assert alone.suite.partial_reason == "cost_ceiling"
    assert alone.suite.info.runs_not_started == (owed,)
    assert both.suite.partial_reason is None
    assert both.suite.info.runs_not_started == ()


@pytest.mark.parametrize(
    ("shards", "missing"),
    [
        (("1/2", "2/2"), ()),
        (("1/3", "3/3"), ("2/3",)),
        ((None, None), ()),
    ],
)
def test_shards_that_are_not_there_are_told(
    shards: tuple[str | None, str | None], missing: tuple[str, ...]
) -> None:
    first, second = (
        _suite(runs, shard=shard) for runs, shard in zip((RUNS[:4], RUNS[4:]), shards, strict=True)
    )

    found = _merged(first, second)

    assert found.missing_shards == missing
    assert (found.suite.partial_reason is None) == (not missing)
    assert found.suite.info.shard is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"threshold": 0.5}, "threshold: 1.0 and 0.5"),
        ({"min_delta": 0.1}, "smallest Δ: none and 0.1"),
        ({"model": "opus"}, "model asked for: none and opus"),
        ({"judge_model": "haiku"}, "judge asked for: none and haiku"),
        ({"free_only": True}, "llm graders left out: False and True"),
        ({"mode": "replay"}, "mode: live and replay"),
        ({"claude_version": "2.1.333"}, "Claude Code: 2.1.332 and 2.1.333"),
        ({"shard": "2/2"}, "number of shards: none and 2"),
    ],
)
def test_sessions_with_other_settings_are_refused(fields: dict[str, Any], said: str) -> None:
    message = _refusal(_suite(RUNS[:4]), _suite(RUNS[4:], **fields))

    assert said in message


@pytest.mark.parametrize(
    ("provenance", "said"),
    [
        ({"model": "claude-opus-5-5"}, "model: claude-haiku-4-5 and claude-opus-5-5"),
        ({"model": "claude-haiku-4-5", "plugin": "abc"}, "the plugin's files differ"),
    ],
)
def test_runs_under_other_conditions_are_refused(provenance: dict[str, str], said: str) -> None:
    known = [
        replace(run, provenance={"model": "claude-haiku-4-5", "plugin": "def"}) for run in RUNS[:4]
    ]
    other = [replace(run, provenance=provenance) for run in RUNS[4:]]

    assert said in _refusal(_suite(known), _suite(other))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prompt": "Say bye"}, "case evals/one: another prompt"),
        ({"graders": ({"name": "g1"},)}, "case evals/one: other graders"),
        ({"max_turns": 3}, "case evals/one: another turn cap"),
        ({"model": "opus"}, "case evals/one: another model"),
        ({"plan": results.plan(3, 3)}, "case evals/one: another plan"),
        ({"not_granted": ("Bash",)}, "case evals/one: other tools were granted"),
    ],
)
def test_cases_that_are_not_the_same_are_refused(change: dict[str, object], said: str) -> None:
    other = replace(FIRST, **change)  # type: ignore[arg-type]  # a test's choice

    message = _refusal(_suite(RUNS[:1]), _suite([replace(RUNS[1], case=other)]))

    assert said in message


def test_refusal_lists_a_bearable_number_of_differences() -> None:
    others = [
        results.run(f"with-{n}", "F", case=results.case_info(f"c{n}", runs=results.plan(30, 0)))
        for n in range(1, 31)
    ]
    same = [replace(run, score=0.5) for run in others]

    lines = _refusal(_suite(others), _suite(same)).splitlines()

    assert len(lines) == 12
    assert lines[-1].strip() == "and 20 more"


def test_money_time_and_filters_are_those_of_all() -> None:
    early = _suite(
        RUNS[:4],
        started_at="2026-01-31T09:00:00.000Z",
        duration_s=60.0,
        spent_usd=1.0,
        ceiling_usd=2.0,
        case_filter="one",
    )
    late = _suite(
        RUNS[4:],
        started_at="2026-01-31T09:00:30.000Z",
        duration_s=90.0,
        spent_usd=0.5,
        ceiling_usd=2.0,
        case_filter="two",
    )

    info = _merged(late, early).suite.info

    assert (info.started_at, info.duration_s) == ("2026-01-31T09:00:00.000Z", 120.0)
    assert (info.spent_usd, info.ceiling_usd, info.case_filter) == (1.5, 4.0, None)


def _plugin(name: str, version: str | None = None, path: str = "/plugin") -> dict[str, str]:
    return {"name": name, "path": path, **({"version": version} if version else {})}


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        pytest.param(
            _plugin("demo", "1.2.0"),
            _plugin("demo", "1.3.0"),
            "version of plugin demo: 1.2.0 and 1.3.0 (part-1, part-2)",
            id="another version",
        ),
        pytest.param(
            _plugin("demo", "1.2.0"),
            _plugin("demo"),
            "version of plugin demo: 1.2.0 and none (part-1, part-2)",
            id="no version",
        ),
        pytest.param(
            _plugin("demo"),
            _plugin("else"),
            "plugin: demo (part-1) and else (part-2)",
            id="another plugin",
        ),
    ],
)
def test_results_of_another_plugin_are_refused(
    first: dict[str, str], second: dict[str, str], said: str
) -> None:
    assert said in _refusal(_suite(RUNS[:4], plugins=(first,)), _suite(RUNS[4:], plugins=(second,)))


def test_shards_that_met_other_plugins_of_one_suite_are_merged() -> None:
    beside = _plugin("beside", path="/plugin/more/beside")

    found = _merged(
        _suite(RUNS[:4], plugins=(_plugin("demo"),)), _suite(RUNS[4:], plugins=(beside,))
    )

    assert [one["name"] for one in found.suite.info.plugins] == ["demo", "beside"]


def test_votes_of_another_model_are_refused_though_none_was_asked_for() -> None:
    suites = []
    for case, model in ((FIRST, "haiku"), (SECOND, "opus")):
        verdict = results.judged("P", "PPP", judge_model=model)
        suites.append(_suite([results.run("with-1", (verdict,), case=case)]))

    assert "judge: haiku and opus (part-1, part-2)" in _refusal(*suites)


def test_money_of_shards_beside_their_merge_counts_once() -> None:
    shards = [_suite(runs, spent_usd=1.0, ceiling_usd=5.0) for runs in (RUNS[:4], RUNS[4:])]
    whole = _merged(*shards).suite

    again = _merged(*shards, whole)

    assert (whole.info.spent_usd, whole.info.ceiling_usd) == (2.0, 10.0)
    assert document_text(again.suite) == document_text(whole)


@pytest.mark.parametrize("started", ["", "yesterday", "9999-12-31T23:59:59Z", "0001-01-01"])
def test_times_that_are_odd_give_a_length_all_the_same(started: str) -> None:
    found = _merged(_suite(RUNS[:4], started_at=started), _suite(RUNS[4:]))

    assert found.suite.info.duration_s >= 0
