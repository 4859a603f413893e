"""Questions to the model behind agent mocks, put as those of a judge are."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple, Protocol

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import JudgeBackend, JudgeRequest
from pytest_plugin_eval.judges.calls import Calls, Trouble
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter

__all__ = ["Ask", "Asked", "Asker", "UnansweredError"]

MAX_TOKENS = 8192


class Asked(NamedTuple):
    """A model's answer and what it cost."""

    text: str
    cost_usd: float | None
    """``None`` when it is unknown."""
    known_usd: float = 0.0
    """The known part of a cost that is unknown as a whole."""


class UnansweredError(JudgeError):
    """A question that had no answer.

    *costs_usd* are those of the calls that were made in vain, ``None`` for an unknown one;
    *refused* says that no more money may be spent.
    """

    def __init__(
        self, text: str, *, costs_usd: tuple[float | None, ...] = (), refused: bool = False
    ) -> None:
        super().__init__(text)
        self.costs_usd = costs_usd
        self.refused = refused


class Ask(Protocol):
    """Answers a question from a system text and a user's text; raises `JudgeError`."""

    def __call__(self, system: str, user: str) -> Asked:
        """Return the answer; several threads may ask at once."""
        ...


class Asker:
    """Asks a judge's back end in the name of the mocks, within the session's limits."""

    def __init__(
        self,
        find: Callable[[], JudgeBackend],
        *,
        model: str | None,
        ledger: Ledger,
        limiter: Limiter,
    ) -> None:
        """Ask *model*, ``None`` for the default, of what *find* returns at the first question."""
        self.model = model
        self._find = find
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._backend: JudgeBackend | None = None
        self._calls = Calls(self._found, ledger=ledger, limiter=limiter, stopped=self._stopped)

    @property
    def refused_credential(self) -> str | None:
        """What the service said when it refused the credential before it had answered anything."""
        return self._calls.refused_credential

    def check(self) -> str:
        """Find the back end now and return what it is.

        Raises `JudgeError` without one, or when a cost ceiling is set and no answer could be
        counted under it.
        """
        backend = self._found()
        if trouble := self._calls.unpriceable(backend.resolved(self.model)):
            cure = "choose another one with --eval-judge-model"
            raise JudgeError(f"agent mocks: {trouble.text}; {cure}")
        return backend.description

    def __call__(self, system: str, user: str) -> Asked:
        """Return the answer, or raise `JudgeError` when there is none or asking is refused."""
        answer = self._calls.any_answer(
            JudgeRequest(
                model=self._found().resolved(self.model),
                system=system,
                parts=(user,),
                max_tokens=MAX_TOKENS,
            )
        )
        if isinstance(answer, Trouble):
            raise UnansweredError(answer.text, costs_usd=answer.costs_usd, refused=answer.refused)
        known_usd = answer.known_usd if answer.cost_usd is None else 0.0
        return Asked(answer.reply.text or "", answer.cost_usd, known_usd)

    def stop(self) -> None:
        """Let nothing further be asked."""
        self._stopped.set()

    def close(self) -> None:
        """Stop, and end the calls in flight."""
        self.stop()
        with self._lock:
            backend, self._backend = self._backend, None
        if backend is not None:
            backend.close()

    def _found(self) -> JudgeBackend:
        with self._lock:
            if self._backend is None:
                self._backend = self._find()
            return self._backend
