"""A suite divided among machines, and put together again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.cli.main import main
from tests.pytester.conftest import Suite

CASES = ("alpha", "beta", "gamma", "delta", "epsilon")


@pytest.fixture
def five(suite: Suite) -> Suite:
    """Return a suite of five cases with two runs of either arm."""
    for number, name in enumerate(CASES):
        suite.case(name, front="tags: [odd]" if number % 2 else "")
        suite.records(name, "hg" if number % 2 else "hh", "gg")
    return suite


def _document(directory: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((directory / "aggregate-result.json").read_text("utf-8"))
    return document


def _shard(suite: Suite, part: str, *arguments: str) -> pytest.RunResult:
    place = f"shards/{part.replace('/', '-of-')}"
    return suite.replay("evals", "--eval-shard", part, "--eval-results-dir", place, *arguments)


def _cases(suite: Suite, count: int) -> list[set[str]]:
    places = sorted((suite.root / "shards").glob(f"*-of-{count}"))
    return [{case["name"] for case in _document(place)["cases"]} for place in places]


def _essence(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what does not depend on when and where a session was."""
    kept = {
        name: value
        for name, value in document.items()
        if name not in ("startedAt", "durationSeconds")
    }
    return json.loads(json.dumps(kept))  # type: ignore[no-any-return]  # plain JSON


@pytest.mark.parametrize("arguments", [(), ("-n", "1")], ids=["plain", "xdist"])
def test_four_shards_merged_are_one_session(five: Suite, arguments: Sequence[str]) -> None:
    five.replay("evals", "--eval-results-dir", "whole")
    for n in range(1, 5):
        _shard(five, f"{n}/4", *arguments)

    shards = [str(path) for path in sorted((five.root / "shards").iterdir())]
    code = main(["merge", *shards, "--output-dir", str(five.root / "merged")])

    assert _essence(_document(five.root / "merged")) == _essence(_document(five.root / "whole"))
    assert code == 1  # beta and delta miss the threshold


def test_shards_are_disjoint_and_hold_everything(five: Suite) -> None:
    results = [_shard(five, f"{n}/2") for n in (1, 2)]

    first, second = _cases(five, 2)
    assert first | second == set(CASES)
    assert not first & second
    results[0].stdout.fnmatch_lines(["shard 1 of 2: 3 of 5 cases"])
    results[1].stdout.fnmatch_lines(["shard 2 of 2: 2 of 5 cases"])


def test_division_is_the_same_every_time_and_by_whatever_way_the_cases_are_named(
    five: Suite,
) -> None:
    _shard(five, "1/2")
    (once,) = _cases(five, 2)
    names = [f"evals/{name}" for name in reversed(CASES)]
    five.replay(*names, "--eval-shard", "1/2", "--eval-results-dir", "again")

    assert {case["name"] for case in _document(five.root / "again")["cases"]} == once


def test_what_other_options_leave_is_what_is_shared_out(five: Suite) -> None:
    for n in (1, 2):
        _shard(five, f"{n}/2", "-m", "odd")

    assert sorted(map(len, _cases(five, 2))) == [1, 1]
    documents = [_document(place) for place in sorted((five.root / "shards").iterdir())]
    assert [document["suite"]["shardCases"] for document in documents] == [2, 2]


def test_shards_are_balanced_by_earlier_durations(five: Suite) -> None:
    five.replay("evals", "--eval-results-dir", "whole")
    path = five.root / "whole/aggregate-result.json"
    document = json.loads(path.read_text("utf-8"))
    for case in document["cases"]:
        for run in (*case["arms"]["with"], *case["arms"]["without"]):
            run["durationSeconds"] = 600 if case["name"] == "gamma" else 1
    path.write_text(json.dumps(document), "utf-8")

    for n in (1, 2):
        _shard(five, f"{n}/2", "--eval-shard-durations", "whole")

    assert {"gamma"} in _cases(five, 2)


@pytest.mark.parametrize("arguments", [(), ("-n", "1")], ids=["plain", "xdist"])
def test_machine_without_a_case_has_nothing_to_complain_of(
    five: Suite, arguments: Sequence[str]
) -> None:
    results = [_shard(five, f"{n}/6") for n in range(1, 6)]
    results.append(_shard(five, "6/6", *arguments))

    assert results[-1].ret == 0
    results[-1].stdout.fnmatch_lines(["*shard 6 of 6: 0 of 5 cases"])
    places = [path for path in sorted((five.root / "shards").iterdir()) if any(path.iterdir())]
    assert len(places) == 5
    # The sixth is not missing: all cases are there.
    main(["merge", *map(str, places), "--output-dir", str(five.root / "merged")])
    assert _document(five.root / "merged")["partial"] is False


def test_broken_case_is_told_of_in_every_shard_and_once_in_all(five: Suite) -> None:
    five.case("broken", graders={})

    results = [_shard(five, f"{n}/2") for n in (1, 2)]
    places = [str(path) for path in sorted((five.root / "shards").iterdir())]
    main(["merge", *places, "--output-dir", str(five.root / "merged")])

    assert all(result.ret == 1 for result in results)
    assert len(_document(five.root / "merged")["loadErrors"]) == 1


def test_ini_value_is_the_options(five: Suite) -> None:
    result = five.replay("evals", "-o", "plugin_eval_shard=2/5")

    result.stdout.fnmatch_lines(["shard 2 of 5: 1 of 5 cases"])


def test_tests_that_are_no_evals_are_nobodys_shard(five: Suite) -> None:
    five.pytester.makepyfile(test_own="def test_it(): pass")

    result = five.replay("evals", "test_own.py", "--eval-shard", "1/5", "-v")

    result.stdout.fnmatch_lines(["test_own.py::test_it PASSED*"])
