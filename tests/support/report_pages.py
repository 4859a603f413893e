"""Suites with records for tests of the HTML report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.records.model import (
    FileEntry,
    FileKind,
    RunKey,
    RunRecord,
    Vote,
)
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.reports.html import INLINE_BYTES, HtmlReport, write_report
from pytest_plugin_eval.scoring.aggregate import suite_result
from pytest_plugin_eval.scoring.model import CaseInfo, CaseResult, RunReport, SuiteResult
from pytest_plugin_eval.storage.atomic_write import write_text
from pytest_plugin_eval.text import without_surrogates
from tests.support.records import called, file, said
from tests.support.results import case, case_info, judged, lost, plan, run, suite_info, verdict

HOME = "/home/run-1/cwd"

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "</style><style>* { display: none }</style>",
    '<img src="x" onerror="window.hacked = 1">',
    "<svg onload=window.hacked=1><a href=javascript:window.hacked=1>x</a></svg>",
    "<a href='javascript:window.hacked=1' target=_blank>click</a>",
    "javascript:window.hacked=1 http://127.0.0.1:9/x",
    "<link rel=stylesheet href=http://127.0.0.1:9/x><base href=http://127.0.0.1:9/>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<iframe src=http://127.0.0.1:9/></iframe><object data=x></object><form action=x>",
    "</pre></details></li></ol></div></article></main><!--",
    '" onmouseover="window.hacked=1" x=\'',
    "]]> \u2028 \u2029 \ud800 \x00 \x1b[2J \u202egnp.exe \u2066x",
    "{{ 7 * 7 }} {% include 'report.css' %} &lt;b&gt; &#60;",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.hacked=1></style></math>",
    "<svg><style>*{display:none}</style><animate onbegin=window.hacked=1 attributeName=x></svg>",
    "<a id=page:search name=page:tools></a><form id=page:tools><input name=attributes>",
    "</title></textarea></noscript></option></select><button formaction=javascript:hacked=1>",
    "</summary></details><details open ontoggle=window.hacked=1><summary>x</details>",
    "`${window.hacked = 1}` ${7 * 7} #{7 * 7} %7b%3cscript%3e",
    "' style='background: url(http://127.0.0.1:9/)' class='skip' id='page:count' ping=x",
    "../../../../etc/passwd ..\\..\\x CON nul.txt C:\\x //127.0.0.1:9/x file:///etc/passwd",
)
"""What a model might write, in the hope that it acts."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Records in memory."""

    by_key: Mapping[RunKey, RunRecord] = field(default_factory=dict)
    bytes_each: int = 1000

    def size(self, run: RunReport) -> int:
        """Return the size that every record is said to have."""
        return self.bytes_each

    def read(self, run: RunReport) -> RunRecord:
        """Return a record; raises `RecordError` where there is none."""
        if run.key not in self.by_key:
            raise RecordError(f"{run.record_path}: cannot read the record: it has gone")
        return self.by_key[run.key]


def info(name: str, **fields: object) -> CaseInfo:
    """Return a case with two graders and these fields."""
    graders = (
        {"name": "g1", "type": "regex", "weight": 1, "config": {"pattern": "hello", "flags": ""}},
        {"name": "g2", "type": "regex", "weight": 2, "config": {"pattern": "x", "target": "trace"}},
    )
    values: dict[str, object] = {
        "graders": graders,
        "source_file": f"/plugin/evals/{name}",
        **fields,
    }
    return replace(case_info(name), **values)  # type: ignore[arg-type]  # fields of a test's choice


def record_of(report: RunReport, *lines: str, files: tuple[FileEntry, ...] = ()) -> RunRecord:
    """Return a record of the run with this trace."""
    start = json.dumps(
        {"type": "system", "subtype": "init", "cwd": HOME, "model": "m", "tools": ["Read"]}
    )
    return RunRecord(
        key=report.key,
        outcome=report.outcome,
        trace=Trace([start, *lines]),
        files=files,
        provenance={"model": "claude-haiku-4-5"},
    )


def result_line(text: object, *, is_error: bool = False) -> str:
    """Return a ``user`` line with a tool's result."""
    block = {"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": is_error}
    return json.dumps({"type": "user", "message": {"role": "user", "content": [block]}})


def small_suite() -> tuple[SuiteResult, Kept]:
    """Return four cases and their records: better, worse, flaky, and one that lost a run."""
    better, worse = info("better", tags=("smoke",)), info("worse", tags=("smoke", "slow"))
    flaky, spoilt = info("flaky", hints=("name the file",)), info("spoilt", warnings=("old key",))
    cases = [
        _case(better, with_runs="PP PP PP", without_runs="FP FP FP"),
        _case(worse, with_runs="FP FP FP", without_runs="PP PP PP"),
        _case(flaky, with_runs="PP PF PP", without_runs="PF PF PF"),
        case(
            spoilt,
            run("with-1", "PP", case=spoilt),
            run("with-2", "PP", case=spoilt),
            lost("with-3", case=spoilt),
            *(run(f"without-{n}", (judged("F", "FPF"),), case=spoilt) for n in (1, 2, 3)),
        ),
    ]
    suite = suite_result(suite_info(), cases, partial_reason=None)
    return suite, Kept({r.key: _record(r) for one in cases for r in one.runs if r.measured})


