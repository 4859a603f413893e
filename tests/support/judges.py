"""A judge back end that answers by a list, and a judge that asks it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from pytest_plugin_eval.judges.base import JudgeReply, JudgeRequest
from pytest_plugin_eval.judges.polling import Judge, Poll, PollResult
from pytest_plugin_eval.records.model import Vote
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter

Answer = str | None | JudgeReply | Exception

POLL = Poll("g", "q", "system", ("text",))
WAIT_S = 30.0


class FakeBackend:
    """Gives its answers in the order of arrival, the last one over and over."""

    description = "a fake"

    def __init__(self, *answers: Answer, price_usd: float | None = 0.25) -> None:
        """Answer each call at *price_usd*; ``None`` is a model without a known price."""
        self._answers = list(answers) or ["PASS"]
        self._price_usd = price_usd
        self._lock = threading.Lock()
        self.requests: list[JudgeRequest] = []
        self.is_closed = False
        self.before: Callable[[JudgeRequest], None] = lambda _: None
        """Called in the thread of each request before it is answered."""

    def resolved(self, model: str | None) -> str:
        """Return ``judge-1`` by default, and what ``alias`` stands for."""
        return {None: "judge-1", "alias": "judge-2"}.get(model) or str(model)

    def estimate_usd(self, model: str, *, input_tokens: int, output_tokens: int) -> float | None:
        """Return one millionth of a dollar a token."""
        return None if self._price_usd is None else (input_tokens + output_tokens) / 1e6

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """Note the request and return or raise the next answer."""
        with self._lock:
            self.requests.append(request)
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        self.before(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, JudgeReply):
            return answer
        return JudgeReply(text=answer, model=f"{request.model}-served", cost_usd=self._price_usd)

    def close(self) -> None:
        """Note it."""
        self.is_closed = True


def judge_of(
    backend: FakeBackend,
    *,
    votes: int = 3,
    model: str | None = None,
    ceiling_usd: float | None = None,
    ledger: Ledger | None = None,
    limiter: Limiter | None = None,
    forbidden: str | None = None,
    afresh: bool = False,
) -> Judge:
    """Return a judge with a ledger and a limiter of its own unless they are given."""
    return Judge(
        lambda: backend,
        votes=votes,
        model=model,
        ledger=ledger or Ledger(ceiling_usd),
        limiter=limiter or Limiter(),
        forbidden=forbidden,
        afresh=afresh,
        now=lambda: datetime(2026, 1, 31, tzinfo=UTC),
    )


def polled(judge: Judge, recorded: Sequence[Vote] = (), poll: Poll = POLL) -> PollResult:
    """Return what comes of one poll."""
    (result,) = judge.poll([(recorded, poll)])
    return result


def no_backend() -> FakeBackend:
    """Stand for the search of a back end that must not be looked for."""
    raise AssertionError("nobody may look for a back end")


def together(backend: FakeBackend, count: int) -> None:
    """Have the back end answer when *count* calls are in flight."""
    all_there = threading.Barrier(count)

    def wait(_: JudgeRequest) -> None:
        all_there.wait(WAIT_S)

    backend.before = wait
