"""What the collection of cases leaves for the rest of the session, in one process."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_plugin_eval.cases.hints import SkillUse
    from pytest_plugin_eval.reports.plan import CasePlan

__all__ = ["CollectionState"]

# Cases named for one text of advice; the others are counted.
NAMED = 3
KINDS = ("warning: ", "hint: ")


@dataclass(slots=True, eq=False, repr=False)
class CollectionState:
    """Filled while cases are collected; sent to the controller by xdist workers (decisions, 22)."""

    plans: list[CasePlan] = field(default_factory=list)
    broken: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By node id: the problems of a case that did not load."""
    loose: list[str] = field(default_factory=list)
    """Load problems of eval directories that belong to no case."""
    unnamed: list[str] = field(default_factory=list)
    """Node ids of cases deselected by the spend rule."""
    are_named: bool = True
    """Whether arguments name all cases that are run: a replay runs others too, for nothing."""
    shard_cases: dict[str, int] = field(default_factory=dict)
    """By suite root: how many cases all shards together have; empty without shards."""
    notes: list[str] = field(default_factory=list)
    """Lines about eval directories, once each."""
    user_marks: frozenset[str] = frozenset()
    """Marks of the ini file, taken before any plugin registers its own."""
    tags: set[str] = field(default_factory=set)
    """Tags registered as markers."""
    refused_tags: set[str] = field(default_factory=set)
    advice: dict[str, list[str]] = field(default_factory=dict)
    """What may not be measured as an author thinks, and the ids of the cases it is said of; of
    none, where it is said of all. A text may start with ``warning:`` or ``hint:``."""
    skill_uses: dict[str, dict[str, SkillUse]] = field(default_factory=dict)
    """By eval directory and case id: what is asked about skills."""
    warned: set[str] = field(default_factory=set)
    """Warnings given so far; where they are errors, each case has its own."""
    places: set[str] = field(default_factory=set)
    """Eval directories seen so far."""

    def advice_lines(self, selected: Container[str]) -> Iterator[str]:
        """Yield a line a text: what is true of a thousand cases is said once.

        *selected* are the node ids of the cases with runs in this session; others have no say.
        """
        ids = {plan.case for plan in self.plans if plan.nodeid in selected}
        for text, told in self.advice.items():
            cases = [case for case in told if case in ids]
            if told and not cases:
                continue
            more = f" and {len(cases) - NAMED} more" if len(cases) > NAMED else ""
            kind = next((kind for kind in KINDS if text.startswith(kind)), "")
            said = text.removeprefix(kind)
            who = f"{', '.join(cases[:NAMED])}{more}: " if cases else ""
            yield f"{kind}{who}{said}"
