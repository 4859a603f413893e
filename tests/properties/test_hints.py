"""Hints of arbitrary cases: no error, and no score below what patterns and weights allow."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from pytest_plugin_eval.cases.advisories import offer
from pytest_plugin_eval.cases.expressible import reachable_scores
from pytest_plugin_eval.cases.hints import Circumstances, hints, skill_use, suite_hints
from pytest_plugin_eval.cases.model import Case, GraderSpec, Source
from pytest_plugin_eval.cases.pattern_text import matches_anything
from pytest_plugin_eval.cases.plugin_skills import Skill
from pytest_plugin_eval.graders.javascript import Failure, Question, ask

GRADER: TypeAdapter[GraderSpec] = TypeAdapter(GraderSpec)

_texts = st.one_of(st.text(max_size=20), st.text('ab.*|()[]\\^$": /{},-', max_size=12))
_tools = (
    st.sampled_from(("Skill", "Read", "Bash", "Wrte", "search", "mcp__a__b", "Bash(x)")) | _texts
)
_targets = st.one_of(
    st.sampled_from(("last_message", "trace", "files", "mock_calls")),
    st.fixed_dictionaries({"source": st.just("file"), "path": _texts}),
)
_counts = st.none() | st.integers(0, 3)
_matches = st.sampled_from(("contains", "not_contains", "count:0", "count:00", "count:2"))
_sides = _tools | st.fixed_dictionaries({"tool": _tools, "input_match": _texts})
_kinds = st.one_of(
    st.fixed_dictionaries(
        {
            "type": st.just("regex"),
            "pattern": _texts,
            "match": _matches,
            "target": _targets,
            "flags": st.sampled_from(("", "i", "y", "gm")),
        }
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("tool_used"),
            "tool": _tools,
            "input_match": st.none() | _texts,
            "min": _counts,
            "max": _counts,
        }
    ),
    st.fixed_dictionaries({"type": st.just("tool_order"), "before": _sides, "after": _sides}),
    st.fixed_dictionaries(
        {"type": st.just("file_exists"), "path": _texts, "exists": st.booleans()}
    ),
    st.fixed_dictionaries({"type": st.just("llm"), "criteria": _texts, "focus": _targets}),
    st.fixed_dictionaries(
        {"type": st.just("baseline"), "criteria": _texts, "baseline_file": _texts}
    ),
)
_weights = st.floats(min_value=1e-9, max_value=1e300) | st.integers(1, 4)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Return a case that loads."""
    specs = [
        GRADER.validate_python({**kind, "name": f"g{number}", "weight": draw(_weights)})
        for number, kind in enumerate(draw(st.lists(_kinds, min_size=1, max_size=5)))
    ]
    return Case(
        id="evals/it",
        directory=Path("evals/it"),
        eval_dir=Path("evals"),
        root=Path(),
        name="it",
        source=Source.PROSE,
        prompt=draw(_texts),
        graders=tuple(specs),
        max_turns=draw(st.integers(1, 3)),
        allowed_tools=tuple(draw(st.lists(_tools, max_size=3))),
        disallowed_tools=tuple(draw(st.lists(_tools, max_size=2))),
    )


@given(
    case=cases(),
    threshold=st.floats(0, 1),
    runs=st.integers(1, 50),
    grants=st.none() | st.lists(_tools, max_size=2),
    names=st.lists(_texts, max_size=2),
    found=st.booleans(),
)
def test_every_case_has_hints_of_one_line(
    case: Case,
    threshold: float,
    runs: int,
    grants: list[str] | None,
    names: list[str],
    found: bool,
) -> None:
    tools = None if grants is None else offer(case, grants=grants, disallowed=())
    circumstances = Circumstances(
        offer=tools,
        matches=lambda *_: found,
        runs=runs,
        threshold=threshold,
        unscored=frozenset({"g0"}),
        skills=tuple(Skill("demo", name) for name in names),
        servers=tuple(("demo", name) for name in names),
    )

    told = hints(case, circumstances)

    assert all(hint.text and hint.text.isprintable() for hint in told)
    assert {hint.grader for hint in told} <= {None, *(grader.name for grader in case.graders)}
    assert len(suite_hints([skill_use(case)] * 3)) <= 1


@given(st.text(".*?|^$[]()\\sSa", max_size=6), st.text("ab\n", max_size=4))
def test_pattern_called_found_everywhere_is_found(pattern: str, text: str) -> None:
    assume(matches_anything(pattern))
    question = Question(pattern, "", text)

    found = ask([question], 10)[question]

    # What does not compile is an error of its case.
    assert found == 1 or isinstance(found, Failure)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.integers(1, 3))
def test_reachable_scores_are_those_of_all_outcomes(weights: list[int], runs: int) -> None:
    outcomes = product(product((0, 1), repeat=len(weights)), repeat=runs)
    scores = {
        Fraction(
            sum(
                passed * weight for one in each for passed, weight in zip(one, weights, strict=True)
            ),
            sum(weights) * runs,
        )
        for each in outcomes
    }

    assert reachable_scores(weights, runs) == tuple(sorted(scores))
