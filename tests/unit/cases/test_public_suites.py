"""Two suites that were written for the reference command, as their authors left them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.discovery import eval_directory_of
from pytest_plugin_eval.errors import CaseError
from tests.support.suites import load

SHARED = Path(os.environ.get("PLUGIN_EVAL_SHARED") or Path(__file__).parents[4] / "shared")
SUITES = SHARED / "corpus" / "suites"

pytestmark = pytest.mark.skipif(
    not SUITES.is_dir(), reason="no shared corpus: name it by PLUGIN_EVAL_SHARED"
)

SKILL_CASES = (
    "clean-repo", "impostor-check-skipped", "many-findings", "pwn-request", "template-injection",
)  # fmt: skip
REFUSED = {
    "budget-degradation": 5,
    "blocked-propagation": 5,
    "cycle-rejection": 5,
    "decomposition": 4,
    "integration-conflict": 5,
    "resume": 5,
    "review-loop": 4,
    "routing": 4,
    "smoke": 5,
}


@pytest.mark.parametrize("name", SKILL_CASES)
def test_case_with_a_skill_folder_as_its_plugin_loads(name: str) -> None:
    case = load(SUITES / "ci-secure" / "evals" / name)

    assert (case.name, case.warnings) == (name, ())
    assert [plugin.name for plugin in case.plugins] == ["ci-secure"]
    assert len(case.graders) >= 8


def test_suite_of_the_skill_folder_has_these_cases_only() -> None:
    place = eval_directory_of(SUITES / "ci-secure" / "evals")

    assert place is not None
    assert tuple(case.name for case in place.cases) == SKILL_CASES


@pytest.mark.parametrize(("name", "count"), REFUSED.items(), ids=REFUSED)
def test_author_of_a_refused_case_is_told_everything(name: str, count: int) -> None:
    directory = SUITES / "yolo-dag" / "evals" / name

    with pytest.raises(CaseError) as caught:
        load(directory)

    problems = [problem.replace(f"{directory}/", "") for problem in caught.value.problems]
    told = (
        'case.yaml:1: schema_version is missing, expected a string such as "1.0", with the quotes',
        "case.yaml:1: there is no grader, expected one file graders/*.md or graders in case.yaml",
        "graders/criteria.md:1: is ignored, expected frontmatter: a line ---, type: ...,"
        " a line ---",
        "case.yaml:5: unknown key 'max_turns' is ignored, it belongs under execution",
        "case.yaml:6: unknown key 'timeout_seconds' is ignored, it belongs under execution",
        "case.yaml:7: unknown key 'scaffold_script' is ignored, it belongs under context",
    )
    assert problems == list(told[: count + 1])
