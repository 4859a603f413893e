"""What `plugin-eval doctor` sees of a suite: its cases, trust, tools, judge and price."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pytest_plugin_eval.agents.grants import SHELL, parse_entry
from pytest_plugin_eval.cli.doctor_checks import Check, Sign, refused, run_root_check
from pytest_plugin_eval.cli.run import Collected
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.execution.machine import check_grants
from pytest_plugin_eval.execution.mocking import Mocking
from pytest_plugin_eval.execution.shared import Shared
from pytest_plugin_eval.pytest_side.judges import asker_of, judge_of
from pytest_plugin_eval.pytest_side.session_plan import session_plan_lines
from pytest_plugin_eval.pytest_side.trust import ci_variable
from pytest_plugin_eval.settings import Settings
from pytest_plugin_eval.storage.marker import other_live_session, owner
from pytest_plugin_eval.storage.new_journal import left_cases
from pytest_plugin_eval.storage.results_dir import results_directories
from pytest_plugin_eval.storage.trust import trust_file, untrusted
from pytest_plugin_eval.text import plural

__all__ = ["grant_checks", "results_bases", "suite_checks"]

SESSIONS = 20
"""Results directories, the newest, in which sessions that were killed are looked for."""


def suite_checks(
    found: Collected, bases: Mapping[Path, None], env: Mapping[str, str]
) -> Iterator[Check]:
    """Yield what there is to say of the cases that were found."""
    yield _cases(found)
    yield _advice(found)
    yield _trust(found, env)
    yield from _unfinished(bases)
    yield from _unaccepted(found)
    yield run_root_check(found.settings, (one.case for one in found.planned))
    yield from _asking(found, env)
    yield _price(found)


def grant_checks(
    settings: Settings, found: Collected | None, env: Mapping[str, str]
) -> Iterator[Check]:
    """Yield whether what is granted can be, and a shell confined where a case asks for one."""
    try:
        check_grants(settings, env)
    except (EvalError, RuntimeError) as error:
        yield refused("tools", error)
        return
    text = f"granted: {', '.join(settings.allow_tools) or 'none'}"
    if _wants_shell(settings.allow_tools) and SHELL not in settings.disallow_tools:
        text += "; a shell can be confined here"
    yield Check(name="tools", sign=Sign.OK, text=text)
    planned = found.planned if found else ()
    wanted = [one.case.name for one in planned if _wants_shell(one.not_granted)]
    if not wanted:
        return
    text = f"{plural(len(wanted), 'case')} would use {SHELL}, which is not granted"
    try:
        check_grants(replace(settings, allow_tools=(*settings.allow_tools, SHELL)), env)
    except (EvalError, RuntimeError) as error:
        yield Check(name="sandbox", sign=Sign.WARNING, text=f"{text}, and cannot be: {error}")
        return
    remedy = f"grant it with --allow-tools {SHELL} (pytest: --eval-allow-tools)"
    yield Check(name="sandbox", sign=Sign.WARNING, text=f"{text}; it can be", remedy=remedy)


def results_bases(found: Collected) -> dict[Path, None]:
    """Return the directories that hold results, each once."""
    if found.results_base is not None:
        return {found.results_base: None}
    return dict.fromkeys(Path(plan.results_base) for plan in found.plans)


def _wants_shell(tools: tuple[str, ...]) -> bool:
    entries = map(parse_entry, tools)
    return any(entry is not None and entry.tool == SHELL for entry in entries)


def _cases(found: Collected) -> Check:
    state = found.state
    problems = (*state.loose, *(text for texts in state.broken.values() for text in texts))
    roots = dict.fromkeys(plan.root for plan in found.plans)
    text = f"{plural(len(found.planned), 'case')} in {', '.join(roots) or 'no suite'}"
    details = (*state.notes, *(f"error: {problem}" for problem in problems))
    if problems:
        broken = plural(len(state.broken), "case")
        text += f"; {broken} did not load" if state.broken else f"; {problems[0]}"
        remedy = "mend the lines named"
        return Check(name="suite", sign=Sign.PROBLEM, text=text, remedy=remedy, details=details)
    if not found.planned:
        remedy = "look at --case and --tag" if state.plans else "write one: plugin-eval new"
        return Check(name="suite", sign=Sign.PROBLEM, text="no case is selected", remedy=remedy)
    return Check(name="suite", sign=Sign.OK, text=text, details=details)


def _advice(found: Collected) -> Check:
    nodeids = {plan.nodeid for plan in found.plans}
    lines = list(found.state.advice_lines(nodeids))
    lines += [f"warning: {text}" for one in found.planned for text in one.case.warnings]
    warnings = sum(line.startswith("warning: ") for line in lines)
    hints = sum(line.startswith("hint: ") for line in lines)
    text = f"{plural(warnings, 'warning')}, {plural(hints, 'hint')}"
    sign = Sign.WARNING if warnings else Sign.OK
    remedy = "docs/reference/hints.md says what to do about each" if hints else ""
    return Check(name="advice", sign=sign, text=text, remedy=remedy, details=tuple(lines))


def _trust(found: Collected, env: Mapping[str, str]) -> Check:
    settings = found.settings
    if settings.trust:
        return Check(name="trust", sign=Sign.OK, text="asserted by --trust-plugin")
    if settings.plugin_id is not None:
        return Check(name="trust", sign=Sign.OK, text=f"{settings.plugin_id} is installed")
    plugins = dict.fromkeys(plugin.path for one in found.planned for plugin in one.case.plugins)
    try:
        missing = untrusted(plugins, trust_file(env))
    except (EvalError, RuntimeError) as error:
        return refused("trust", error)
    if not missing:
        text = "every plugin is trusted" if plugins else "no plugin has to be trusted"
        return Check(name="trust", sign=Sign.OK, text=text)
    text = f"not trusted yet: {', '.join(map(str, missing))}"
    can_answer = ci_variable() is None and sys.stdin.isatty() and sys.stdout.isatty()
    remedy = "pass --trust-plugin: hooks, servers and scripts of the plugin run as you"
    if can_answer:
        remedy += "; in a terminal a session asks"
    sign = Sign.WARNING if can_answer else Sign.PROBLEM
    return Check(name="trust", sign=sign, text=text, remedy=remedy)


def _unfinished(bases: Mapping[Path, None]) -> Iterator[Check]:
    """Yield the sessions that are still going on, and those that were killed."""
    for base in bases:
        for directory in list(results_directories(base))[:SESSIONS]:
            if owner(directory) is None:
                continue
            process = other_live_session(directory, "")
            if process is not None:
                text = f"process {process} writes results to {directory}"
                yield Check(name="sessions", sign=Sign.OK, text=text)
                continue
            text = f"a session was killed while it wrote to {directory}"
            remedy = f"go on with it: pytest --evals --eval-resume={directory}, or remove it"
            yield Check(name="sessions", sign=Sign.WARNING, text=text, remedy=remedy)


def _unaccepted(found: Collected) -> Iterator[Check]:
    """Yield cases that a killed `plugin-eval new` left before anybody accepted them."""
    places: dict[Path, None] = {}
    for one in found.planned:
        above = one.case.directory.parent
        places |= {above: None, above.parent: None}  # it puts them into groups as well
    for journal, cases in left_cases(places):
        if cases:
            yield Check(
                name="new cases",
                sign=Sign.WARNING,
                text=f"{plural(len(cases), 'case')} left by an interrupted plugin-eval new",
                remedy=f"remove or keep what is named, and remove {journal}",
                details=tuple(map(str, cases)),
            )


def _asking(found: Collected, env: Mapping[str, str]) -> Iterator[Check]:
    """Yield who is asked for votes and for answers of mocked servers; nobody is asked anything."""
    settings = found.settings
    try:
        shared = Shared.among(None, ceiling_usd=settings.max_cost_usd)
    except EvalError as error:
        yield refused("judge", error)
        return
    try:
        yield _judge(found, shared)
        yield from _mocks(found, shared, env)
    finally:
        shared.close()


def _judge(found: Collected, shared: Shared) -> Check:
    settings = found.settings
    judge = judge_of(found.planned, settings, shared.ledger, shared.limiter, forbidden=None)
    if judge is None:
        return Check(name="judge", sign=Sign.OK, text="no grader needs one")
    try:
        text = f"{judge.check()}, model {judge.asked_model()}"
        judge.check_price()
        is_priced = judge.is_priced()
    except EvalError as error:
        return refused("judge", error)
    finally:
        judge.close()
    if is_priced:
        return Check(name="judge", sign=Sign.OK, text=text)
    return Check(
        name="judge",
        sign=Sign.WARNING,
        text=f"{text}, whose price is not known",
        remedy="choose another with --judge-model, or look at what the agent binary reports",
    )


def _mocks(found: Collected, shared: Shared, env: Mapping[str, str]) -> Iterator[Check]:
    if not any(one.case.mocks for one in found.planned):
        return
    settings = found.settings
    asker = asker_of(found.planned, settings, shared.ledger, shared.limiter)
    mocking = Mocking(settings, asker, env=env)
    try:
        player = mocking.check(one.case for one in found.planned)
    except EvalError as error:
        yield refused("mocks", error)
    else:
        text = f"answers by a model come from {player}" if player else "can be served"
        yield Check(name="mocks", sign=Sign.OK, text=text)
    finally:
        mocking.close()


def _price(found: Collected) -> Check:
    lines = session_plan_lines(found.plans, replay=False)
    cases = len(found.plans)
    remedy = "" if found.settings.max_cost_usd is not None else "--max-cost-usd sets a ceiling"
    return Check(
        name="cost",
        sign=Sign.OK,
        text="; ".join(lines[cases:]) or "nothing would be run",
        remedy=remedy if lines else "",
        details=tuple(lines[:cases]),
    )
