"""Which turn of the script answers a request: the matching of rules and the counting of runs."""

from __future__ import annotations

import threading
import zlib
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tests.support.conversation import Conversation
from tests.support.script_model import Fault, Rule, Script, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The turn chosen for a request.

    `run` and `attempt` count from 0; `rule` is empty for the default answer. `seed` tells this
    turn of this conversation from all others.
    """

    rule: str
    run: int
    attempt: int
    turn: Turn
    seed: str

    @property
    def fault(self) -> Fault | None:
        """Return what disturbs this attempt, if anything does."""
        if self.turn.fault is not None:
            return self.turn.fault
        faults = self.turn.faults
        return faults[self.attempt] if self.attempt < len(faults) else None


class Playback:
    """The state of a script being played; safe to use from several threads."""

    def __init__(self, script: Script) -> None:
        """Start at the beginning of every run."""
        self._script = script
        self._lock = threading.Lock()
        self._matched: Counter[int] = Counter()
        self._started: Counter[int] = Counter()
        self._attempts: Counter[str] = Counter()
        self._runs: dict[tuple[object, ...], int] = {}

    def choose(self, conversation: Conversation) -> Choice:
        """Return the answer to a request and count it."""
        with self._lock:
            for number, rule in enumerate(self._script.rules, 1):
                if self._applies(number, rule, conversation):
                    run = self._run(number, conversation)
                    turn = rule.turn(run, conversation.turn)
                    return self._choice(f"{number}_{run}", rule.name, run, turn, conversation)
            run = self._run(0, conversation)
            return self._choice(f"0_{run}", "", run, self._script.default, conversation)

    def _applies(self, number: int, rule: Rule, conversation: Conversation) -> bool:
        if not _matches(rule, conversation):
            return False
        self._matched[number] += 1
        return not rule.only or self._matched[number] in rule.only

    def _run(self, number: int, conversation: Conversation) -> int:
        """Return the run this request belongs to, a new one for a conversation not seen before.

        A request without tools is a conversation of its own: the votes of a judge are equal
        requests of one session.
        """
        # Not the prompt: after an empty answer the client asks again with words of its own added.
        key = (number, conversation.session, conversation.cwd, conversation.agent_id)
        if conversation.kind == "bare" or key not in self._runs:
            self._runs[key] = self._started[number]
            self._started[number] += 1
        return self._runs[key]

    def _choice(
        self, place: str, rule: str, run: int, turn: Turn, conversation: Conversation
    ) -> Choice:
        prompt = zlib.crc32(conversation.prompt.encode())
        seed = f"{place}_{conversation.turn}_{prompt:08x}"
        attempt = self._attempts[seed]
        self._attempts[seed] += 1
        return Choice(rule=rule, run=run, attempt=attempt, turn=turn, seed=seed)


def _matches(rule: Rule, conversation: Conversation) -> bool:
    return (
        rule.kind in ("any", conversation.kind)
        and fnmatchcase(conversation.model, rule.model)
        and all(part in conversation.prompt for part in rule.prompt)
        and _is_arm(rule, conversation)
        and all(conversation.mentions(part) for part in rule.contains)
    )


def _is_arm(rule: Rule, conversation: Conversation) -> bool:
    if rule.arm is None or rule.plugin_text is None:
        return True
    return conversation.offers(rule.plugin_text) == (rule.arm == "with")
