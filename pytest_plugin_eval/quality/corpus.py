"""The corpus: an index of skills, and where a skill stands among them. Spec: quality-score, 14."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.quality.composite import composite, settled
from pytest_plugin_eval.quality.model import Dimension, Layer, LayerResult, QualityReport, Target
from pytest_plugin_eval.quality.parse import read_skill
from pytest_plugin_eval.quality.static import static_skill
from pytest_plugin_eval.settings import Depth
from pytest_plugin_eval.text import one_line, shown, without_surrogates

__all__ = [
    "INDEX_FILE",
    "Index",
    "IndexEntry",
    "Measured",
    "Rank",
    "SkillScores",
    "Standing",
    "build_index",
    "index_text",
    "measure_index",
    "read_index",
    "standing",
]

INDEX_FILE = "index.json"
SKILL_FILE = "SKILL.md"
ELO_START = 1500.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """One skill of the index; the fields are those of the file, in its order."""

    name: str | int | float | None
    """As its frontmatter has it: ``None`` where the field is there and empty."""
    path: str
    """The skill's directory, as reached from the source as it was given to ``init``."""
    category: str
    """The name of the plugin's directory."""
    line_count: int
    elo_rating: float = ELO_START


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The skills of a corpus."""

    entries: tuple[IndexEntry, ...]
    file: Path | None = None
    """Where it was read from; ``None`` for one just built."""
    problems: tuple[str, ...] = ()
    """Skills that were left out since they cannot be read, a line each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillScores:
    """The static scores of one skill."""

    composite: float
    """0 to 100, at quick depth."""
    dimensions: Mapping[Dimension, float]
    """0 to 1; the six that the static layer measures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The skills of an index that are still there, scored."""

    scores: Mapping[Path, SkillScores]
    """By resolved directory: a skill that two entries name counts once."""
    missing: tuple[str, ...] = ()
    """Paths of entries, as written, where no skill is any more."""
    problems: tuple[str, ...] = ()
    """Skills that cannot be read, and what to do when nothing of the index was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """Where one score stands among others."""

    score: float
    lower: int
    """How many of the others are strictly below."""
    equal: int
    total: int
    """How many others there are."""

    @property
    def share(self) -> float | None:
        """Return the percentile rank as 0 to 1: ``(lower + equal / 2) / total``.

        That is the percentile rank of test theory, which ``scipy.stats.percentileofscore`` calls
        ``kind="mean"``: 0.5 for a skill among its equals. ``None`` where there are no others.
        """
        return (self.lower + self.equal / 2) / self.total if self.total else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a skill stands in a corpus, by what the static layer says of it and of the others."""

    compared: int
    """How many skills it is compared with; the skill itself is none of them."""
    composite: Rank
    dimensions: Mapping[Dimension, Rank]
    """The six that the static layer measures, in the order of the reports."""
    missing: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def build_index(source: Path) -> Index:
    """Return the index of the skills in the plugins that lie directly in *source*.

    The plugins come in the order of their names, their skills too. Skills that cannot be read are
    left out and named. Raises `QualityError` where *source* is no directory that can be listed.
    """
    if not _exists(source):
        raise QualityError(f"{_said(source)}: no such directory, expected one that holds plugins")
    if not _is_directory(source):
        raise QualityError(f"{_said(source)}: expected a directory that holds plugins, got a file")
    entries: list[IndexEntry] = []
    problems: list[str] = []
    for plugin in _directories(source):
        skills = plugin / "skills"
        if not skills.is_dir():
            continue
        try:
            directories = [path for path in _directories(skills) if (path / SKILL_FILE).exists()]
        except QualityError as error:
            problems.append(str(error))
            continue
        for directory in directories:
            try:
                entries.append(_entry(directory, plugin.name))
            except QualityError as error:
                problems.append(str(error))
    return Index(entries=tuple(entries), problems=tuple(problems))


def index_text(index: Index) -> str:
    """Return the JSON of an index; ASCII, since a path need not be valid UTF-8."""
    fields = [
        {
            "name": entry.name,
            "path": entry.path,
            "category": entry.category,
            "line_count": entry.line_count,
            "elo_rating": entry.elo_rating,
        }
        for entry in index.entries
    ]
    return json.dumps(fields, indent=2) + "\n"


def read_index(path: Path) -> Index:
    """Read the index at *path*, or the one in the directory *path*.

    Keys that a later version may add are ignored. Raises `QualityError`, one line that names the
    file, where it cannot be read or is no index.
    """
    file = path / INDEX_FILE if _is_directory(path) else path
    try:
        data: object = json.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise QualityError(
            f"{_said(file)}: no corpus index, `plugin-eval init` writes one"
        ) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise QualityError(f"{_said(file)}: cannot read the corpus index: {reason}") from error
    except (ValueError, RecursionError) as error:
        raise QualityError(
            f"{_said(file)}: expected the JSON of a corpus index, {error}"
        ) from error
    if not isinstance(data, list):
        raise QualityError(f"{_said(file)}: expected a list of skills, got {shown(data)}")
    entries = (_read_entry(item, f"{_said(file)}: skill {n}") for n, item in enumerate(data, 1))
    return Index(entries=tuple(entries), file=file)


