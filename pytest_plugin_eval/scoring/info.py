"""What the result document says of a case's definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from pytest_plugin_eval.cases.model import (
    BaselineSpec,
    Case,
    GraderSpec,
    LlmSpec,
    RegexSpec,
    ToolOrderSpec,
    ToolPattern,
)
from pytest_plugin_eval.scoring.model import CaseInfo, Plan

__all__ = ["case_info", "grader_definition"]

DEFAULT_RUNS = 3


def case_info(
    case: Case,
    plan: Plan,
    *,
    advisories: Sequence[tuple[str | None, str]] = (),
    grants: Mapping[str, str] | None = None,
    not_granted: Sequence[str] = (),
    hints: Sequence[str] = (),
) -> CaseInfo:
    """Return the plain values of *case* that every report of it carries.

    *advisories* pairs a grader's name (``None``: the case itself) with a text about it; *grants*
    are the tools that would help a grader, by its name.
    """
    by_grader: dict[str, str] = {}
    for grader, text in advisories:
        if grader is not None:
            by_grader.setdefault(grader, text)
    return CaseInfo(
        id=case.id,
        name=case.name,
        source=case.source.value,
        prompt=case.prompt,
        graders=tuple(grader_definition(grader) for grader in case.graders),
        root=str(case.root),
        eval_dir=str(case.eval_dir),
        plan=plan,
        own_runs=DEFAULT_RUNS if case.runs is None else case.runs,
        max_turns=case.max_turns,
        timeout_s=case.timeout_s,
        model=case.model,
        tags=case.tags,
        advisories=tuple(text for _, text in advisories),
        grader_advisories=by_grader,
        grader_grants=grants or {},
        warnings=case.warnings,
        hints=tuple(hints),
        not_granted=tuple(not_granted),
        plugins=tuple(_plugin(case)),
        source_file=str(case.source_file),
    )


def grader_definition(grader: GraderSpec) -> Mapping[str, object]:
    """Return a grader as ``cases[].graders[]`` of the document has it. Spec: behaviour-evals, 9."""
    definition: dict[str, object] = {
        "name": grader.name,
        "type": grader.type,
        "weight": grader.weight,
    }
    if isinstance(grader, LlmSpec | BaselineSpec):
        definition["graderMarkdown"] = grader.criteria
    config = _config(grader)
    if grader.arm is not None:
        config["arm"] = grader.arm
    definition["config"] = config
    return definition


def _config(grader: GraderSpec) -> dict[str, object]:
    match grader:
        case RegexSpec():
            names: tuple[str, ...] = ("target", "pattern", "flags", "match")
        case ToolOrderSpec():
            return {"before": _side(grader.before), "after": _side(grader.after)}
        case LlmSpec():
            names = ("criteria", "focus")
        case BaselineSpec():
            names = ("baseline_file", "criteria")
        case _:
            names = ("tool", "input_match", "min", "max", "path", "exists")
    values = {name: getattr(grader, name, None) for name in names}
    return {name: _plain(value) for name, value in values.items() if value is not None}


def _side(side: str | ToolPattern) -> object:
    return {"tool": side} if isinstance(side, str) else _plain(side)


def _plain(value: object) -> object:
    return value.model_dump(exclude_none=True) if isinstance(value, BaseModel) else value


def _plugin(case: Case) -> list[Mapping[str, str]]:
    listed: list[Mapping[str, str]] = []
    for plugin in case.plugins:
        entry = {"name": plugin.name}
        if plugin.version is not None:
            entry["version"] = plugin.version
        entry["path"] = str(plugin.path)
        if plugin.problem is not None:
            entry["problem"] = plugin.problem
        listed.append(entry)
    return listed
