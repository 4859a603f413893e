"""Our document of some results is the reference's document of them, with fields added."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter

from pytest_plugin_eval.cases.model import Case, GraderSpec, Plugin, Source
from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunOutcome
from pytest_plugin_eval.reports.document import document_text
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.info import case_info
from pytest_plugin_eval.scoring.model import (
    CaseInfo,
    RunReport,
    SuiteInfo,
    SuiteResult,
    Verdict,
    VerdictStatus,
)
from pytest_plugin_eval.scoring.runs import run_report
from tests.support.reference import Document, agent_binary, run_reference
from tests.support.results import plan
from tests.support.script import judge, rule, script
from tests.support.scripted_api import ScriptedApi

pytestmark = [
    pytest.mark.agent,
    pytest.mark.skipif(
        agent_binary() is None,
        reason="no agent binary: install the extra 'claude' or put claude on PATH",
    ),
]

GRADERS = """
- {name: gone, type: regex, pattern: Nope, flags: i, match: not_contains, target: trace, arm: both}
- {name: heavy, type: regex, pattern: größe, weight: 2.5}
- {name: fired, type: tool_used, tool: Skill, input_match: greet}
- {name: reads, type: tool_used, tool: Read, min: 0, max: 2}
- {name: order, type: tool_order, before: Glob, after: {tool: Grep, input_match: x}}
- {name: file, type: file_exists, path: "*.txt", exists: false}
- {name: polite, type: llm, criteria: Is polite}
"""
CASE_YAML = f"""
schema_version: "1.0"
name: shapes
runs: 2
execution: {{prompt: Tell the größe, model: claude-haiku-4-5, max_turns: 4}}
graders: {GRADERS.strip().replace(chr(10), chr(10) + "  ")}
""".replace("graders: -", "graders:\n  -")
ADAPTER: TypeAdapter[GraderSpec] = TypeAdapter(GraderSpec)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    root = tmp_path / "plugin"
    (root / ".claude-plugin").mkdir(parents=True)
    (root / ".claude-plugin" / "plugin.json").write_text(
        '{"name": "demo", "version": "1.2.0", "description": "A demo"}'
    )
    (root / "evals" / "shapes").mkdir(parents=True)
    (root / "evals" / "shapes" / "case.yaml").write_text(CASE_YAML, encoding="utf-8")
    return root.resolve()


def test_document_has_the_fields_and_order_of_the_reference(plugin: Path) -> None:
    rules = [judge("PASS"), rule(turns=["Die größe ist 3."])]
    options = ["--runs", "1", "--threshold", "0.5", "--judge-model", "haiku", "--case", "sh*"]

    with ScriptedApi(script(*rules)) as api:
        theirs = run_reference(plugin, api, *options).document

    assert theirs is not None
    ours = json.loads(document_text(_suite(plugin, theirs)))
    assert json.dumps(_shared(ours, theirs), indent=1) == json.dumps(theirs, indent=1)


def _shared(ours: object, theirs: object) -> object:
    """Return *ours* without the fields that *theirs* lacks."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {key: _shared(value, theirs[key]) for key, value in ours.items() if key in theirs}
    if isinstance(ours, list) and isinstance(theirs, list):
        return [_shared(*pair) for pair in zip(ours, theirs, strict=True)]
    return ours


def _suite(root: Path, theirs: Document) -> SuiteResult:
    (case,) = theirs["cases"]
    info = _info(root)
    runs = [
        _report(info, Arm(arm), number, run)
        for arm, listed in case["arms"].items()
        for number, run in enumerate(listed, 1)
    ]
    suite = SuiteInfo(
        root=str(root),
        eval_dir=str(root / "evals"),
        ablation="with-without",
        threshold=0.5,
        concurrency=1,
        mode="live",
        judge_model="haiku",
        case_filter="sh*",
        plugins=info.plugins,
        claude_version=theirs["claudeVersion"],
        started_at=theirs["startedAt"],
        duration_s=theirs["durationSeconds"],
    )
    return suite_result(suite, [case_result(info, runs, threshold=0.5)], partial_reason=None)


def _info(root: Path) -> CaseInfo:
    directory = root / "evals" / "shapes"
    case = Case(
        id="evals/shapes",
        directory=directory,
        eval_dir=root / "evals",
        root=root,
        name="shapes",
        source=Source.CASE_YAML,
        prompt="Tell the größe",
        graders=tuple(ADAPTER.validate_python(grader) for grader in yaml.safe_load(GRADERS)),
        plugins=(Plugin(name="demo", path=root, version="1.2.0"),),
        runs=2,
        model="claude-haiku-4-5",
        max_turns=4,
    )
    return case_info(case, plan(1, 1))


def _report(info: CaseInfo, arm: Arm, number: int, run: Mapping[str, object]) -> RunReport:
    """Return the run that the reference reports, with a score of our own."""
    document: Document = dict(run)
    return run_report(
        key=RunKey(case=info.id, arm=arm, number=number),
        case=info,
        outcome=RunOutcome(
            ending=Ending.COMPLETED,
            error=document["error"],
            turns=document["turns"],
            cost_usd=document["costUsd"] - document["judgeCostUsd"],
            duration_s=document["durationSeconds"],
            started_at=document["startedAt"],
        ),
        verdicts=tuple(_verdict(grader) for grader in document["graders"]),
        record_path=document["tracePath"],
        provenance={},
        last_message="",
        judge_cost_usd=document["judgeCostUsd"],
    )


def _verdict(grader: Document) -> Verdict:
    votes = grader.get("judgeVotes")
    return Verdict(
        grader=grader["name"],
        type="",
        status=VerdictStatus.PASSED if grader["passed"] else VerdictStatus.FAILED,
        weight=grader["weight"],
        explanation=grader["explanation"],
        with_only=grader["withOnly"],
        scored=grader["scored"],
        votes=None if votes is None else tuple(votes),
        evidence=grader.get("evidence"),
    )
