"""Polls: several votes on one question, recorded ones first, all of them at the same time.

Spec: behaviour-evals, 4.7; deviations, D2, D3, D4 and D16.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import Image, JudgeBackend, JudgeRequest
from pytest_plugin_eval.judges.calls import STOPPED, Calls, Trouble
from pytest_plugin_eval.judges.models import resolve_model
from pytest_plugin_eval.judges.poll import Poll, PollResult
from pytest_plugin_eval.judges.reply import reading
from pytest_plugin_eval.judges.tally import Tally, tallied
from pytest_plugin_eval.records.model import Vote
from pytest_plugin_eval.spending.prices import has_price_list
from pytest_plugin_eval.text import cut, one_line, without_surrogates
from pytest_plugin_eval.waiting import awaited

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from pytest_plugin_eval.spending.ledger import Ledger
    from pytest_plugin_eval.spending.limiter import Limiter

__all__ = ["Judge", "Poll", "PollResult"]

IN_FLIGHT = 8
"""Judge calls of one process at the same time."""
REPLY_LENGTH = 200
"""Of what is kept of a judge's words."""
CHARACTERS_A_TOKEN = 4
IMAGE_TOKENS = 1600
REPLY_TOKENS = 10

# `None` is a vote that was not asked for, since its set could not be completed any more.
_Came = Vote | Trouble | None


