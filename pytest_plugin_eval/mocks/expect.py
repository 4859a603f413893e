"""Whether a call is one that the author of a mock expects. Spec: agent-run, 7.4."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, assert_never

from pytest_plugin_eval.cases.mock import Condition, Expectation
from pytest_plugin_eval.mocks.values import scalar_text, value_at, value_text

__all__ = ["Matches", "violation"]

Matches: TypeAlias = Callable[[str, str, str], bool]
"""Whether a JavaScript pattern, given by source and flags, is found in a text."""


def violation(
    expect: Iterable[Expectation], inputs: Mapping[str, object], matches: Matches
) -> str | None:
    """Return what is wrong with the first value that is not as expected, or ``None``."""
    for each in expect:
        value = value_at(inputs, each.path)
        if problem := _problem(each, value, matches):
            return f"{each.path} = {value_text(value)} {problem}"
    return None


def _problem(expectation: Expectation, value: object, matches: Matches) -> str | None:
    # Only texts, numbers and booleans have a text: nothing else equals or matches anything.
    text = scalar_text(value)
    allowed = [scalar_text(each) or "" for each in expectation.values]
    match expectation.condition:
        case Condition.TYPE:
            return None if _is_a(value, allowed[0]) else f"is not a {allowed[0]}"
        case Condition.PATTERN:
            if text is not None and matches(allowed[0], expectation.flags, text):
                return None
            return f"does not match /{allowed[0]}/{expectation.flags}"
        case Condition.TEXT:
            return None if text == allowed[0] else f'is not "{allowed[0]}"'
        case Condition.CHOICE:
            return None if text in allowed else f"is not one of [{', '.join(allowed)}]"
        case _:
            assert_never(expectation.condition)


def _is_a(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    types = {"string": str, "number": int | float, "array": list, "object": Mapping}
    return name in types and isinstance(value, types[name])
