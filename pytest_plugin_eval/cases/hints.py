"""What an author may have overlooked in a case, known before any run; no score depends on it.

Graders that cannot pass with the tools granted are told by `advisories`, as the reference does;
mistakes in the files by loading. Here is the rest. Spec: behaviour-evals, 8.4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_plugin_eval.cases.advisories import NEEDS_GRANT, NEVER_OFFERED, Offer
from pytest_plugin_eval.cases.expressible import reachable_scores
from pytest_plugin_eval.cases.grader_hints import (
    contradictions,
    hardly_fails,
    is_unpassable,
    named,
    never_fails,
    never_passes,
    tool_calls,
)
from pytest_plugin_eval.cases.mock import has_own_mocks
from pytest_plugin_eval.cases.model import (
    BaselineSpec,
    Case,
    FileExistsSpec,
    FileTarget,
    GraderSpec,
    LlmSpec,
    RegexSpec,
    ToolOrderSpec,
    ToolUsedSpec,
)
from pytest_plugin_eval.cases.plugin_skills import Skill
from pytest_plugin_eval.cases.prompt_hints import Matches, echo_hints, named_skill, wants_skill
from pytest_plugin_eval.cases.tool_names import BUILT_IN_TOOLS
from pytest_plugin_eval.text import plural, shown

__all__ = ["Circumstances", "Hint", "SkillUse", "hints", "skill_use", "suite_hints"]

KNOWN_TOOLS = BUILT_IN_TOOLS | NEEDS_GRANT | NEVER_OFFERED
# Differences of a threshold and what it comes to that are worth a line: where nothing may fail
# after all, and elsewhere.
ALL_MUST_PASS, OTHERWISE = 0.02, 0.15
LISTED_SCORES = 6
# A suite of fewer cases is still being begun.
SMALLEST_SUITE = 3
# A share of equal letters: `Wrte` is to be Write, `Frobnicate` not CronCreate.
NEARLY_EQUAL = 0.75
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


class Hint(NamedTuple):
    """Something to know of a case: it names no case, so that cases can share it."""

    text: str
    grader: str | None = None
    """The grader it is about, when it is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What of a session and its plugins hints depend on."""

    offer: Offer | None
    """The tools of the runs; ``None`` in a replay, of which nobody knows what was granted."""
    matches: Matches
    runs: int = 3
    """Planned with-runs."""
    threshold: float = 1.0
    unscored: frozenset[str] = frozenset()
    """Names of graders that do not count in the score."""
    two_arms: bool = True
    advised: frozenset[str] = frozenset()
    """Names of graders that `advisories` told of."""
    skills: tuple[Skill, ...] = ()
    servers: tuple[tuple[str, str], ...] = ()
    """MCP servers as pairs of a plugin's name and the server's."""


class SkillUse(NamedTuple):
    """What a case asks about skills."""

    wanted: bool
    unwanted: bool


def hints(case: Case, circumstances: Circumstances) -> tuple[Hint, ...]:
    """Return the hints of a case, those of single graders first."""
    return tuple(
        hint
        for check in (_graders, _uncounted, _one_sided, _tool_names, _prompt, _kinds, _threshold)
        for hint in check(case, circumstances)
    ) + tuple(_turns(case))


def skill_use(case: Case) -> SkillUse:
    """Return whether the case asks that a skill is used, and whether that none is."""
    return SkillUse(wanted=wants_skill(case), unwanted=any(map(_forbids_skill, case.graders)))


def suite_hints(uses: Iterable[SkillUse]) -> tuple[str, ...]:
    """Return the hints of a suite, given what each of its cases asks about skills."""
    listed = tuple(uses)
    if len(listed) < SMALLEST_SUITE or any(use.unwanted for use in listed):
        return ()
    if not any(use.wanted for use in listed):
        return ()
    return (
        "no case asks that a skill stays out of what is not its business, so that one that always "
        "fires looks best; add a case with tool_used, tool: Skill, min: 0, max: 0, arm: both",
    )


def _graders(case: Case, circumstances: Circumstances) -> Iterator[Hint]:
    reasons: dict[tuple[str, str], list[str]] = {}
    offer = circumstances.offer
    for grader in case.graders:
        if is_unpassable(grader):
            continue
        if reason := never_fails(grader):
            reasons.setdefault(("cannot fail", reason), []).append(grader.name)
        elif offer is not None and (reason := hardly_fails(grader, offer)):
            reasons.setdefault(("can hardly fail", reason), []).append(grader.name)
        elif grader.name not in circumstances.advised and (reason := never_passes(grader, case)):
            reasons.setdefault(("cannot pass", reason), []).append(grader.name)
        elif isinstance(grader, LlmSpec | BaselineSpec) and not grader.criteria.strip():
            yield Hint(
                f"{named([grader.name])} has no criteria for the judge to vote by", grader.name
            )
    for (what, reason), names in reasons.items():
        only = names[0] if len(names) == 1 else None
        yield Hint(f"{named(names)} {what}: {reason}", only)
    for one, other, what in contradictions(case.graders):
        yield Hint(f"{named([one, other])} cannot both pass: they want different things of {what}")


def _uncounted(case: Case, circumstances: Circumstances) -> Iterator[Hint]:
    """Yield that the deciding grader of a negative case does not count. Spec: 5.2."""
    names = [
        grader.name
        for grader in case.graders
        if isinstance(grader, ToolUsedSpec)
        and (grader.tool, grader.min, grader.max, grader.arm) == ("Skill", 0, 0, None)
        and grader.name in circumstances.unscored
    ]
    if names and circumstances.two_arms:
        ask, do = ("asks", "does") if len(names) == 1 else ("ask", "do")
        yield Hint(
            f"{named(names)} {ask} that a skill is not used, and {do} not count in the score of "
            "two arms; write arm: both to have it count, or arm: with-only if that is meant",
            names[0] if len(names) == 1 else None,
        )


def _one_sided(case: Case, circumstances: Circumstances) -> Iterator[Hint]:
    """Yield that the arm without the plugin is scored by what it cannot have. Spec: 5.2."""
    scored = [grader for grader in case.graders if grader.name not in circumstances.unscored]
    names = [grader.name for grader in scored if _looks_at_mock_calls(grader)]
    if not names or not circumstances.two_arms or not has_own_mocks(case):
        return
    if all(_looks_at_mock_calls(grader) or _wants_skill(grader) for grader in scored):
        look = "looks" if len(names) == 1 else "look"
        yield Hint(
            f"{named(names)} {look} at calls of the plugin's own servers, and nothing is scored "
            "that the arm without the plugin can pass, so Δ says nothing; add a grader of what "
            "came of it, or drop that arm with --eval-ablation none",
            names[0] if len(names) == 1 else None,
        )


def _tool_names(case: Case, circumstances: Circumstances) -> Iterator[Hint]:
    told: set[str] = set()
    for grader in case.graders:
        if not isinstance(grader, ToolUsedSpec | ToolOrderSpec):
            continue
        for tool in dict.fromkeys(calls.tool for calls in tool_calls(grader)):
            problem = _tool_problem(tool, circumstances)
            if problem:
                told.add(tool)
                yield Hint(f"{named([grader.name])}: {problem}", grader.name)
    for entry in case.allowed_tools if circumstances.servers else ():
        tool = entry.partition("(")[0].strip()
        if tool in told or (problem := _server_problem(tool, circumstances)) is None:
            continue
        yield Hint(f"allowed_tools: {problem}")


def _tool_problem(tool: str, circumstances: Circumstances) -> str | None:
    if tool in KNOWN_TOOLS:
        return None
    bare, bracket, _ = tool.partition("(")
    if bracket and bare in KNOWN_TOOLS:
        return (
            f"the tool's name is compared as it stands, so that {shown(tool)} is none; write "
            f"tool: {bare}, and what its input is to hold as input_match"
        )
    for skill in circumstances.skills:
        if tool in {skill.name, f"{skill.plugin}:{skill.name}"}:
            return (
                f"{shown(tool)} is a skill and no tool; write tool: Skill and "
                f"""input_match: '"skill":"(?:{skill.plugin}:)?{skill.name}"'"""
            )
    if (problem := _server_problem(tool, circumstances)) is not None:
        return problem
    near = _meant(tool)
    return f"no tool {shown(tool)} is known, did you mean {near!r}?" if near else None


def _server_problem(tool: str, circumstances: Circumstances) -> str | None:
    """Return what is wrong with a tool that seems to be one of the plugin's servers."""
    servers = circumstances.servers
    if not servers or tool in KNOWN_TOOLS or tool.startswith("mcp__plugin_") or not tool:
        return None
    if tool.startswith("mcp__"):
        server, _, name = tool.removeprefix("mcp__").partition("__")
        owners = [pair for pair in servers if pair[1] == server]
        if not owners:
            return None
        return f"{shown(tool)} is of the plugin's own server, expected {_full(owners[0], name)!r}"
    if _meant(tool) is not None:
        return None
    owner = next((pair for pair in servers if tool.startswith(f"{pair[1]}__")), servers[0])
    name = tool.removeprefix(f"{owner[1]}__")
    return (
        f"{shown(tool)} is no built-in tool, and one of the plugin's MCP server is called "
        f"{_full(owner, name)!r}"
    )


