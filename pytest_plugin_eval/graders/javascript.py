"""JavaScript regular expressions, answered by V8.

The engine is started when the first pattern needs it, once a process. All questions of a run go
over in one call, each text once; each pattern has its own time limit. Spec: behaviour-evals, 4.2.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_plugin_eval.graders.well_formed import is_well_formed

if TYPE_CHECKING:
    from py_mini_racer import MiniRacer

__all__ = ["Answer", "Failure", "Question", "ask", "compile_errors"]

_PROGRAM = r"""
const compiled = new Map();
let answers = [];

function compile(source, flags) {
    const key = flags + "/" + source;
    let pattern = compiled.get(key);
    if (pattern === undefined) {
        pattern = new RegExp(source, flags);
        compiled.set(key, pattern);
    }
    pattern.lastIndex = 0;
    return pattern;
}

function count(source, flags, text) {
    const pattern = compile(source, flags.includes("g") ? flags : flags + "g");
    let matches = 0;
    for (let match; (match = pattern.exec(text)) !== null; matches++) {
        if (match[0] === "") {
            const isPair = pattern.unicode || pattern.unicodeSets;
            const point = isPair ? text.codePointAt(pattern.lastIndex) : 0;
            pattern.lastIndex += point > 0xffff ? 2 : 1;
        }
    }
    return matches;
}

function ask(texts, questions) {
    answers = [];
    for (const [source, flags, text, counting] of questions) {
        try {
            answers.push(counting ? count(source, flags, texts[text])
                : Number(compile(source, flags).test(texts[text])));
        } catch (error) {
            answers.push(error.message);
        }
    }
    return taken();
}

function taken() {
    // A later call that is stopped before it begins must not find these.
    const done = answers;
    answers = [];
    return JSON.stringify(done);
}

function complaints(patterns) {
    return JSON.stringify(patterns.map(([source, flags]) => {
        try {
            new RegExp(source, flags);
            return null;
        } catch (error) {
            return error.message;
        }
    }));
}
"""
# For what the engine does itself: no pattern runs meanwhile.
_OWN_TIMEOUT_S = 30.0
_MEMORY_LIMIT = 1 << 30
_CACHED_PATTERNS = 4096

# Without syntax characters a pattern means itself. Characters beyond U+FFFF are two units in
# JavaScript and one in Python, so they go to the engine.
_LITERAL = re.compile(r"[^\\^$.*+?()\[\]{}|\ud800-\udfff\U00010000-\U0010ffff]*")


class Question(NamedTuple):
    """A pattern and the text to search."""

    source: str
    flags: str
    text: str
    counting: bool = False
    """Ask for the number of matches instead of whether there is one."""


class Failure(NamedTuple):
    """Why a question has no answer: the pattern does not compile, or it ran out of time."""

    reason: str


Answer = int | Failure
"""The number of matches; 1 or 0 where nothing is counted."""


def ask(questions: Iterable[Question], timeout_s: float) -> Mapping[Question, Answer]:
    """Return the answer to every question; no pattern runs longer than about *timeout_s*."""
    answers: dict[Question, Answer] = {}
    hard = []
    for question in dict.fromkeys(questions):
        answer = _plain_answer(question)
        if answer is None:
            hard.append(question)
        else:
            answers[question] = answer
    if hard:
        answers.update(zip(hard, _engine_answers(hard, timeout_s), strict=True))
    return answers


def compile_errors(patterns: Sequence[tuple[str, str]]) -> list[str | None]:
    """Return for each (source, flags) the engine's message, or `None` when it compiles."""
    hard = [pattern for pattern in patterns if not is_well_formed(*pattern)]
    if not hard:
        return [None] * len(patterns)
    found = dict(zip(hard, _engine_complaints(hard), strict=True))
    return [found.get(pattern) for pattern in patterns]


def _plain_answer(question: Question) -> int | None:
    """Return the answer where Python's string search provably finds what V8 would."""
    source, flags, text, counting = question
    alternatives = _plain_alternatives(source, flags)
    if alternatives is None or (counting and (len(alternatives) > 1 or not source)):
        return None
    if "i" not in flags:
        return text.count(source) if counting else int(any(word in text for word in alternatives))
    # ASCII letters equal only each other without the u flag (ECMA-262, Canonicalize, step 3.f).
    lowered = text.encode("utf-8", "surrogatepass").lower()
    words = [word.encode().lower() for word in alternatives]
    return lowered.count(words[0]) if counting else int(any(word in lowered for word in words))