def measure_index(index: Index, *, cwd: Path | None = None) -> Measured:
    """Score the skills of an index by the static layer, reading each from where its entry says.

    A relative path is looked for below *cwd*, the working directory unless given, then below the
    directory of the index file.
    """
    bases = [Path.cwd() if cwd is None else cwd]
    if index.file is not None:
        bases.append(index.file.parent)
    scores: dict[Path, SkillScores] = {}
    missing: list[str] = []
    problems: list[str] = []
    for entry in index.entries:
        directory = _found(entry.path, bases)
        if directory is None:
            missing.append(entry.path)
        elif directory not in scores:
            try:
                scores[directory] = _scores(static_skill(read_skill(directory)))
            except QualityError as error:
                problems.append(str(error))
    if index.entries and len(missing) == len(index.entries):
        problems.insert(0, _none_found(index, bases))
    return Measured(scores=scores, missing=tuple(missing), problems=tuple(problems))


def standing(report: QualityReport, index: Index, *, measured: Measured | None = None) -> Standing:
    """Return where a scored skill stands among the others of *index*.

    Like is compared with like: at every depth it is the skill's static scores that are ranked
    among static scores. *measured* spares scoring the index again for each of several skills.
    Raises `QualityError` for a plugin, whose composite is on another scale than that of a skill.
    """
    static = next((layer for layer in report.layers if layer.layer is Layer.STATIC), None)
    if report.target is not Target.SKILL or static is None:
        raise QualityError(
            f"{_said(report.path)}: a plugin has no place among the skills of a corpus,"
            " expected one of its skills"
        )
    measured = measure_index(index) if measured is None else measured
    itself = _skill_directory(Path(report.path))
    others = [scores for path, scores in measured.scores.items() if path != itself]
    own = _scores(static)
    return Standing(
        compared=len(others),
        composite=_rank(own.composite, (scores.composite for scores in others)),
        dimensions={
            dimension: _rank(score, (scores.dimensions.get(dimension, 0.0) for scores in others))
            for dimension, score in own.dimensions.items()
        },
        missing=measured.missing,
        problems=measured.problems,
    )


def _exists(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110 -- Path's raises for a name that is too long


def _is_directory(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 -- as above


def _said(path: Path | str) -> str:
    """Return a path for a message: on one line, bytes that are no UTF-8 replaced."""
    return without_surrogates(one_line(str(path)))


def _directories(parent: Path) -> Iterable[Path]:
    try:
        return sorted(path for path in parent.iterdir() if path.is_dir())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise QualityError(f"{_said(parent)}: cannot list the directory: {reason}") from error


def _entry(directory: Path, category: str) -> IndexEntry:
    skill = read_skill(directory)
    name = skill.name
    if not (name is None or isinstance(name, str | int | float)):
        name = str(name)  # a date, a list
    if isinstance(name, float) and not math.isfinite(name):
        name = str(name)  # JSON has no such numbers
    return IndexEntry(
        name=name, path=str(directory), category=category, line_count=skill.line_count
    )


def _read_entry(item: object, where: str) -> IndexEntry:
    if not isinstance(item, dict):
        raise QualityError(f"{where}: expected an object, got {shown(item)}")
    name, path, category = item.get("name"), item.get("path"), item.get("category")
    lines, elo = item.get("line_count"), item.get("elo_rating", ELO_START)
    if name is not None and not isinstance(name, str | int | float):
        raise QualityError(f"{where}: name must be a string, got {shown(name)}")
    if not isinstance(path, str) or not path:
        raise QualityError(f"{where}: path must be that of a skill, got {shown(path)}")
    if not isinstance(category, str):
        raise QualityError(f"{where}: category must be a string, got {shown(category)}")
    if not isinstance(lines, int) or isinstance(lines, bool):
        raise QualityError(f"{where}: line_count must be an integer, got {shown(lines)}")
    return IndexEntry(
        name=name, path=path, category=category, line_count=lines, elo_rating=_elo(elo, where)
    )


def _elo(value: object, where: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):  # an integer of hundreds of digits
            return float(value)
    raise QualityError(f"{where}: elo_rating must be a number, got {shown(value)}")


def _found(written: str, bases: Iterable[Path]) -> Path | None:
    """Return the resolved directory of the skill that an entry names, ``None`` if it is gone."""
    for base in bases:
        try:
            directory = _skill_directory(base / written)
            if (directory / SKILL_FILE).is_file():
                return directory
        except (OSError, ValueError):  # longer than the file system allows; a NUL
            continue
    return None


def _skill_directory(path: Path) -> Path:
    resolved = Path(os.path.realpath(path))
    is_file = resolved.name == SKILL_FILE and not resolved.is_dir()
    return resolved.parent if is_file else resolved


def _none_found(index: Index, bases: Iterable[Path]) -> str:
    looked = " and ".join(_said(base) for base in bases)
    return (
        f"{_said(index.file or 'the corpus index')}: none of its {len(index.entries)} skills is"
        f" there, looked below {looked}; `plugin-eval init` writes it anew"
    )


def _scores(static: LayerResult) -> SkillScores:
    return SkillScores(
        composite=composite([static], depth_asked=Depth.QUICK).score,
        dimensions=dict(_in_order(static.dimensions)),
    )


def _in_order(scores: Mapping[Dimension, float]) -> Iterator[tuple[Dimension, float]]:
    return ((dimension, scores[dimension]) for dimension in Dimension if dimension in scores)


def _rank(score: float, others: Iterable[float]) -> Rank:
    # At the steps' precision: binary rounding makes no order (spec: 17, B1).
    own = settled(score)
    rounded = [settled(other) for other in others]
    return Rank(
        score=score,
        lower=sum(other < own for other in rounded),
        equal=sum(other == own for other in rounded),
        total=len(rounded),
    )
