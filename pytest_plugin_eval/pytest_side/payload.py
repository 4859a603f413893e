"""A graded run as a plain dict on pytest's report, and back; it crosses xdist's process border."""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping
from enum import StrEnum

import pytest

from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.pytest_side.stash import codec_key
from pytest_plugin_eval.scoring.model import CaseInfo, RunReport
from pytest_plugin_eval.text import without_surrogates

__all__ = ["SCHEMA", "PayloadCodec", "case_from", "codec_of", "essence", "plain_case"]

SCHEMA = 4
_ESSENTIAL = ("schema", "arm", "score")
Converter = Callable[[object], object]


class PayloadCodec:
    """Turns runs into payloads and back; a case is converted once, however many runs it has."""

    def __init__(self, *, crosses: bool) -> None:
        """Make payloads of whole runs only when they cross a process border."""
        self._crosses = crosses
        # By identity: a case's information is one object for all its runs. The object is kept, so
        # that its id is not given to another.
        self._plain: dict[int, tuple[CaseInfo, object]] = {}
        # By root and id: what comes from a worker is another object each time.
        self._cases: dict[tuple[object, object], tuple[object, CaseInfo]] = {}
        self._latest: tuple[object, RunReport] | None = None

    def encode(self, run: RunReport) -> dict[str, object]:
        """Return the run as dicts, lists, strings, numbers, booleans and None.

        execnet refuses anything else, an enum member or a lone surrogate included, and takes the
        worker down with it; this is the single gate. In the only process the run itself is at
        hand, and its essence is enough.
        """
        if not self._crosses:
            essential = _essential(run)
            self._latest = (essential, run)
            return essential
        if id(run.case) not in self._plain:
            self._plain[id(run.case)] = (run.case, _encoder(CaseInfo)(run.case))
        data = {name: encode(getattr(run, name)) for name, encode in _run_encoders()}
        payload = {**_essential(run), "run": data, "case": self._plain[id(run.case)][1]}
        self._latest = (payload, run)
        return payload

    def decode(self, payload: Mapping[str, object]) -> RunReport:
        """Return the run that `encode` was given; in its own process that is the run itself.

        Raises `RecordError` for a payload of another version: worker and controller differ.
        """
        if self._latest is not None and self._latest[0] is payload:
            return self._latest[1]
        if payload.get("schema") != SCHEMA:
            raise RecordError(
                f"an xdist worker sent results of schema {payload.get('schema')}, expected "
                f"{SCHEMA}: worker and controller must have the same version of pytest-plugin-eval"
            )
        plain, data = payload["case"], payload["run"]
        assert isinstance(data, dict)
        fields = {name: _field(name)(value) for name, value in data.items()}
        return RunReport(case=self._case(plain), **fields)  # type: ignore[arg-type]

    def _case(self, plain: object) -> CaseInfo:
        assert isinstance(plain, dict)
        key = (plain["root"], plain["id"])
        known = self._cases.get(key)
        if known is None or known[0] != plain:
            known = self._cases[key] = (plain, case_from(plain))
        return known[1]


def essence(payload: Mapping[str, object]) -> dict[str, object]:
    """Return what is asked of a payload once its run is stored: which run it was, and its score.

    pytest keeps every report until the session's end; thousands of whole runs are too much to keep.
    """
    return {name: payload[name] for name in _ESSENTIAL}


def _essential(run: RunReport) -> dict[str, object]:
    return dict(zip(_ESSENTIAL, (SCHEMA, run.key.arm.value, run.score), strict=True))


def plain_case(case: CaseInfo) -> object:
    """Return a case as dicts, lists, strings, numbers, booleans and None."""
    return _encoder(CaseInfo)(case)


def case_from(plain: object) -> CaseInfo:
    """Return the case that `plain_case` was given."""
    case = _converter(CaseInfo)(plain)
    assert isinstance(case, CaseInfo)
    return case


def codec_of(config: pytest.Config) -> PayloadCodec:
    """Return the codec of the session, made when the first run asks for it."""
    codec = config.stash.get(codec_key, None)
    if codec is None:
        codec = config.stash[codec_key] = PayloadCodec(crosses=hasattr(config, "workerinput"))
    return codec


def _plain(value: object) -> object:
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, str):
        return without_surrogates(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    raise TypeError(f"a run report cannot hold {value!r}")


@functools.cache
def _run_encoders() -> tuple[tuple[str, Converter], ...]:
    hints = typing.get_type_hints(RunReport)
    return tuple((name, _encoder(hint)) for name, hint in hints.items() if name != "case")


@functools.cache
def _encoder(hint: object) -> Converter:
    """Return the function that makes a value of a type plain; worked out once a type."""
    if typing.get_origin(hint) is tuple:
        item = _encoder(typing.get_args(hint)[0])
        return lambda value: [item(one) for one in typing.cast("tuple[object, ...]", value)]
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        fields = [(name, _encoder(one)) for name, one in typing.get_type_hints(hint).items()]
        return lambda value: {name: encode(getattr(value, name)) for name, encode in fields}
    return (lambda value: value) if hint in (bool, int) else _plain


@functools.cache
def _field(name: str) -> Converter:
    return _converter(typing.get_type_hints(RunReport)[name])


@functools.cache
def _converter(hint: object) -> Converter:
    """Return the function that restores a value of a type from its plain form."""
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        (inner,) = (arg for arg in typing.get_args(hint) if arg is not type(None))
        restore = _converter(inner)
        return lambda value: None if value is None else restore(value)
    if typing.get_origin(hint) is tuple:
        item = _converter(typing.get_args(hint)[0])
        return lambda value: tuple(item(one) for one in typing.cast("list[object]", value))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return typing.cast("Converter", hint)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        fields = {name: _converter(one) for name, one in typing.get_type_hints(hint).items()}
        make = typing.cast("Callable[..., object]", hint)
        return lambda value: make(
            **{n: fields[n](v) for n, v in typing.cast("dict[str, object]", value).items()}
        )
    return lambda value: value