def _case(about: CaseInfo, *, with_runs: str, without_runs: str) -> CaseResult:
    listed = {"with": with_runs.split(), "without": without_runs.split()}
    return case(
        about,
        *(
            run(f"{arm}-{number}", letters, case=about)
            for arm, runs in listed.items()
            for number, letters in enumerate(runs, 1)
        ),
    )


def _record(report: RunReport) -> RunRecord:
    fires = report.key.arm == "with"
    return record_of(
        report,
        called("Read", file_path=f"{HOME}/people.md"),
        result_line("Ada\nGrace"),
        called("Skill" if fires else "Glob", skill="demo:greet"),
        result_line("no such thing", is_error=not fires),
        said("hello Ada"),
        files=(
            file("out.md", "hello"),
            file("logo.png", b"\x89PNG"),
            file("given.md", created=False),
        ),
    )


def hostile_suite(text: str = "\n".join(HOSTILE)) -> tuple[SuiteResult, Kept]:
    """Return a suite in which every text that comes from outside is *text*."""
    config = {"pattern": text, text: text}
    graders = (
        {"name": text, "type": text, "weight": 1, "config": config, "arm": text},
        {"name": "judge", "type": "llm", "weight": 1, "config": {}, "graderMarkdown": text},
    )
    about = replace(
        info("hostile", prompt=text, tags=(text,), hints=(text,), warnings=(text,)),
        id=f"evals/{text}",
        name=text,
        graders=graders,
        advisories=(text,),
        not_granted=(text,),
        source_file=text,
        plan=plan(1, 1),
    )
    told = (
        verdict("F", text, explanation=text),
        judged("F", "PFF", "judge", explanation=text, evidence=text, judge_model=text),
    )
    runs = [
        _of(run("with-1", told, case=about, error=text), text),
        replace(_of(run("without-1", told, case=about), text), aborted=_abort(text)),
    ]
    votes = tuple(_vote(text, number, passed=number == 1) for number in (1, 2, 3))
    lines = (
        said(text),
        called(text, **{text: text}),
        result_line(text),
        result_line([{"type": "text", "text": text}, {"type": text}]),
        text.replace("\n", " "),
        json.dumps({"type": "user", "message": {"content": text}}),
    )
    files = (
        file(text, without_surrogates(text)),
        FileEntry(path=text, kind=FileKind.LINK, created=True, target=text),
    )
    records = {one.key: replace(record_of(one, *lines, files=files), votes=votes) for one in runs}
    plugins = ({"name": text, "version": text, "path": text},)
    about_suite = suite_info(root=text, plugins=plugins, mode="replay", recorded=text, model=text)
    suite = suite_result(
        about_suite, [case(about, *runs)], partial_reason=None, load_errors=(text,)
    )
    return suite, Kept(records)


def _of(report: RunReport, text: str) -> RunReport:
    return replace(report, notes=(text,), mocks=_mocks(text), provenance={"model": text})


def _mocks(text: str) -> Mapping[str, object]:
    return {"calls": {"total": 1, "errors": 0, "unmocked": [text]}, "warnings": [text]}


def _abort(text: str) -> Mapping[str, str]:
    return {"server": text, "tool": text, "reason": text}


def _vote(text: str, number: int, *, passed: bool) -> Vote:
    return Vote(
        question="q",
        grader="judge",
        judging=1,
        number=number,
        passed=passed,
        reply=text,
        asked_model=text,
        model=text,
        cost_usd=0.001,
        asked_at="2026-01-31T00:00:00.000Z",
    )


def large_suite(cases: int, graders: int = 4) -> tuple[SuiteResult, Kept]:
    """Return a suite of so many cases, each with six runs; none has a record."""
    listed = [
        _case(
            replace(case_info(f"case-{number:04}"), tags=(f"group-{number % 10}",)),
            with_runs=" ".join(["P" * graders] * 2 + ["P" * (graders - 1) + "F"]),
            without_runs=" ".join(["P" + "F" * (graders - 1)] * 3),
        )
        for number in range(cases)
    ]
    return suite_result(suite_info(), listed, partial_reason=None), Kept(bytes_each=20_000)


def written(
    suite: SuiteResult,
    records: Kept,
    path: Path,
    *,
    inline_bytes: int = INLINE_BYTES,
    written_by: str = "",
) -> Path:
    """Write the report of a suite and return *path*."""
    report = HtmlReport(suite, records=records, inline_bytes=inline_bytes, written_by=written_by)
    write_report(report, path, write_text)
    return path


__all__ = [
    "HOSTILE",
    "Kept",
    "hostile_suite",
    "info",
    "large_suite",
    "record_of",
    "result_line",
    "small_suite",
    "written",
]
