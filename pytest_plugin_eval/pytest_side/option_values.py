"""Converters of option texts: each checks one text and returns its value, or says what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.text import did_you_mean, shown

__all__ = ["Convert", "choice", "eval_dir", "filled", "number", "odd", "path", "shard", "whole"]

MOST_SHARDS = 1000
Convert = Callable[[str], object]
"""Raises `SettingsError` with what was expected and what was given."""


def whole(least: int, most: int | None) -> Convert:
    """Return a converter to whole numbers from *least* to *most*; ``None``: without an end."""
    expected = (
        f"a whole number from {least} to {most}" if most else f"a whole number of {least} or more"
    )

    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least or (most is not None and value > most):
            raise SettingsError(f"expected {expected}, got {shown(text)}")
        return value

    return convert


def number(least: float, most: float | None, *, exclusive: bool = False) -> Convert:
    """Return a converter to numbers from *least* to *most*; *exclusive* leaves *least* out."""
    over = "a number above" if exclusive else "a number of at least"
    expected = f"{over} {least:g}" if most is None else f"a number from {least:g} to {most:g}"

    def convert(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        low_enough = value < float("inf") if most is None else value <= most
        high_enough = value > least if exclusive else value >= least
        if not (low_enough and high_enough):
            raise SettingsError(f"expected {expected}, got {shown(text)}")
        return value

    return convert


def odd(text: str) -> int:
    """Return an odd whole number from 1 to 99: of an even number of votes half may pass."""
    value = int(text) if text.strip().isdecimal() else 0
    if value not in range(1, 100, 2):
        raise SettingsError(f"expected an odd number from 1 to 99, got {shown(text)}")
    return value


def choice(kind: Callable[[str], object], words: Sequence[str]) -> Convert:
    """Return a converter that takes *words* alone and hands them to *kind*."""

    def convert(text: str) -> object:
        if text not in words:
            raise SettingsError(
                f"expected one of {', '.join(words)}, got {shown(text)}{did_you_mean(text, words)}"
            )
        return kind(text)

    return convert


def shard(text: str) -> tuple[int, int]:
    """Return a part and the number of parts of ``I/N``."""
    first, _, second = text.partition("/")
    if first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second) <= MOST_SHARDS:
        return int(first), int(second)
    raise SettingsError(
        f"expected I/N, the part and the number of parts, such as 1/4, got {shown(text)}"
    )


def filled(text: str) -> str:
    """Return the text, which must not be blank."""
    if not text.strip():
        raise SettingsError("expected a value, got an empty one")
    return text


def path(text: str) -> Path:
    """Return an absolute path; a relative one counts from the working directory."""
    return Path(filled(text)).expanduser().absolute()


def eval_dir(text: str) -> str:
    """Return an eval directory in its one spelling. Spec: behaviour-evals, 2.7."""
    from pytest_plugin_eval.cases.discovery import normalised_eval_dir

    return normalised_eval_dir(text)
