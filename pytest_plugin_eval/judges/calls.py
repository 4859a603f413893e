"""The calls behind votes and mocks: within the ceiling, at the service's pace, repeated if useful.

Spec: deviations, D2, D3, D4 and D16.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import JudgeBackend, JudgeReply, JudgeRequest
from pytest_plugin_eval.judges.reply import reading
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from pytest_plugin_eval.text import one_line, shown

__all__ = ["STOPPED", "Answer", "Calls", "Trouble"]

STOPPED = "the judge was stopped"
NOT_FOUND = 404
_CREDENTIAL_STATUS = (401, 403)


class Trouble(NamedTuple):
    """Why a vote was not reached."""

    text: str
    refused: bool = False
    """Whether no more money may be spent, rather than that something went wrong."""
    costs_usd: tuple[float | None, ...] = ()
    """Of the calls that were made in vain; ``None`` for one of unknown cost."""
    has_failed: bool = False
    """Whether a call was made and failed, rather than that none was allowed."""
    is_credential: bool = False
    """Whether the service refused the credential, which it may have accepted before."""


class Answer(NamedTuple):
    """The reply that counts, and what it cost with those before it."""

    reply: JudgeReply
    cost_usd: float | None
    known_usd: float
    """The cost as far as it is known."""


class Calls:
    """Makes the calls of one judge; safe to use from several threads."""

    def __init__(
        self,
        found: Callable[[], JudgeBackend],
        *,
        ledger: Ledger,
        limiter: Limiter,
        stopped: threading.Event,
    ) -> None:
        """*found* returns the back end; once *stopped* is set, no further call is made."""
        self.refused_credential: str | None = None
        """What the service said when it refused the credential before it had answered anything."""
        self._found = found
        self._ledger = ledger
        self._limiter = limiter
        self._stopped = stopped
        self._has_answered = False

    def answer(self, request: JudgeRequest) -> Answer | Trouble:
        """Return a reply; one that cannot be read is asked for once more (D3)."""
        costs: list[float | None] = []
        reply = self._reply(request, costs)
        if isinstance(reply, JudgeReply) and reading(reply.text or "") is None:
            reply = self._reply(request, costs)
        answer = _answer(reply, costs)
        if isinstance(answer, Trouble) and answer.has_failed:
            return answer._replace(text=f"judge call failed: {answer.text}")
        return answer

    def any_answer(self, request: JudgeRequest) -> Answer | Trouble:
        """Return a reply with some text, whatever it is."""
        costs: list[float | None] = []
        return _answer(self._reply(request, costs), costs)

    def reply(self, request: JudgeRequest) -> Answer | Trouble:
        """Return the reply as it came, also one without any text."""
        costs: list[float | None] = []
        return _answer(self._reply(request, costs, may_be_blank=True), costs)

    def at_ceiling(self) -> Trouble | None:
        """Return that nothing may be paid for any more, ``None`` while something may."""
        if self._ledger.may_start():
            return None
        return Trouble(f"cost ceiling ${self._ledger.ceiling_usd:g} reached", refused=True)

    def unpriceable(self, model: str) -> Trouble | None:
        """Return that a ceiling is set and the calls of *model* could not be counted under it."""
        if self._ledger.ceiling_usd is None:
            return None
        if self._found().estimate_usd(model, input_tokens=1, output_tokens=1) is not None:
            return None
        text = f"the price of judge model {shown(model)} is unknown, and a cost ceiling is set"
        return Trouble(text, refused=True)

    def _reply(
        self, request: JudgeRequest, costs: list[float | None], *, may_be_blank: bool = False
    ) -> JudgeReply | Trouble:
        """Make a call, and once more where the answer was none or a pause was asked for (D2)."""
        for is_last in (False, True):
            obstacle = self._obstacle(request.model)
            if obstacle is not None:
                return obstacle
            try:
                return self._made(request, costs, may_be_blank=may_be_blank)
            except JudgeError as error:
                self._heed(error)
                if is_last or not (error.garbled or error.slow_down_until is not None):
                    return Trouble(
                        _told(error, request.model),
                        has_failed=True,
                        is_credential=error.status in _CREDENTIAL_STATUS,
                    )
            except Exception as error:  # noqa: BLE001 - border: one judge call
                return Trouble(f"{type(error).__name__}: {error}", has_failed=True)
        raise AssertionError("the last turn returns")

    def _made(
        self, request: JudgeRequest, costs: list[float | None], *, may_be_blank: bool
    ) -> JudgeReply:
        with self._ledger.call() as call:
            try:
                reply = self._found().ask(request)
                call.cost_usd = reply.cost_usd
            except JudgeError as error:
                if error.status is not None:  # an answer that refuses costs nothing
                    call.cost_usd = 0.0
                raise
            finally:
                costs.append(call.cost_usd)
        self._has_answered = True
        if not may_be_blank and not (reply.text or "").strip():
            raise JudgeError("the judge answered without any text", garbled=True)
        return reply

    def _heed(self, error: JudgeError) -> None:
        self._limiter.slow_down(error.slow_down_until)
        if error.status in _CREDENTIAL_STATUS and not self._has_answered:
            self.refused_credential = one_line(str(error))

    def _obstacle(self, model: str) -> Trouble | None:
        late = self._limiter.wait(self._stopped)
        if self._stopped.is_set():
            return Trouble(STOPPED)
        if late is not None:
            return Trouble(late)
        return self.at_ceiling() or self.unpriceable(model)


def _told(error: JudgeError, model: str) -> str:
    # A service that does not know the model may say no more than that something was not found.
    is_named = error.status != NOT_FOUND or model in str(error)
    return str(error) if is_named else f"{error} (asked for model {shown(model)})"


def _answer(reply: JudgeReply | Trouble, costs: Sequence[float | None]) -> Answer | Trouble:
    if isinstance(reply, Trouble):
        return reply._replace(costs_usd=tuple(costs))
    known = [cost for cost in costs if cost is not None]
    cost_usd = sum(known) if len(known) == len(costs) else None
    return Answer(reply, cost_usd, sum(known))
