"""Asking models for quality scores: who is asked, what is said of it, and how it ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import click

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.quality.parse import PluginSource, SkillSource
from pytest_plugin_eval.quality.score import ScoreOptions
from pytest_plugin_eval.settings import Depth
from pytest_plugin_eval.text import dollars, one_line, plural, without_surrogates

if TYPE_CHECKING:
    from pytest_plugin_eval.quality.asking import Asking
    from pytest_plugin_eval.spending.ledger import Ledger

__all__ = ["Interrupted", "Models", "asking", "missing_client", "say"]

EXPERIMENTAL = (
    "note: the judge and Monte Carlo layers are experimental: their numbers are a model's, and "
    "differ from one time to the next"
)
INSTALL = "; pip install 'pytest-plugin-eval[judge]' brings the client that a judge is asked with"
NEEDED_BY = "the judge and Monte Carlo layers"
_SIGNALLED = 128


class Models(NamedTuple):
    """Who is to be asked, and for how much at most."""

    model: str | None = None
    judge_model: str | None = None
    max_cost_usd: float | None = None


class Interrupted(Exception):
    """A signal ended the asking; what was paid for is told already."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.exit_code = _SIGNALLED + number


@contextlib.contextmanager
def asking(
    sources: Iterable[tuple[str, SkillSource | PluginSource]],
    options: ScoreOptions,
    models: Models,
) -> Iterator[Asking | None]:
    """Yield what asks models for these sources, ``None`` where no model is needed.

    The sources, each with its path, are looked at only where models are asked.
    Before the first call the number of calls and their price are told, in the end what was spent.
    Raises `Interrupted` when a signal ends it.
    """
    if options.replies is not None:
        say(EXPERIMENTAL)
        say(f"judge: replies from {options.replies.origin}, nothing is asked")
    if options.depth is Depth.QUICK or options.replies is not None:
        yield None
        return
    from pytest_plugin_eval.spending.ledger import Ledger

    # By directory: one that is spelt in several ways is asked about once.
    skills = {source.path: source for _, source in sources if isinstance(source, SkillSource)}
    ledger = Ledger(models.max_cost_usd)
    asks = _asking(ledger, models)
    try:
        with _interruptible():
            if skills:
                _announce(tuple(skills.values()), options, asks)
            yield asks
    finally:
        asks.close()
        if skills:
            say(_spent(ledger.spent_usd, ledger.unknown, models.max_cost_usd))


def _asking(ledger: Ledger, models: Models) -> Asking:
    from pytest_plugin_eval.execution.judging import find_judge
    from pytest_plugin_eval.quality.asking import Asking
    from pytest_plugin_eval.spending.limiter import Limiter

    limiter = Limiter()
    return Asking(
        partial(
            find_judge,
            env=os.environ,
            agent_path=None,
            run_root=None,
            slow_down=limiter.slow_down,
            needed_by=NEEDED_BY,
        ),
        ledger=ledger,
        limiter=limiter,
        env=os.environ,
        judge_model=models.judge_model,
        model=models.model,
    )


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Have each ending signal end the block, and raise `Interrupted` for it."""
    import signal

    from pytest_plugin_eval.signals import handled

    received: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 -- signal's
        received.append(number)
        raise KeyboardInterrupt

    try:
        with handled(interrupt):
            yield
    except KeyboardInterrupt:
        say("interrupted: what was not finished is not reported")
        raise Interrupted(received[0] if received else signal.SIGINT) from None


def missing_client() -> str:
    """Return how to install the client of the judge, empty where it is there already."""
    from pytest_plugin_eval.judges.anthropic_sdk import has_client

    return "" if has_client() else INSTALL


def say(text: str) -> None:
    """Print a line on stderr, whatever is in it, and whether or not anybody reads it."""
    with contextlib.suppress(OSError):  # what was paid for is not given up for a note
        click.echo(without_surrogates(one_line(text)), err=True)


def _announce(skills: Sequence[SkillSource], options: ScoreOptions, asks: Asking) -> None:
    """Say what is asked of whom at about what price."""
    from pytest_plugin_eval.quality.score import count_calls, estimate_usd

    say(EXPERIMENTAL)
    calls = sum(count_calls(skill, options) for skill in skills)
    try:
        who = asks.check()
    except JudgeError as error:
        say(f"warning: no model can be asked, only the static layer is measured: {error}")
        return
    costs = [estimate_usd(skill, options, asks) for skill in skills]
    known = [cost for cost in costs if cost is not None]
    about = f"about {dollars(sum(known))}" if len(known) == len(costs) else "at an unknown price"
    say(f"asking: {plural(calls, 'call')}, {about}, of {who}")


def _spent(spent_usd: float, unknown: int, ceiling_usd: float | None) -> str:
    text = f"spent: {dollars(spent_usd)}"
    if unknown:
        text += f" and {plural(unknown, 'call')} of unknown cost"
    if ceiling_usd is not None:
        text += f", the ceiling was {dollars(ceiling_usd)}"
    return text