def _meant(tool: str) -> str | None:
    """Return the agent's tool that a name is nearly equal to; others may be of later versions."""
    import difflib  # only where a tool is not known

    if tool.startswith("mcp__"):
        return None
    for known in sorted(KNOWN_TOOLS):
        if known.lower() == tool.lower():
            return known
    near = difflib.get_close_matches(tool, sorted(KNOWN_TOOLS), n=1, cutoff=NEARLY_EQUAL)
    return near[0] if near and tool[:1].isupper() else None


def _full(server: tuple[str, str], tool: str) -> str:
    plugin, name = (_FOREIGN.sub("_", part) for part in server)
    return f"mcp__plugin_{plugin}_{name}__{tool or '<tool>'}"


def _prompt(case: Case, circumstances: Circumstances) -> Iterator[Hint]:
    words = named_skill(case, circumstances.skills)
    if words is not None:
        yield Hint(
            f"the prompt names the skill ({shown(words)}), so that the case measures obedience and "
            "not whether the skill is found when it is needed; ask as a user would who does not "
            "know it"
        )
    found = echo_hints(case, unscored=circumstances.unscored, matches=circumstances.matches)
    for text, names in found:
        yield Hint(text, names[0] if len(names) == 1 else None)


def _kinds(case: Case, circumstances: Circumstances) -> Iterator[Hint]:
    graders = case.graders
    if all(isinstance(grader, ToolUsedSpec | ToolOrderSpec) for grader in graders):
        if not any(map(_forbids, graders)):
            yield Hint(
                "no grader looks at what came of it, only at tool calls: a skill that fires and "
                "does harm scores as well; add a regex, file_exists or llm grader"
            )
    elif not any(map(_looks_at_process, graders)) and any(
        not skill.user_only for skill in circumstances.skills
    ):
        yield Hint(
            "no grader tells whether a skill was used, so that a pass may be the model's own; add "
            "tool_used with tool: Skill"
        )