@lru_cache(maxsize=_CACHED_PATTERNS)
def _plain_alternatives(source: str, flags: str) -> tuple[str, ...] | None:
    """Return the words of a pattern such as ``one|other``, or `None` for any other pattern."""
    if flags not in ("", "g", "i", "gi", "ig") or ("i" in flags and not source.isascii()):
        return None
    words = tuple(source.split("|"))
    return words if all(map(_LITERAL.fullmatch, words)) else None


class _Engine:
    """The V8 context of this process; every use holds the lock."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._context: MiniRacer | None = None
        self._process = 0

    def call(self, function: str, *arguments: object, timeout_s: float) -> object:
        """Return what a function of the program returns; a time-out leaves the engine usable."""
        # ASCII only: that is how lone surrogates get there as the UTF-16 units they are.
        code = f"{function}({','.join(json.dumps(argument) for argument in arguments)})"
        result = self._started().eval(code, timeout_sec=timeout_s)
        return json.loads(result) if isinstance(result, str) else None

    def drop(self) -> None:
        """Forget the context, so that the next call starts a new one."""
        self._context = None

    def _started(self) -> MiniRacer:
        # Threads do not survive a fork, and the context needs its own.
        if self._context is None or self._process != os.getpid():
            from py_mini_racer import MiniRacer  # only where a pattern needs it

            self._context = MiniRacer()
            self._context.set_hard_memory_limit(_MEMORY_LIMIT)
            self._context.eval(_PROGRAM)
            self._process = os.getpid()
        return self._context


_engine = _Engine()


def _engine_answers(questions: Sequence[Question], timeout_s: float) -> list[Answer]:
    texts = list(dict.fromkeys(question.text for question in questions))
    places = {text: place for place, text in enumerate(texts)}
    rows = [(q.source, q.flags, places[q.text], q.counting) for q in questions]
    answers: list[Answer] = []
    with _engine.lock:
        while len(answers) < len(rows):
            answers += _some_answers(texts, rows[len(answers) :], timeout_s)
    return answers


def _some_answers(
    texts: Sequence[str], rows: Sequence[tuple[str, str, int, bool]], timeout_s: float
) -> list[Answer]:
    """Return the answers up to the first question that was stopped, that one included.

    The limit holds for the call. A question stopped behind others may not have had its full time,
    so only one that was alone from the start is given up.
    """
    from py_mini_racer import (
        JSEvalException,
        JSOOMException,
        JSTimeoutException,
    )

    try:
        return _answers(_engine.call("ask", texts, rows, timeout_s=timeout_s))
    except JSOOMException:
        _engine.drop()
        reason = "the pattern needs more memory than a grader may use"
        return [Failure(reason)] if len(rows) == 1 else _one_by_one(texts, rows, timeout_s)
    except JSTimeoutException:
        found = _engine.call("taken", timeout_s=_OWN_TIMEOUT_S)
        done = _answers(found)
        return done or [Failure(f"the pattern was stopped after {timeout_s:g} s")]
    except JSEvalException as error:
        _engine.drop()
        reason = str(error).splitlines()[0]
        return [Failure(reason)] if len(rows) == 1 else _one_by_one(texts, rows, timeout_s)


def _one_by_one(
    texts: Sequence[str], rows: Sequence[tuple[str, str, int, bool]], timeout_s: float
) -> list[Answer]:
    return [answer for row in rows for answer in _some_answers(texts, [row], timeout_s)]


def _answers(values: object) -> list[Answer]:
    items = values if isinstance(values, list) else []
    return [item if isinstance(item, int) else Failure(str(item)) for item in items]


def _engine_complaints(patterns: Sequence[tuple[str, str]]) -> list[str | None]:
    with _engine.lock:
        found = _engine.call("complaints", list(patterns), timeout_s=_OWN_TIMEOUT_S)
    items = found if isinstance(found, list) else []
    return [item if isinstance(item, str) else None for item in items]
