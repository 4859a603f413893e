"""Run a suite through both commands and list where their documents differ."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.differential.suite import Suite
from tests.support.reference import ReferenceResult, base_environment, run_reference
from tests.support.schemas import check_document, complaints
from tests.support.scripted_api import ScriptedApi

TABLE_VARIABLE = "DIFFERENTIAL_TABLE"
OURS = (
    sys.executable,
    "-c",
    "import sys; from pytest_plugin_eval.cli.main import main; sys.exit(main())",
)
TIME_LIMIT_S = 240.0

# Of the moment or of the machine; everything else has to be the same.
_VOLATILE = frozenset(("startedAt", "durationSeconds", "tracePath"))
# Texts are each command's own (style, 4): there has to be one where the other has one.
_TEXTS = frozenset(("error", "advisories", "warnings"))
# How an explanation begins that both have in words of their own.
_OWN_WORDS = "no mock stand-ins were active in this run"

_IDENTITY = {"cases": "dir", "graders": "name", "plugins": "path"}

Json = Any
"""Parsed JSON, to be indexed freely."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of the reference's document that ours lacks or has another value for."""

    path: str
    theirs: object
    ours: object

    def __str__(self) -> str:
        """Return the field and both values."""
        return f"{self.path}: reference {self.theirs!r}, ours {self.ours!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Both results of one suite."""

    theirs: ReferenceResult
    ours: ReferenceResult
    equal: int
    differences: tuple[Difference, ...]

    def unexplained(self, deviations: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the differences that no deviation row accounts for, and rows that nothing uses.

        *deviations*: by row, patterns of the fields (``exit_code`` among them) where ours differs;
        with a ``?`` in front, where it may differ.
        """
        listed = list(self.differences)
        problems = []
        for row, patterns in deviations.items():
            for pattern in patterns:
                fits = [one for one in listed if fnmatchcase(one.path, pattern.lstrip("?"))]
                listed = [one for one in listed if one not in fits]
                if not fits and not pattern.startswith("?"):
                    problems.append(f"{row}: nothing differs in {pattern}")
        return [*map(str, listed), *problems]


def compare(
    suite: Suite,
    script: object,
    *options: str,
    target: str = ".",
    name: str | None = None,
    cwd: str = "..",
    env: Mapping[str, str] | None = None,
) -> Comparison:
    """Run both commands, side by side, each against a server of its own.

    They stand in *cwd* and get *target*, both relative to the suite's root; or *name* as it is.
    """
    path, place = suite.root / target if name is None else Path(name), suite.root / cwd
    with (
        ScriptedApi(script) as first,
        ScriptedApi(script) as second,
        ThreadPoolExecutor(2) as pool,
    ):
        reference = pool.submit(
            run_reference, path, first, *options, env=env, cwd=place, timeout_s=TIME_LIMIT_S
        )
        own = pool.submit(run_ours, path, second, *options, env=env, cwd=place)
        theirs, ours = reference.result(), own.result()
    if theirs.document is not None:
        said = complaints("result", theirs.document)
        assert not said, said
    if ours.document is not None:
        check_document(ours.document)
    pairs: list[tuple[str, object, object]] = [("exit_code", theirs.exit_code, ours.exit_code)]
    pairs += _pairs(_plain(theirs.document, suite), _plain(ours.document, suite), "")
    differences = tuple(Difference(*pair) for pair in pairs if not _same(*pair))
    return Comparison(
        theirs=theirs, ours=ours, equal=len(pairs) - len(differences), differences=differences
    )


def run_ours(
    target: Path,
    api: ScriptedApi,
    *options: str,
    cwd: Path,
    env: Mapping[str, str] | None = None,
) -> ReferenceResult:
    """Run `plugin-eval run` as `run_reference` runs the reference."""
    with tempfile.TemporaryDirectory(prefix="ours-") as scratch:
        home, document = Path(scratch, "home"), Path(scratch, "document.json")
        (home / "tmp").mkdir(parents=True)
        command = [*OURS, "run", str(target), "--trust-plugin", "--json", str(document)]
        command += ["--output-dir", str(Path(scratch, "results")), *options]
        done = subprocess.run(
            command,
            env={**base_environment(api.url, home), **(env or {})},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIME_LIMIT_S,
            check=False,
        )
        written = document.read_text(encoding="utf-8") if document.is_file() else "null"
    return ReferenceResult(
        exit_code=done.returncode,
        stdout=done.stdout,
        stderr=done.stderr,
        document=json.loads(written),
    )


def check(
    name: str, comparison: Comparison, deviations: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Assert that both agree but for the named deviations, and note the suite for the table."""
    problems = comparison.unexplained(deviations or {})
    counts = {
        row: sum(_fits_any(one.path, patterns) for one in comparison.differences)
        for row, patterns in (deviations or {}).items()
    }
    note(name, comparison.equal, counts, len(problems))
    outputs = f"\n\nreference:\n{comparison.theirs.stderr}\n\nours:\n{comparison.ours.stderr}"
    assert not problems, "\n".join(problems) + outputs


def note(name: str, equal: int, rows: Mapping[str, int], unexplained: int = 0) -> None:
    """Note a suite for the table: fields that are equal, and those that differ by deviation row."""
    if table := os.environ.get(TABLE_VARIABLE):
        row = {"suite": name, "equal": equal, "rows": dict(rows), "unexplained": unexplained}
        with Path(table).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _fits_any(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(path, pattern.lstrip("?")) for pattern in patterns)


def _plain(document: Json, suite: Suite) -> Json:
    """Return the document with the suite's place as ``<root>``, volatile values left out."""
    text = json.dumps(document, ensure_ascii=False)
    for place in {str(suite.root), str(suite.root.resolve())}:
        text = text.replace(place, "<root>")
    return _steady(json.loads(text))


def _steady(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _steady(inner) for key, inner in value.items() if key not in _VOLATILE}
    return [_steady(inner) for inner in value] if isinstance(value, list) else value


def _pairs(theirs: Json, ours: Json, path: str) -> list[tuple[str, object, object]]:
    """Return every field of the reference's document with both values.

    ``<absent>`` stands for a field that ours lacks, or that ours has and the reference left out
    although it knows it.
    """
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return list(_fields(theirs, ours, path))
    if isinstance(theirs, list) and isinstance(ours, list) and _leaf(path) not in _TEXTS:
        return _elements(theirs, ours, path)
    return [(path, theirs, ours)]


def _elements(theirs: list[Json], ours: list[Json], path: str) -> list[tuple[str, object, object]]:
    """Return the fields of two lists, matched by what identifies an element, else by position."""
    key = _IDENTITY.get(_leaf(path))
    first = _by(key, theirs)
    second = _by(key, ours)
    shared = [name for name in first if name in second]
    pairs: list[tuple[str, object, object]] = [
        (f"{path}.order", shared, [name for name in second if name in first])
    ]
    for name in (*first, *(name for name in second if name not in first)):
        inner = f"{path}.{name}"
        if name in shared:
            pairs += _pairs(first[name], second[name], inner)
        else:
            pairs.append((inner, _presence(name in first), _presence(name in second)))
    return pairs


def _by(key: str | None, elements: list[Json]) -> dict[str, Json]:
    if key is None:
        return {str(position): element for position, element in enumerate(elements)}
    return {str(element[key]): element for element in elements}


def _presence(is_there: bool) -> str:
    return "<present>" if is_there else "<absent>"


def _fields(theirs: Json, ours: Json, path: str) -> Iterator[tuple[str, object, object]]:
    for key in (*theirs, *(key for key in ours if key in _OPTIONAL and key not in theirs)):
        inner = f"{path}.{key}".lstrip(".")
        if key == "judgeModel" and path != "suite":
            continue  # of a grader: what voted, which the reference does not say
        if key not in theirs or key not in ours:
            yield inner, theirs.get(key, "<absent>"), ours.get(key, "<absent>")
        else:
            yield from _pairs(theirs[key], ours[key], inner)


# Fields that the reference writes only at times: ours must not have them at other times.
_OPTIONAL = frozenset(
    (
        *("partialReason", "meanDelta", "modelOverride", "judgeModel", "caseFilter", "tagFilters"),
        *("version", "problem", "model", "arm", "scoreWithout", "passRateWithout", "delta"),
        *("without", "advisories", "aborted", "mocks", "judgeVotes", "evidence"),
        *("graderMarkdown", "input_match", "min", "max", "exists", "pattern", "flags", "match"),
        "target",
    )
)


_NOTHING: tuple[object, ...] = (None, "<absent>", [])


def _same(path: str, theirs: object, ours: object) -> bool:
    if _leaf(path) in _TEXTS:
        return (theirs in _NOTHING) == (ours in _NOTHING)
    if _leaf(path) == "explanation" and str(theirs).startswith(_OWN_WORDS):
        return str(ours).startswith(_OWN_WORDS)
    if isinstance(theirs, bool) or isinstance(ours, bool):
        return theirs is ours  # 1 and true are equal to Python, not to a reader of the document
    return theirs == ours or _close(theirs, ours)


def _close(theirs: object, ours: object) -> bool:
    numbers = isinstance(theirs, int | float) and isinstance(ours, int | float)
    # Sums over runs may be added up in another order.
    return numbers and abs(theirs - ours) < 1e-12  # type: ignore[operator]  # both are numbers


def _leaf(path: str) -> str:
    return path.rpartition(".")[2]
