"""Questions to the model behind agent mocks: which model, and whether it may be asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple, Protocol

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import JudgeBackend, JudgeRequest
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from pytest_plugin_eval.text import shown

__all__ = ["Ask", "Asked", "Asker", "UnansweredError"]

MAX_TOKENS = 8192


class Asked(NamedTuple):
    """A model's answer and what it cost."""

    text: str
    cost_usd: float | None
    """``None`` when it is unknown."""


class UnansweredError(JudgeError):
    """A question that was put and had no answer; *cost_usd* is what it cost all the same."""

    def __init__(self, text: str, *, cost_usd: float | None) -> None:
        super().__init__(text)
        self.cost_usd = cost_usd


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
        self._ledger = ledger
        self._limiter = limiter
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._backend: JudgeBackend | None = None

    def check(self) -> str:
        """Find the back end now and return what it is.

        Raises `JudgeError` without one, or when a cost ceiling is set and no answer could be
        counted under it.
        """
        backend = self._found()
        if problem := self._unpriceable(backend, backend.resolved(self.model)):
            raise JudgeError(f"agent mocks: {problem}; choose another one with --eval-judge-model")
        return backend.description

    def __call__(self, system: str, user: str) -> Asked:
        """Return the answer, or raise `JudgeError` when there is none or asking is refused."""
        backend = self._found()
        request = JudgeRequest(
            model=backend.resolved(self.model),
            system=system,
            parts=(user,),
            max_tokens=MAX_TOKENS,
        )
        self._check(backend, request.model)
        with self._ledger.call() as call:
            try:
                reply = backend.ask(request)
            except JudgeError as error:
                self._limiter.slow_down(error.slow_down_until)
                if error.status is not None:  # an answer that refuses costs nothing
                    call.cost_usd = 0.0
                raise UnansweredError(str(error), cost_usd=call.cost_usd) from error
            except Exception as error:  # border: one call of a model
                text = f"{type(error).__name__}: {error}"
                raise UnansweredError(text, cost_usd=None) from error
            call.cost_usd = reply.cost_usd
        if reply.text is None:
            raise UnansweredError("the answer has no text", cost_usd=reply.cost_usd)
        return Asked(reply.text, reply.cost_usd)

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

    def _check(self, backend: JudgeBackend, model: str) -> None:
        reason = self._limiter.wait(self._stopped)
        if reason is None and self._stopped.is_set():
            reason = "the session was stopped"
        if reason is None and not self._ledger.may_start():
            reason = "the cost ceiling is reached"
        reason = reason or self._unpriceable(backend, model)
        if reason is not None:
            raise JudgeError(reason)

    def _unpriceable(self, backend: JudgeBackend, model: str) -> str | None:
        if self._ledger.ceiling_usd is None:
            return None
        if backend.estimate_usd(model, input_tokens=1, output_tokens=1) is not None:
            return None
        return f"the price of model {shown(model)} is unknown, and there is a cost ceiling"