def _threshold(case: Case, circumstances: Circumstances) -> Iterator[Hint]:
    threshold, runs = circumstances.threshold, circumstances.runs
    if not 0 < threshold < 1:
        return
    weights = [g.weight for g in case.graders if g.name not in circumstances.unscored]
    scores = [float(score) for score in reachable_scores(weights, runs)]
    meant = next((score for score in scores if score >= threshold), None)
    if meant is None or meant - threshold < (ALL_MUST_PASS if meant == 1 else OTHERWISE):
        return
    what = f"{plural(len(weights), 'scored grader')} × {plural(runs, 'run')}"  # noqa: RUF001  # it is one
    digits = _digits(scores, threshold)
    said = [_number(score, digits) for score in scores]
    if len(said) <= LISTED_SCORES:
        listed = f"the score can only be {', '.join(said[:-1])} or {said[-1]}"
    else:
        place = scores.index(meant)
        listed = f"the score can be {said[place - 1]} or {said[place]} and nothing between"
    yield Hint(
        f"{what}: {listed}, so the threshold {threshold:g} means {_number(meant, digits, '.1f')}"
    )


def _digits(scores: Sequence[float], threshold: float) -> int:
    """Return how many decimals tell every score from the threshold, at least 2."""
    return next(
        (n for n in range(2, 6) if all(f"{s:.{n}f}" != f"{threshold:.{n}f}" for s in scores)), 6
    )


def _number(score: float, digits: int, whole: str = ".0f") -> str:
    return format(score, whole) if score in {0, 1} else f"{score:.{digits}f}"


def _turns(case: Case) -> Iterator[Hint]:
    if case.max_turns != 1:
        return
    names = [grader.name for grader in case.graders if _needs_a_tool(grader)]
    if names:
        yield Hint(
            f"max_turns: 1 ends the run with the first tool call, before its result is seen, and "
            f"{named(names)} {'needs' if len(names) == 1 else 'need'} one; expected 2 or more",
            names[0] if len(names) == 1 else None,
        )


def _forbids(grader: GraderSpec) -> bool:
    """Say whether a grader asks that something is not done, as far as the trace tells."""
    match grader:
        case ToolUsedSpec():
            return grader.max == 0 and grader.min == 0
        case RegexSpec(target="trace"):
            return grader.match in {"not_contains", "count:0"}
        case _:
            return False


def _looks_at_mock_calls(grader: GraderSpec) -> bool:
    match grader:
        case RegexSpec(target=target) | LlmSpec(focus=target):
            return target == "mock_calls"
        case _:
            return False


def _wants_skill(grader: GraderSpec) -> bool:
    return isinstance(grader, ToolUsedSpec) and grader.tool == "Skill" and grader.min != 0


def _forbids_skill(grader: GraderSpec) -> bool:
    if isinstance(grader, ToolUsedSpec):
        return grader.tool == "Skill" and grader.max == 0
    return isinstance(grader, RegexSpec) and _forbids(grader) and "skill" in grader.pattern.lower()


def _looks_at_process(grader: GraderSpec) -> bool:
    match grader:
        case ToolUsedSpec() | ToolOrderSpec() | BaselineSpec():
            return True
        case RegexSpec(target=target) | LlmSpec(focus=target):
            return target in {"trace", "mock_calls"}
        case _:
            return False


def _needs_a_tool(grader: GraderSpec) -> bool:
    match grader:
        case ToolUsedSpec():
            return grader.min != 0
        case ToolOrderSpec():
            return True
        case FileExistsSpec():
            return grader.exists
        case RegexSpec(target=target):
            return isinstance(target, FileTarget) or (
                target == "files" and grader.match == "contains"
            )
        case _:
            return False
