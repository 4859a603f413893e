"""Replies to the questions of the judge layer that were got elsewhere. Spec: quality-score, 8.

An agent inside Claude Code may judge a skill: it hands over a JSON object with the four replies,
and they are checked as those of a judge that was asked here.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.quality.asking import Outcome, Said, Unsaid
from pytest_plugin_eval.quality.judge_layer import layer_of
from pytest_plugin_eval.quality.judge_prompts import CHECKS
from pytest_plugin_eval.quality.judge_replies import Unreadable, read_object
from pytest_plugin_eval.quality.model import LayerResult
from pytest_plugin_eval.text import one_line, shown

__all__ = ["GivenReplies", "given_layer", "read_given"]

KEYS = tuple(check.key for check in CHECKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenReplies:
    """Replies by the key of their question; one that is not there is unmeasured."""

    origin: str
    """Where they come from, for messages and the report."""
    replies: Mapping[str, object]


def read_given(text: str, origin: str) -> GivenReplies:
    """Return the replies in *text*, a JSON object, fenced or not.

    Raises `QualityError` when it is none, or holds anything but replies.
    """
    replies = read_object(text)
    if isinstance(replies, Unreadable):
        raise QualityError(f"{one_line(origin)}: {one_line(replies.error)}")
    expected = f"expected the replies {', '.join(KEYS)}"
    if not replies:
        raise QualityError(f"{one_line(origin)}: the object is empty, {expected}")
    for key in replies:
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1)
            meant = f"did you mean {shown(near[0])}" if near else expected
            raise QualityError(f"{one_line(origin)}: unknown reply {shown(key)}, {meant}")
    return GivenReplies(origin=origin, replies=replies)


def given_layer(given: GivenReplies) -> LayerResult:
    """Return the judge layer that the replies make; who gave them, and for how much, is unknown."""
    layer = layer_of([_outcome(given, key) for key in KEYS])
    metadata = {**layer.metadata, "model_usage": {}, "replies_from": one_line(given.origin)}
    return replace(layer, metadata=metadata, model_usage={})


def _outcome(given: GivenReplies, key: str) -> Outcome:
    if key not in given.replies:
        return Unsaid(f"{one_line(given.origin)} holds no reply {shown(key)}")
    return Said(json.dumps(given.replies[key]), "", 0, 0.0)
