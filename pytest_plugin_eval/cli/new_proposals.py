"""Cases asked of a model, read, tried on the loader, and asked for again where they fail."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pytest_plugin_eval.authoring.contract import Proposal, Refused, read
from pytest_plugin_eval.authoring.loading import load_problems
from pytest_plugin_eval.authoring.names import free_name
from pytest_plugin_eval.authoring.prompts import Wanted, mending, proposing
from pytest_plugin_eval.authoring.rendering import files_of
from pytest_plugin_eval.authoring.view import PluginView
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.quality.asking import Asking, Tier, Unsaid
from pytest_plugin_eval.text import dollars, plural

__all__ = ["Draft", "NotProposed", "announcement", "proposed"]


class NotProposed(EvalError):
    """There is no reply: the model was not asked, or did not answer."""


class Draft(NamedTuple):
    """A proposal that loads, and its files."""

    proposal: Proposal
    files: Mapping[str, str]


def announcement(view: PluginView, wanted: Wanted, asks: Asking) -> str:
    """Return what is to be asked of whom, and about what that costs.

    Raises `JudgeError` when nobody can be asked.
    """
    who = asks.check((Tier.AGENT,))
    model = asks.model(Tier.AGENT)
    question = proposing(view, wanted)
    cost_usd = asks.estimate_usd([question])
    price = "at an unknown price" if cost_usd is None else f"about {dollars(cost_usd)}"
    return (
        f"asking for {plural(wanted.cases, 'case')} of {model}, {price}, from {who}; "
        "once more, for as much at most, if some of them do not load"
    )


def proposed(
    view: PluginView,
    wanted: Wanted,
    asks: Asking,
    *,
    taken: Collection[str],
    say: Callable[[str], None],
) -> tuple[Draft, ...]:
    """Return the cases that a model proposes and that load, under names that are not *taken*.

    Those that do not load are named with what is wrong, and are asked for once more. Raises
    `NotProposed` when the first question is not answered.
    """
    answer = asks.ask(proposing(view, wanted))
    if isinstance(answer, Unsaid):
        raise NotProposed(f"no case was proposed: {answer.reason}")
    drafts, refused = _sorted(answer.text, view, wanted)
    if refused:
        _tell(refused, say, "asking for them once more")
        again = asks.ask(mending(view, wanted, refused, answer.text))
        if isinstance(again, Unsaid):
            say(f"not mended: {again.reason}")
        else:
            asked = {one.name.casefold() for one in refused}
            mended, refused = _sorted(again.text, view, wanted)
            drafts += _others(mended, drafts, asked, say)
        _tell(refused, say, "left out")
    if len(drafts) > wanted.cases:
        say(f"{len(drafts) - wanted.cases} more than asked for: left out")
    return tuple(_renamed(drafts[: wanted.cases], view, taken))


def _sorted(text: str, view: PluginView, wanted: Wanted) -> tuple[list[Draft], list[Refused]]:
    """Return the proposals in a reply that load, and the others."""
    reading = read(text, skills=[skill.name for skill in wanted.skills])
    drafts: list[Draft] = []
    refused = list(reading.refused)
    for proposal, raw in zip(reading.proposals, reading.raw, strict=True):
        files = files_of(proposal, view)
        problems = load_problems(proposal, files)
        if problems:
            refused.append(Refused(proposal.name, problems, raw))
        else:
            drafts.append(Draft(proposal, files))
    return drafts, refused


def _others(
    mended: Iterable[Draft],
    drafts: Iterable[Draft],
    asked: Collection[str],
    say: Callable[[str], None],
) -> list[Draft]:
    """Return what is not there already: a model asked to mend some may repeat the others.

    A name that was *asked* for may be that of another case too, and gets a number.
    """
    good = [draft.proposal for draft in drafts]
    names = {proposal.name.casefold() for proposal in good}.difference(asked)
    prompts = {_same(proposal.prompt) for proposal in good}
    others: list[Draft] = []
    for draft in mended:
        name = draft.proposal.name
        if name.casefold() in names or _same(draft.proposal.prompt) in prompts:
            say(f"{name}: repeats a case that is good already, left out")
        else:
            others.append(draft)
    return others


def _same(prompt: str) -> str:
    """Return what two prompts have in common that differ in case and white space alone."""
    return " ".join(prompt.casefold().split())


def _renamed(drafts: Iterable[Draft], view: PluginView, taken: Collection[str]) -> Iterator[Draft]:
    names = list(taken)
    for draft in drafts:
        proposal = replace(draft.proposal, name=free_name(draft.proposal.name, names))
        names.append(proposal.name)
        yield Draft(proposal, files_of(proposal, view))


def _tell(refused: Sequence[Refused], say: Callable[[str], None], what: str) -> None:
    for one in refused:
        say(f"{one.name}: cannot be used")
        for problem in one.problems[:10]:
            say(f"  {problem}")
    if refused:
        say(f"{plural(len(refused), 'proposal')}: {what}")
