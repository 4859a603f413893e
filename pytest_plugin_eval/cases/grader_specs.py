"""The graders of a case: from raw mappings to checked specs. Spec: behaviour-evals, 2.5 and 4."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import BaseModel, ValidationError

from pytest_plugin_eval.cases import yaml12
from pytest_plugin_eval.cases.case_paths import path_problem
from pytest_plugin_eval.cases.documents import CASE_YAML, GRADERS, CaseFiles
from pytest_plugin_eval.cases.model import (
    GRADER_TYPES,
    BaselineSpec,
    GraderSpec,
    RegexSpec,
    ToolOrderSpec,
    ToolPattern,
    ToolUsedSpec,
)
from pytest_plugin_eval.cases.problems import (
    Document,
    Report,
    expected_of,
    unknown_key,
    value_shown,
    without_wrong,
)
from pytest_plugin_eval.text import did_you_mean

__all__ = ["PatternCheck", "load_graders"]

PatternCheck: TypeAlias = Callable[[Sequence[tuple[str, str]]], Sequence[str | None]]
"""Compiles (pattern, flags) pairs as JavaScript does: a complaint or ``None`` for each."""

BODY_FIELDS = {"regex": "pattern", "llm": "criteria", "baseline": "criteria"}

# A pattern of other characters only is a literal text, valid whatever the flags.
_NEEDS_ENGINE = re.compile(r"[\\^$.*+?()\[\]{}|/]")
_LEADING_FLAGS = re.compile(r"\(\?([a-z]+)\)")


@dataclass(frozen=True, slots=True)
class _Raw:
    document: Document
    path: yaml12.Path
    fields: Mapping[str, object]
    prefix: str


@dataclass(frozen=True, slots=True)
class _Pattern:
    raw: _Raw
    path: yaml12.Path
    name: str
    pattern: str
    flags: str


def load_graders(
    files: CaseFiles,
    directory: str,
    report: Report,
    check_patterns: PatternCheck | None,
) -> tuple[GraderSpec, ...]:
    """Return the graders of a case in order, noting everything wrong with them.

    What is returned beside an error is incomplete.
    """
    specs: list[GraderSpec] = []
    total = 0.0
    patterns: list[_Pattern] = []
    names: dict[str, _Raw] = {}
    seen = False
    for raw in _raw_graders(files, report):
        seen = True
        spec = _spec(raw, report)
        if spec is None:
            continue
        specs.append(spec)
        if spec.name in names:
            report.error(
                raw.document,
                f"{raw.prefix}the name {value_shown(spec.name)} is taken by the grader in"
                f" {_place(names[spec.name])}, expected names that differ",
                (*raw.path, "name"),
            )
        names.setdefault(spec.name, raw)
        total = _added_weight(total, raw, spec, report)
        _check_meaning(raw, spec, directory, report)
        patterns.extend(_patterns(raw, spec))
    listed = files.case_yaml.fields.get(GRADERS) if files.case_yaml else None
    if not seen and not listed and not files.broken & {CASE_YAML, GRADERS}:
        where: Document | str = files.case_yaml or directory
        report.error(
            where, "there is no grader, expected one file graders/*.md or graders in case.yaml"
        )
    _check_patterns(patterns, report, check_patterns)
    return tuple(specs)


def _added_weight(total: float, raw: _Raw, spec: GraderSpec, report: Report) -> float:
    """Return the sum of the weights so far; a score divides by it, so it has to be a number."""
    if not math.isfinite(total + spec.weight):
        text = (
            f"weight {value_shown(spec.weight)} makes the sum of the case's weights too large for a"
            " number, expected smaller weights"
        )
        report.error(raw.document, raw.prefix + text, (*raw.path, "weight"))
        return total
    return total + spec.weight


def _raw_graders(files: CaseFiles, report: Report) -> Iterator[_Raw]:
    listed = files.case_yaml.fields.get(GRADERS) if files.case_yaml else None
    if files.case_yaml is not None and listed is not None:
        yield from _listed(files.case_yaml, listed, report, has_files=bool(files.graders))
    for document in files.graders:
        fields = dict(document.fields)
        fields.setdefault("name", os.path.basename(document.file).removesuffix(".md"))
        kind = fields.get("type")
        field = BODY_FIELDS.get(kind) if isinstance(kind, str) else None
        if field and document.body:
            fields.setdefault(field, document.body)
        yield _Raw(document, (), fields, "")


def _listed(
    document: Document, listed: object, report: Report, *, has_files: bool
) -> Iterator[_Raw]:
    if not isinstance(listed, list):
        text = f"graders must be a list, got {value_shown(listed)}"
        if has_files:
            report.warning(document, f"{text}; it is ignored", ("graders",))
        else:
            report.error(document, text, ("graders",))
        return
    for index, fields in enumerate(listed):
        path = ("graders", index)
        if isinstance(fields, dict):
            name = fields.get("name")
            prefix = f"grader {value_shown(name if isinstance(name, str) else index + 1)}: "
            yield _Raw(document, path, fields, prefix)
        else:
            report.error(
                document, f"grader {index + 1} must be a mapping, got {value_shown(fields)}", path
            )


def _spec(raw: _Raw, report: Report) -> GraderSpec | None:
    kind = raw.fields.get("type")
    model = GRADER_TYPES.get(kind) if isinstance(kind, str) else None
    if model is None:
        report.error(raw.document, raw.prefix + _type_problem(kind), (*raw.path, "type"))
        return None
    given = {}
    refused: list[str] = []
    known = model.model_fields
    for key, value in raw.fields.items():
        if key not in known:
            text = _unknown_option(key, str(kind))
        elif value is None or (isinstance(value, dict) and None in value.values()):
            text = f"{key} must be {expected_of(model, key)}, got {value_shown(value)}"
        else:
            given[key] = value
            continue
        refused.append(key)
        report.error(raw.document, raw.prefix + text, (*raw.path, key))
    return _validated(raw, model, given, refused, report)


def _validated(
    raw: _Raw,
    model: type[BaseModel],
    given: Mapping[str, object],
    refused: Sequence[str],
    report: Report,
) -> GraderSpec | None:
    try:
        return model.model_validate(given)  # type: ignore[return-value]  # one of GRADER_TYPES
    except ValidationError as raised:
        report.invalid(
            raw.document, raised, model, given, path=raw.path, prefix=raw.prefix, nulls=refused
        )
        rest = without_wrong(given, raised)
    # The case does not load; the rest of the grader is read to tell what else is wrong.
    try:
        return model.model_validate(rest)  # type: ignore[return-value]  # as above
    except ValidationError:
        return None


def _type_problem(kind: object) -> str:
    expected = f"expected one of {', '.join(GRADER_TYPES)}"
    if kind is None:
        return f"type is missing, {expected}"
    near = did_you_mean(kind, GRADER_TYPES) if isinstance(kind, str) else ""
    return f"unknown type {value_shown(kind)}{near or ', ' + expected}"


def _unknown_option(key: str, kind: str) -> str:
    owners = [name for name, model in GRADER_TYPES.items() if key in model.model_fields]
    if owners:
        return f"{key} is an option of {' and '.join(owners)} graders, not of {kind}"
    return unknown_key(key, GRADER_TYPES[kind].model_fields)


def _check_meaning(raw: _Raw, spec: GraderSpec, directory: str, report: Report) -> None:
    if isinstance(spec, ToolUsedSpec) and spec.max is not None:
        least = 1 if spec.min is None else spec.min
        if spec.min is not None and spec.min > spec.max:
            text = f"min {spec.min} is above max {spec.max}, so the grader can never pass"
            report.error(raw.document, raw.prefix + text, (*raw.path, "min"))
        elif least > spec.max:
            text = "max: 0 without min can never pass, since min is 1 then; write min: 0 beside it"
            report.warning(raw.document, raw.prefix + text, (*raw.path, "max"))
    if isinstance(spec, BaselineSpec):
        problem = path_problem(directory, spec.baseline_file, "file") or _trace_problem(
            os.path.join(directory, spec.baseline_file)
        )
        if problem:
            text = f"baseline_file {value_shown(spec.baseline_file)} {problem}"
            report.error(raw.document, raw.prefix + text, (*raw.path, "baseline_file"))


def _trace_problem(file: str) -> str | None:
    try:
        with open(file, encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        json.loads(line)
                    except (ValueError, RecursionError):
                        return f"is not a trace, line {number} is no JSON"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None


def _patterns(raw: _Raw, spec: GraderSpec) -> Iterator[_Pattern]:
    if isinstance(spec, RegexSpec):
        yield _Pattern(raw, (*raw.path, "pattern"), "pattern", spec.pattern, spec.flags)
    elif isinstance(spec, ToolUsedSpec) and spec.input_match is not None:
        yield _Pattern(raw, (*raw.path, "input_match"), "input_match", spec.input_match, "")
    elif isinstance(spec, ToolOrderSpec):
        for side, value in (("before", spec.before), ("after", spec.after)):
            if isinstance(value, ToolPattern) and value.input_match is not None:
                path = (*raw.path, side, "input_match")
                yield _Pattern(raw, path, f"{side}.input_match", value.input_match, "")


def _check_patterns(
    patterns: Sequence[_Pattern], report: Report, check_patterns: PatternCheck | None
) -> None:
    doubtful = []
    for each in patterns:
        if problem := _flags_problem(each.flags):
            text = f"{each.raw.prefix}flags {value_shown(each.flags)} {problem}"
            report.error(each.raw.document, text, (*each.raw.path, "flags"))
        elif _NEEDS_ENGINE.search(each.pattern):
            doubtful.append(each)
    if not doubtful or check_patterns is None:
        return
    complaints = check_patterns([(each.pattern, each.flags) for each in doubtful])
    for each, complaint in zip(doubtful, complaints, strict=True):
        if complaint is not None:
            text = (
                f"{each.raw.prefix}{each.name} {value_shown(each.pattern)} is no JavaScript regular"
                f" expression: {_in_short(complaint, each)}{_cure(each)}"
            )
            report.error(each.raw.document, text, each.path)


def _flags_problem(flags: str) -> str | None:
    if len(set(flags)) != len(flags):
        return "has a flag twice, expected each at most once"
    if "u" in flags and "v" in flags:
        return "has both u and v, expected one of them"
    return None


def _in_short(complaint: str, each: _Pattern) -> str:
    """Return what an engine says, without the pattern that it repeats."""
    return complaint.removeprefix(f"Invalid regular expression: /{each.pattern}/{each.flags}: ")


def _cure(each: _Pattern) -> str:
    if inline := _LEADING_FLAGS.match(each.pattern):
        rest = each.pattern[inline.end() :]
        if each.name == "pattern" and set(inline[1]) <= set("ims"):
            return f"; write flags: {inline[1]} and leave {inline[0]} out"
        return f"; write {value_shown(f'(?{inline[1]}:{rest})')}"
    if "(?P<" in each.pattern:
        return "; JavaScript writes a named group (?<name>...)"
    return ""


def _place(raw: _Raw) -> str:
    return f"{os.path.basename(raw.document.file)}:{raw.document.line((*raw.path, 'name'))}"