class Judge:
    """Asks a back end for votes; one a process, safe to use from several threads."""

    def __init__(
        self,
        find: Callable[[], JudgeBackend],
        *,
        votes: int = 3,
        model: str | None = None,
        ledger: Ledger,
        limiter: Limiter,
        forbidden: str | None = None,
        afresh: bool = False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Prepare to ask; *find* is called once, with the first vote that has to be asked for.

        *model*: the one that was chosen; only its votes count then. *forbidden*: why nothing may be
        asked at all. *afresh*: votes of earlier sessions do not count.
        """
        self.votes = votes
        self._find = find
        self._model = model
        self.forbidden = forbidden
        """Why nothing may be asked at all, ``None`` when it may."""
        self._afresh = afresh
        self._now = now
        self._lock = threading.Lock()
        self._backend: JudgeBackend | None = None
        self._lost: JudgeError | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._stopped = threading.Event()
        self._calls = Calls(self._found, ledger=ledger, limiter=limiter, stopped=self._stopped)
        self._own: set[Vote] = set()

    @property
    def refused_credential(self) -> str | None:
        """What the service said when it refused the credential before it had answered anything."""
        return self._calls.refused_credential

    def missing(self, recorded: Sequence[Vote], poll: Poll) -> int:
        """Return how many votes would have to be asked for."""
        return len(self._tally(recorded, poll).missing)

    def estimate_usd(self, polls: Sequence[tuple[Poll, int]]) -> float | None:
        """Return about what so many votes of each poll would cost; ``None`` when it is unknown."""
        total = 0.0
        for poll, count in polls:
            if not count:
                continue
            price = self._price_usd(poll)
            if price is None:
                return None
            total += count * price
        return total

    def check(self) -> str:
        """Find the back end and return what it is.

        Raises `JudgeError` when there is none.
        """
        return self._found().description

    def asked_model(self) -> str:
        """Return the model that is asked, an alias resolved.

        Raises `JudgeError` when there is no back end.
        """
        return self._found().resolved(self._model)

    def check_price(self) -> None:
        """Raise `JudgeError` when a cost ceiling is set and no vote could be counted under it."""
        trouble = self._calls.unpriceable(self._found().resolved(self._model))
        if trouble is not None:
            cure = (
                "choose another one with --eval-judge-model"
                if has_price_list()
                else "prices come with the extra 'judge': pip install 'pytest-plugin-eval[judge]'"
            )
            raise JudgeError(f"{trouble.text}; {cure}")

    def is_priced(self) -> bool:
        """Return whether the price of a vote is known.

        Raises `JudgeError` when there is no back end.
        """
        backend = self._found()
        model = backend.resolved(self._model)
        tokens = IMAGE_TOKENS
        price = backend.estimate_usd(model, input_tokens=tokens, output_tokens=REPLY_TOKENS)
        return price is not None

    def ceiling_reached(self) -> str | None:
        """Return why no vote may be paid for any more, ``None`` while one may."""
        trouble = self._calls.at_ceiling()
        return None if trouble is None else trouble.text

    def poll(
        self,
        asked: Sequence[tuple[Sequence[Vote], Poll]],
        on_votes: Callable[[int, tuple[Vote, ...]], None] = lambda *_: None,
    ) -> list[PollResult]:
        """Return the votes on each question, given those that the run's record already holds.

        The votes of all questions go out together. *on_votes* is given those that were asked for
        just now, with the question's position: as soon as its set is in, or when the waiting is
        interrupted, since they were paid for.
        """
        tallies = [self._tally(recorded, poll) for recorded, poll in asked]
        if not any(tally.missing for tally in tallies):
            return [PollResult(tally.kept, ()) for tally in tallies]
        model = self._opened()
        if isinstance(model, Trouble):
            return [_result(tally, [model]) for tally in tallies]
        # With the model known, votes of another one cannot be completed by its votes.
        tallies = [self._tally(recorded, poll, model) for recorded, poll in asked]
        begun = [
            self._begun(poll, tally, model) for (_, poll), tally in zip(asked, tallies, strict=True)
        ]
        results: list[PollResult] = []
        try:
            for position, (tally, futures) in enumerate(zip(tallies, begun, strict=True)):
                result = _result(tally, [awaited(future) for future in futures])
                if result.fresh:
                    on_votes(position, result.fresh)
                results.append(result)
        except BaseException:
            self.stop()
            for position in range(len(results), len(begun)):
                votes = tuple(_votes_in_hand(begun[position]))
                if votes:
                    on_votes(position, votes)
            raise
        return results

    def count(self, votes: Iterable[Vote]) -> None:
        """Have recorded votes count where those of earlier sessions do not."""
        with self._lock:
            self._own.update(votes)

    def stop(self) -> None:
        """Ask nothing further."""
        self._stopped.set()

    def close(self) -> None:
        """End the calls in flight and let go of the back end."""
        self.stop()
        with self._lock:
            backend, pool = self._backend, self._pool
        if backend is not None:
            backend.close()
        if pool is not None:
            pool.shutdown(wait=True)

    def _tally(self, recorded: Sequence[Vote], poll: Poll, model: str | None = None) -> Tally:
        return tallied(
            recorded,
            grader=poll.grader,
            question=poll.question,
            size=self.votes,
            chosen=self._chosen(),
            completed_by=model,
            counted=self._own if self._afresh else None,
        )

    def _chosen(self) -> frozenset[str] | None:
        """Return the names of the chosen model, or ``None`` when votes of any model count."""
        if self._model is None:
            return None
        with self._lock:
            backend = self._backend
        # Looking at what is recorded must not need a back end.
        resolved = backend.resolved(self._model) if backend else resolve_model(self._model, {})
        return frozenset((self._model, resolved))

    def _found(self) -> JudgeBackend:
        with self._lock:
            if self._lost is not None:
                raise self._lost
            if self._backend is None:
                try:
                    self._backend = self._find()
                except JudgeError as error:
                    self._lost = error
                    raise
            return self._backend

    def _opened(self) -> str | Trouble:
        """Return the model to ask, with everything ready for it, or why nothing can be asked."""
        if self.forbidden is not None:
            return Trouble(self.forbidden)
        trouble = Trouble(STOPPED) if self._stopped.is_set() else self._calls.at_ceiling()
        if trouble is not None:
            return trouble
        try:
            model = self.asked_model()
        except JudgeError as error:
            return Trouble(str(error))
        from concurrent.futures import ThreadPoolExecutor  # not for sessions that ask nothing

        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="eval-judge")
        return model

    def _price_usd(self, poll: Poll) -> float | None:
        try:
            backend = self._found()
        except JudgeError:
            return None
        sizes = (
            IMAGE_TOKENS if isinstance(part, Image) else len(part) // CHARACTERS_A_TOKEN + 1
            for part in (poll.system, *poll.parts)
        )
        return backend.estimate_usd(
            backend.resolved(self._model), input_tokens=sum(sizes), output_tokens=REPLY_TOKENS
        )

    def _begun(self, poll: Poll, tally: Tally, model: str) -> list[Future[_Came]]:
        assert self._pool is not None
        failed = threading.Event()
        request = JudgeRequest(model=model, system=poll.system, parts=poll.parts)
        return [
            self._pool.submit(self._vote, poll, request, tally.judging, number, failed)
            for number in tally.missing
        ]

    def _vote(
        self, poll: Poll, request: JudgeRequest, judging: int, number: int, failed: threading.Event
    ) -> _Came:
        """Return a vote, or why there is none; *failed* spares the others of a set the asking."""
        if failed.is_set():
            return None
        asked_at = self._now()
        answer = self._calls.answer(request)
        if isinstance(answer, Trouble):
            failed.set()
            return answer
        last = answer.reply
        verdict = reading(last.text or "")
        vote = Vote(
            question=poll.question,
            grader=poll.grader,
            judging=judging,
            number=number,
            passed=verdict is True,
            unreadable=verdict is None,
            reply=cut(without_surrogates(last.text or ""), REPLY_LENGTH),
            asked_model=request.model,
            model=last.model,
            cost_usd=answer.cost_usd,
            asked_at=_stamp(asked_at),
        )
        if self._afresh:
            with self._lock:
                self._own.add(vote)
        return vote


def _votes_in_hand(futures: Iterable[Future[_Came]]) -> Iterator[Vote]:
    for future in futures:
        if future.done() and not future.cancelled():
            came = future.result()
            if isinstance(came, Vote):
                yield came


def _result(tally: Tally, came: Sequence[_Came]) -> PollResult:
    if not tally.missing:
        return PollResult(tally.kept, ())
    fresh = tuple(one for one in came if isinstance(one, Vote))
    troubles = [one for one in came if isinstance(one, Trouble)]
    if troubles:
        worst = next((one for one in troubles if one.refused), troubles[0])
        lost = tuple(cost for one in troubles for cost in one.costs_usd)
        text = one_line(worst.text)
        return PollResult((), fresh, text, worst.refused, tally.kept, lost)
    return PollResult(tuple(sorted((*tally.kept, *fresh), key=lambda vote: vote.number)), fresh)


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
