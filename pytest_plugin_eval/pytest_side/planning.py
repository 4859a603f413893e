"""From a case directory to the runs this session wants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.agents.grants import grant_warnings
from pytest_plugin_eval.agents.scaffold import scaffold_notice
from pytest_plugin_eval.cases.advisories import folded
from pytest_plugin_eval.cases.discovery import eval_directory_of, manifest_notes
from pytest_plugin_eval.cases.hints import skill_use, suite_hints
from pytest_plugin_eval.cases.loader import load_case
from pytest_plugin_eval.cases.manifest import declared_servers
from pytest_plugin_eval.cases.mock import placed_servers
from pytest_plugin_eval.cases.tool_names import BUILT_IN_TOOLS
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.execution.mocking import asks_a_model, run_servers
from pytest_plugin_eval.execution.planning import PlannedCase, plan_case
from pytest_plugin_eval.graders.grade import with_only_of
from pytest_plugin_eval.graders.javascript import compile_errors
from pytest_plugin_eval.pytest_side.ids import VERDICT, run_name
from pytest_plugin_eval.pytest_side.stash import collection_key, settings_key, workbench_key
from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.reports.plan import CasePlan
from pytest_plugin_eval.settings import Mocks, Mode, Settings
from pytest_plugin_eval.text import did_you_mean

if TYPE_CHECKING:
    from pytest_plugin_eval.cases.case import Case
    from pytest_plugin_eval.cases.discovery import EvalDirectory
    from pytest_plugin_eval.pytest_side.state import CollectionState

__all__ = ["names_of", "note_place", "plan"]

# Missing records that are named one by one.
GAPS = 6


def plan(directory: Path, place: EvalDirectory, nodeid: str, config: pytest.Config) -> PlannedCase:
    """Load a case and plan its runs.

    Raises `CaseError` for a case that does not load.
    """
    settings = config.stash[settings_key]
    bench = config.stash[workbench_key]
    note_place(place, config)
    case = _loaded(directory, place, settings)
    planned = plan_case(case, settings, bench.recorded(place, case.id))
    votes = 0 if settings.free_only else settings.judge_votes
    state = config.stash[collection_key]
    state.plans.append(
        CasePlan(
            nodeid=nodeid,
            root=str(place.root),
            case=case.id,
            with_runs=planned.plan.with_runs,
            without_runs=planned.plan.without_runs,
            with_votes=planned.votes_per_run(Arm.WITH, votes),
            without_votes=planned.votes_per_run(Arm.WITHOUT, votes),
            results_base=str(bench.results_base(place)),
            skipped=planned.skip_reason is not None,
            plugins=tuple(str(plugin.path) for plugin in case.plugins),
        )
    )
    for plugin in case.plugins:
        note = f"plugin under test: {plugin.name} {plugin.version or '(no version)'}"
        if note not in state.notes:
            state.notes.append(note)
    for text in _advice(planned, settings):
        state.advice.setdefault(text, []).append(case.id)
    if settings.mode is not Mode.REPLAY:
        for text in grant_warnings(settings.allow_tools, settings.disallow_tools):
            state.advice.setdefault(f"warning: {text}", [])
    if config.getoption("collectonly"):  # of the suite and not of a session: not in each of them
        for text in _suite_advice(planned, place, state):
            state.advice.setdefault(text, [])
    return planned


def _loaded(directory: Path, place: EvalDirectory, settings: Settings) -> Case:
    scaffold = settings.scaffold and settings.mode is not Mode.REPLAY
    return load_case(
        directory,
        place,
        check_patterns=compile_errors,
        scaffold=scaffold,
        with_mocks=settings.mocks is not Mocks.OFF,
    )


def _advice(planned: PlannedCase, settings: Settings) -> Iterator[str]:
    """Yield what the author should know of a case before its runs."""
    case = planned.case
    if not case.plugins and settings.ablation is None:
        yield (
            "no plugin found, so there is one arm and no Δ; a case names one, for example by "
            'plugins: ["../.."]'
        )
    if case.plugins and settings.ablation is None and case.history_file is not None:
        yield (
            "one arm and no Δ, since the recorded conversation may come from the plugin; for both "
            "pass --eval-ablation with-without"
        )
    if not planned.plan.two_arms:
        counted = sorted(with_only_of(case, True))
        if counted:
            yield f"with one arm, with-only graders count: {', '.join(counted)}"
    yield from (f"hint: {hint.text}" for hint in planned.hints)
    if settings.mode is Mode.REPLAY:
        yield from _gaps(planned, settings)
        return
    if planned.not_granted:
        tools = ", ".join(planned.not_granted)
        yield f"not granted: {tools} ({_grant_hint(planned, settings)})"
        yield from (f"warning: {text}" for text in _misspelt(planned.not_granted))
    if case.scaffold_script is not None:
        yield scaffold_notice(case.scaffold_script, is_run=settings.scaffold)
    yield from (f"warning: {text}" for text in folded(planned.advisories))
    yield from _server_advice(planned, settings)


def _grant_hint(planned: PlannedCase, settings: Settings) -> str:
    names = [tool.partition("(")[0] for tool in planned.not_granted]
    taken = set(names).intersection(settings.disallow_tools)
    if taken.issuperset(names):
        return "taken away with --eval-disallow-tools"
    more = ", some are taken away with --eval-disallow-tools" if taken else ""
    return f"grant with --eval-allow-tools{more}"


def _server_advice(planned: PlannedCase, settings: Settings) -> Iterator[str]:
    """Yield what stands in for the MCP servers of a case."""
    case = planned.case
    if settings.mode is Mode.REPLAY:
        return
    if settings.mocks is Mocks.OFF:
        for plugin in case.plugins:
            servers = ", ".join(declared_servers(str(plugin.path)))
            if servers:
                yield f"MCP servers of plugin {plugin.name} start, as you: {servers}"
        return
    if not (placed := placed_servers(case.mocks, case.plugins)):
        return
    from pytest_plugin_eval.mocks.summary import budget_text, mocked_text, placing_warnings

    if served := run_servers(case, Arm.WITH, settings):
        yield mocked_text(served)
    if asks_a_model(case):
        yield budget_text(case.max_turns)
    warnings = placing_warnings(placed, real_servers=settings.real_servers)
    yield from (f"warning: {text}" for text in warnings)


def _suite_advice(
    planned: PlannedCase, place: EvalDirectory, state: CollectionState
) -> Iterator[str]:
    """Yield what concerns all cases of an eval directory, once each of them is known."""
    uses = state.skill_uses.setdefault(str(place.path), {})
    uses[planned.case.id] = skill_use(planned.case)
    if len(uses) == len(place.cases):
        yield from (f"hint: {text}" for text in suite_hints(uses.values()))


def _misspelt(tools: Sequence[str]) -> Iterator[str]:
    for tool in tools:
        name = tool.partition("(")[0]
        hint = "" if name in BUILT_IN_TOOLS else did_you_mean(name, BUILT_IN_TOOLS)
        if hint:
            yield f"allowed_tools: no tool {name!r}{hint}"


def _gaps(planned: PlannedCase, settings: Settings) -> Iterator[str]:
    """Yield which runs a replay would be expected to have and has not."""
    numbers = {
        arm: {key.number for key in planned.keys if key.arm is arm}
        for arm in (Arm.WITH, Arm.WITHOUT)
    }
    wanted = settings.runs or max(map(max, filter(None, numbers.values())), default=0)
    arms = (Arm.WITH, Arm.WITHOUT) if planned.plan.two_arms else (Arm.WITH,)
    missing = [
        f"{arm.value}-{number}"
        for arm in arms
        for number in range(1, wanted + 1)
        if number not in numbers[arm]
    ]
    if missing:
        more = f" and {len(missing) - GAPS} more" if len(missing) > GAPS else ""
        yield f"no record of {', '.join(missing[:GAPS])}{more}"


def names_of(directory: Path, config: pytest.Config) -> frozenset[str]:
    """Return the names that ids of a case may end in; empty when the case does not load."""
    settings = config.stash[settings_key]
    place = eval_directory_of(directory, eval_dir=settings.eval_dir, root=settings.root)
    if place is None:
        return frozenset()
    try:
        case = _loaded(directory, place, settings)
        recorded = config.stash[workbench_key].recorded(place, case.id)
        planned = plan_case(case, settings, recorded)
    except EvalError:
        return frozenset()  # said when the case is collected
    return frozenset(map(run_name, planned.keys)) | {VERDICT}


def note_place(place: EvalDirectory, config: pytest.Config) -> None:
    """Take in, once, what there is to say of an eval directory itself."""
    state = config.stash[collection_key]
    if str(place.path) in state.places:
        return
    state.places.add(str(place.path))
    state.loose.extend(place.problems)
    for note in manifest_notes(place.root):
        if note not in state.notes:
            state.notes.append(note)
