"""A result survives being saved, being split among machines, and being broken by hand."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.cli.diff_lines import json_text, markdown_lines, text_lines
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.records.model import Arm, Ending
from pytest_plugin_eval.reports.document import document_text
from pytest_plugin_eval.reports.history import history_lines
from pytest_plugin_eval.reports.history_html import history_html
from pytest_plugin_eval.reports.table import table_lines
from pytest_plugin_eval.results.difference import difference
from pytest_plugin_eval.results.merging import Part, merged
from pytest_plugin_eval.results.rebuilt import rebuilt_suite
from pytest_plugin_eval.results.saved_document import SavedDocument, parse_document
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import CaseInfo, RunReport, SuiteResult, Verdict
from pytest_plugin_eval.scoring.trend import trends
from tests.support import results

NAMES = ("one", "two", "größe/日本", "a b", "z|*")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
MONEY = st.none() | st.sampled_from([0.0, 0.01, 0.1, 1 / 3])
ENDINGS = (
    (Ending.COMPLETED, None),
    (Ending.TURN_LIMIT, "turn cap of 10 reached"),
    (Ending.TIMED_OUT, "no end within 300 s"),
    (Ending.AGENT_ERROR, "API Error: 529 overloaded"),
    (Ending.SETUP_FAILED, "no such directory"),
    (Ending.INTERRUPTED, None),
)
MOCKS: Mapping[str, object] = {"servers": ["tracker"], "warnings": [], "calls": {"total": 2}}
ABORTED = {"server": "tracker", "tool": "find", "reason": "x is bad"}


@st.composite
def _verdicts(draw: st.DrawFn) -> tuple[Verdict, ...]:
    made = []
    for number in range(draw(st.integers(0, 3))):
        name, weight = f"g{number}", draw(st.sampled_from([0.5, 1, 3]))
        letter = draw(st.sampled_from("PFES"))
        if draw(st.booleans()) and letter in "PF":
            votes, told = draw(st.sampled_from(["PPF", "FF?", "PPP"])), draw(TEXTS)
            judged = results.judged(letter, votes, name, judge_model="haiku", explanation=told)
            made.append(replace(judged, weight=weight))
            continue
        scored = draw(st.booleans())
        made.append(
            results.verdict(letter, name, weight=weight, scored=scored, explanation=draw(TEXTS))
        )
    return tuple(made)


@st.composite
def _run(draw: st.DrawFn, name: str, case: CaseInfo) -> RunReport:
    ending, error = draw(st.sampled_from(ENDINGS))
    run = results.run(
        name,
        draw(_verdicts()),
        case=case,
        ending=ending,
        error=error,
        cost_usd=draw(MONEY),
        judge_cost_usd=draw(MONEY),
    )
    if draw(st.booleans()):
        run = results.attempted(run, draw(st.integers(1, 3)))
    if draw(st.integers(0, 5)) == 0:
        run = replace(results.aborted(name), key=run.key, case=case, aborted=ABORTED)
    return replace(
        run,
        judge_known_usd=draw(st.sampled_from([0.0, 0.25])),
        mocks=draw(st.sampled_from([None, MOCKS])),
        notes=tuple(draw(st.lists(TEXTS.filter(bool), max_size=1))),
        skills_called=draw(st.sampled_from([None, (), ("demo:greet",)])),
        provenance=draw(st.sampled_from([{}, {"model": "haiku", "settings": "s"}])),
    )


@st.composite
def _runs(draw: st.DrawFn) -> list[RunReport]:
    found = []
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True)):
        planned = results.plan(draw(st.integers(1, 3)), draw(st.integers(0, 3)))
        case = replace(
            results.case_info(name, runs=planned),
            graders=tuple({"name": f"g{n}", "type": "llm", "weight": 1} for n in range(3)),
            advisories=tuple(draw(st.lists(TEXTS, max_size=1))),
            not_granted=draw(st.sampled_from([(), ("Bash",)])),
        )
        for arm, count in (("with", planned.with_runs), ("without", planned.without_runs)):
            found += [draw(_run(f"{arm}-{n}", case)) for n in range(1, count + 1)]
    return found


def _suite(runs: Sequence[RunReport], **fields: object) -> SuiteResult:
    """Return a session in which these runs were selected and made."""
    cases = []
    for case in {run.case.id: run.case for run in runs}.values():
        own = [run for run in runs if run.case.id == case.id]
        made = sum(run.key.arm is Arm.WITH for run in own)
        selected = results.plan(made, len(own) - made)
        cases.append(case_result(case, own, threshold=0.5, min_delta=0.1, expected=selected))
    info = results.suite_info(threshold=0.5, min_delta=0.1, **fields)
    return suite_result(info, cases, partial_reason=None)


@given(_runs())
def test_document_of_a_rebuilt_suite_is_the_same(runs: list[RunReport]) -> None:
    suite = _suite(runs)
    text = document_text(suite)

    rebuilt = rebuilt_suite(parse_document(text, "a document"))

    assert document_text(rebuilt) == text
    assert [case.passed for case in rebuilt.cases] == [case.passed for case in suite.cases]


@given(_runs(), st.data())
def test_parts_of_a_suite_merge_into_its_document(
    runs: list[RunReport], data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, 4))
    shares = data.draw(st.lists(st.integers(0, count - 1), min_size=len(runs), max_size=len(runs)))
    parts = [
        [run for run, share in zip(runs, shares, strict=True) if share == n] for n in range(count)
    ]
    documents = [document_text(_suite(part)) for part in parts if part]

    found = merged(
        [
            Part(name=f"part-{n}", document=parse_document(text, "a part"))
            for n, text in enumerate(data.draw(st.permutations(documents)))
        ]
    )

    assert document_text(found.suite) == document_text(_suite(runs))
    assert found.is_complete


ODD = st.sampled_from(
    [None, True, -1, 0, 2, 10**9, 10**400, 1e308, float("nan"), float("inf"), "", "x", "with-0",
     "1/0", "with-x", "../../etc", "\x00\x1b[31m", [], [None], {}, {"name": 1}, "9999-12-31T23:59"]
)  # fmt: skip


def _places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of each value in some JSON."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(place for key, one in inner for place in _places(one, (*path, key)))]


def _broken(fields: Any, path: tuple[Any, ...], value: object, *, remove: bool) -> None:
    for key in path[:-1]:
        fields = fields[key]
    if remove:
        del fields[path[-1]]
    else:
        fields[path[-1]] = value


def _read(text: str) -> SavedDocument | None:
    """Return the document, or ``None`` where it is refused in one line."""
    try:
        return parse_document(text, "a document")
    except EvalError as error:
        if "\n" in str(error):
            raise
        return None


SHARD = document_text(
    results.judged_suite(shard="1/2", shard_cases=9, started_at="2026-01-31T09:05:00.123Z")
)
PLACES = _places(json.loads(SHARD))[1:]


@given(st.data())
def test_broken_document_is_refused_or_read_and_never_more(data: st.DataObject) -> None:
    fields = json.loads(SHARD)
    path = data.draw(st.sampled_from(PLACES))
    _broken(fields, path, data.draw(ODD), remove=data.draw(st.booleans()))
    whole = parse_document(SHARD, "a document")

    odd = _read(json.dumps(fields))
    if odd is None:
        return

    suite = rebuilt_suite(odd)
    document_text(suite)
    table_lines(suite, width=80)
    for pair in ((suite, rebuilt_suite(whole)), (rebuilt_suite(whole), suite)):
        moved = difference(*pair)
        assert [*text_lines(moved, width=80), *markdown_lines(moved), json_text(moved)]
    found = trends([(suite, None), (rebuilt_suite(whole), None)], with_replays=True)
    assert all(history_lines(trend, width=80) for trend in found)
    assert history_html(found)
    with contextlib.suppress(EvalError):
        merged([Part(name="a", document=odd), Part(name="b", document=whole)])
