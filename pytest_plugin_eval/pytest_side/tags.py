"""A case's tags as pytest markers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.pytest_side.stash import collection_key
from pytest_plugin_eval.text import shown

if TYPE_CHECKING:
    from pytest_plugin_eval.cases.case import Case

__all__ = ["mark_names", "marker_names"]

# Marks that pytest or Python acts upon; a tag of such a name would skip or break the run.
_ACTIVE = frozenset(
    [
        "filterwarnings",
        "parametrize",
        "skip",
        "skipif",
        "tryfirst",
        "trylast",
        "usefixtures",
        "xfail",
    ]
)


# What pytest's `-m` takes for one name, less what ends a name in its list of markers.
_NAME = re.compile(r"\w[\w+./-]*")
_WORDS = frozenset({"and", "or", "not", "True", "False", "None"})


def mark_names(lines: Sequence[str]) -> frozenset[str]:
    """Return the names of marks by the lines that register them."""
    return frozenset(line.partition(":")[0].partition("(")[0].strip() for line in lines)


def marker_names(case: Case, config: pytest.Config) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tags of a case that become markers, registered, and warnings about the others.

    A tag becomes a marker when `-m` can name it and no plugin owns a mark of that name
    (decisions, 19); ``--tag`` of `plugin-eval run` finds every tag. One warning a tag and session.
    """
    state = config.stash[collection_key]
    owned = (mark_names(config.getini("markers")) - state.user_marks - state.tags) | _ACTIVE
    usable, warnings = [], []
    for tag in dict.fromkeys(case.tags):
        if not _NAME.fullmatch(tag) or tag in _WORDS or tag in owned:
            why = "belongs to pytest or a plugin" if tag in owned else "is no name that -m can use"
            text = f"tag {shown(tag)} of case {case.id} {why}, so it is not a marker"
            if tag not in state.refused_tags:
                state.refused_tags.add(tag)
                warnings.append(text)
            continue
        if tag not in state.tags and tag not in state.user_marks:
            config.addinivalue_line("markers", f"{tag}: eval cases tagged {tag}")
            state.tags.add(tag)
        usable.append(tag)
    return tuple(usable), tuple(warnings)
