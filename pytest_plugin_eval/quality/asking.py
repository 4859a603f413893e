"""Questions of the quality score to models: who is asked, what it costs, and when asking ends.

Spec: quality-score, 8 and 9; decisions, 12 and 24.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import JudgeRequest
from pytest_plugin_eval.judges.calls import STOPPED, Calls, Trouble
from pytest_plugin_eval.judges.models import agent_model, middle_model
from pytest_plugin_eval.text import one_line
from pytest_plugin_eval.waiting import awaited

if TYPE_CHECKING:
    from pytest_plugin_eval.judges.base import JudgeBackend
    from pytest_plugin_eval.spending.ledger import Ledger
    from pytest_plugin_eval.spending.limiter import Limiter

__all__ = ["Asking", "Outcome", "Question", "Said", "Tier", "Unsaid"]

MAX_TOKENS = 4096
REPLY_TOKENS = 700
CHARACTERS_A_TOKEN = 4
_REFUSED = "the service refused the credential"


class Tier(StrEnum):
    """Which model a question is for."""

    SMALL = "small"
    """The default model of judges."""
    MIDDLE = "middle"
    """The next larger one."""
    AGENT = "agent"
    """The one that the agent takes where none is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A single message, without tools."""

    tier: Tier
    system: str
    text: str
    max_tokens: int = MAX_TOKENS
    reply_tokens: int = REPLY_TOKENS
    """About how many the reply will have, to estimate its cost."""


class Said(NamedTuple):
    """What a model replied."""

    text: str
    """Empty where the reply holds no text."""
    model: str
    """The model that answered, in its own words."""
    tokens: int
    """Input and output."""
    cost_usd: float | None
    """With that of a call which was repeated; ``None`` when it is unknown."""


class Unsaid(NamedTuple):
    """Why there is no reply."""

    reason: str
    """One line."""
    cost_usd: float | None = 0.0
    """Of the calls that were made in vain; ``None`` when it is unknown."""
    is_final: bool = False
    """Whether no other question would be answered either: no money, no time, no credential."""
    has_failed: bool = False
    """Whether a call was made and failed, rather than that none was allowed or cut off.

    A call whose credential was refused has not: that is no failure of what was asked about.
    """


Outcome: TypeAlias = Said | Unsaid


class Asking:
    """Asks the models of a quality score; one a process, safe to use from several threads."""

    def __init__(
        self,
        find: Callable[[], JudgeBackend],
        *,
        ledger: Ledger,
        limiter: Limiter,
        env: Mapping[str, str],
        stopped: threading.Event | None = None,
        judge_model: str | None = None,
        model: str | None = None,
    ) -> None:
        """Prepare to ask; *find* is called once, with the first question.

        *judge_model* takes the place of the small and the middle model, *model* that of the
        agent's. Once *stopped* is set, nothing further is asked.
        """
        self._find = find
        self._env = env
        self._judge_model = judge_model
        self._model = model
        self._stopped = stopped or threading.Event()
        self._lock = threading.Lock()
        self._backend: JudgeBackend | None = None
        self._lost: JudgeError | None = None
        self._refusal: str | None = None
        self._calls = Calls(self._found, ledger=ledger, limiter=limiter, stopped=self._stopped)

    @property
    def refused_credential(self) -> str | None:
        """Why nothing further is asked, where the service refused the credential from the start."""
        return self._refusal

    def check(self, tiers: Iterable[Tier] = ()) -> str:
        """Find the back end now and return what it is.

        Raises `JudgeError` without one, or when a cost ceiling is set and the calls of one of
        *tiers* could not be counted under it.
        """
        backend = self._found()
        for tier in tiers:
            if trouble := self._calls.unpriceable(self.model(tier)):
                raise JudgeError(trouble.text)
        return backend.description

    def model(self, tier: Tier) -> str:
        """Return the model that is asked, an alias resolved.

        Raises `JudgeError` when there is no back end, or none that knows the alias.
        """
        return self._found().resolved(self._named(tier))

    def estimate_usd(self, questions: Iterable[Question]) -> float | None:
        """Return about what the questions would cost; ``None`` when it is unknown."""
        total_usd = 0.0
        try:
            for question in questions:
                size = len(question.system) + len(question.text)
                cost_usd = self._found().estimate_usd(
                    self.model(question.tier),
                    input_tokens=size // CHARACTERS_A_TOKEN + 1,
                    output_tokens=question.reply_tokens,
                )
                if cost_usd is None:
                    return None
                total_usd += cost_usd
        except JudgeError:
            return None
        return total_usd

    def ask(self, question: Question) -> Outcome:
        """Return the reply, or why there is none."""
        if self._stopped.is_set():
            return Unsaid(STOPPED, is_final=True)
        if self._refusal is not None:
            return Unsaid(self._refusal, is_final=True)
        try:
            model = self.model(question.tier)
        except JudgeError as error:
            return Unsaid(one_line(str(error)), is_final=self._lost is not None)
        answer = self._calls.reply(
            JudgeRequest(
                model=model,
                system=question.system,
                parts=(question.text,),
                max_tokens=question.max_tokens,
            )
        )
        if isinstance(answer, Trouble):
            return self._unsaid(answer)
        reply = answer.reply
        tokens = reply.input_tokens + reply.output_tokens
        return Said(reply.text or "", reply.model, tokens, answer.cost_usd)

    def ask_all(
        self,
        questions: Sequence[Question],
        *,
        concurrency: int,
        on_outcome: Callable[[int, Outcome], None] = lambda *_: None,
    ) -> list[Outcome]:
        """Return the outcome of each question, at most *concurrency* being asked at a time.

        *on_outcome* is told of each, with its position and in order. An interruption ends the
        calls in flight and goes on to the caller.
        """
        from concurrent.futures import ThreadPoolExecutor  # not for scores that ask nothing

        if not questions:
            return []
        outcomes: list[Outcome] = []
        with ThreadPoolExecutor(concurrency, thread_name_prefix="eval-quality") as pool:
            futures = [pool.submit(self.ask, question) for question in questions]
            try:
                for position, future in enumerate(futures):
                    outcomes.append(awaited(future))
                    on_outcome(position, outcomes[-1])
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self.close()
                raise
        return outcomes

    def stop(self) -> None:
        """Let nothing further be asked."""
        self._stopped.set()

    def close(self) -> None:
        """Stop, end the calls in flight and let go of the back end."""
        self.stop()
        with self._lock:
            backend, self._backend = self._backend, None
        if backend is not None:
            backend.close()

    def _named(self, tier: Tier) -> str | None:
        match tier:
            case Tier.SMALL:
                return self._judge_model
            case Tier.MIDDLE:
                return self._judge_model or middle_model(self._env)
            case Tier.AGENT:
                return self._model or agent_model(self._env)

    def _found(self) -> JudgeBackend:
        with self._lock:
            if self._lost is not None:
                raise self._lost
            if self._backend is None:
                if self._stopped.is_set():
                    raise JudgeError(STOPPED)
                try:
                    self._backend = self._find()
                except JudgeError as error:
                    self._lost = error
                    raise
            return self._backend

    def _unsaid(self, trouble: Trouble) -> Unsaid:
        known = [cost for cost in trouble.costs_usd if cost is not None]
        cost_usd = sum(known) if len(known) == len(trouble.costs_usd) else None
        refused = self._calls.refused_credential
        if refused is not None:
            with self._lock:
                if self._refusal is None:
                    self._refusal = f"{_REFUSED}: {refused}"
            return Unsaid(self._refusal, cost_usd, is_final=True)
        if trouble.is_credential:
            # One that was revoked or used up meanwhile says nothing about the skill.
            return Unsaid(f"{_REFUSED}: {one_line(trouble.text)}", cost_usd)
        # Of a model without a price; the others may have one.
        is_unpriceable = trouble.refused and self._calls.at_ceiling() is None
        is_final = self._stopped.is_set() or not (trouble.has_failed or is_unpriceable)
        has_failed = trouble.has_failed and not is_final
        return Unsaid(one_line(trouble.text), cost_usd, is_final, has_failed)
