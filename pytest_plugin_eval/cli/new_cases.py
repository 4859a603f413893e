"""`plugin-eval new`: cases proposed by a model, tried once, and kept as far as the author says."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_plugin_eval.authoring.prompts import Wanted
from pytest_plugin_eval.authoring.remarks import remarks
from pytest_plugin_eval.authoring.view import PluginView, SkillView, found_lines, view_of
from pytest_plugin_eval.cases.discovery import CASE_FILES
from pytest_plugin_eval.cases.new_case import check_case_name, new_case_parent
from pytest_plugin_eval.cli.new_console import Console, Ended, choice, confirmed, paragraph
from pytest_plugin_eval.cli.new_proposals import Draft, NotProposed, announcement, proposed
from pytest_plugin_eval.cli.rescore_lines import spent_line
from pytest_plugin_eval.cli.run_options import RunOptions
from pytest_plugin_eval.errors import EvalError, JudgeError
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.storage.new_files import NewDirectories
from pytest_plugin_eval.storage.new_journal import left_cases
from pytest_plugin_eval.text import did_you_mean, plural, shown

if TYPE_CHECKING:
    from pytest_plugin_eval.cli.new_trial import Trial
    from pytest_plugin_eval.quality.asking import Asking

__all__ = ["NewOptions", "author"]

AT_CEILING = 2
_BAR = "-" * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOptions:
    """What was asked for."""

    group: str | None = None
    """Directory below the eval directory that the cases go to."""
    about: str | None = None
    skills: tuple[str, ...] = ()
    cases: int = 6
    may_try: bool = True
    run: RunOptions = field(default_factory=RunOptions)
    """Of the try; its ceiling is that of everything."""


class _Stopped(Exception):
    """A signal ended the try; the exit code says which."""

    def __init__(self, code: int) -> None:
        super().__init__(f"exit code {code}")
        self.code = code


def author(
    options: NewOptions,
    console: Console,
    *,
    root: Path,
    asking: Callable[[Ledger], Asking],
) -> int:
    """Talk an author through new cases for the plugin in *root*; return the exit code.

    *asking* makes what asks models, once. Nothing is asked, tried or left behind without a yes.
    Raises `EvalError` for what cannot be gone on with, after saying what was spent.
    """
    place = _place(options, root)
    _tell_left(_eval_dir(options, place), console)
    view = view_of(root)
    for line in found_lines(view):
        console.say(line)
    skills = _skills(options, view, console)
    about = options.about or paragraph(
        console, "What does a good result look like? Several lines are fine, a blank one ends."
    )
    if not about.strip():
        console.say("nothing was said of a good result: nothing is written")
        return 1
    wanted = Wanted(
        about=about,
        skills=skills,
        cases=options.cases,
        taken=tuple(_entries(place)),
        tools=options.run.allow_tools,
    )
    ledger = Ledger(options.run.max_cost_usd)
    asks = asking(ledger)
    try:
        drafts = _drafts(view, wanted, asks, console)
        if not drafts:
            return 0 if drafts is None else 1
        return _Authoring(options, console, root=root, place=place, ledger=ledger).settle(drafts)
    except NotProposed:
        if ledger.may_start():
            raise
        console.say("no case was proposed: the cost ceiling is reached")
        return AT_CEILING
    except _Stopped as stopped:
        console.say("interrupted: of what was not accepted nothing is left")
        return stopped.code
    finally:
        asks.close()
        if ledger.spent_usd or ledger.unknown:
            console.say(spent_line(ledger))


def _place(options: NewOptions, root: Path) -> Path:
    """Return the directory that cases go to; raises `EvalError` where none would be found."""
    eval_dir = new_case_parent(root, options.run.eval_dir)
    place = eval_dir
    if options.group is not None:
        check_case_name(options.group)
        place = eval_dir / options.group
        if place.is_symlink():
            raise EvalError(f"{place}: is a link, expected a directory or a new name")
    for directory in (place, eval_dir):
        for name in CASE_FILES:
            if (directory / name).is_file():
                raise EvalError(f"{directory}: is a case itself, no case below it would be found")
    if place.exists() and not place.is_dir():
        raise EvalError(f"{place}: is no directory")
    return place


def _eval_dir(options: NewOptions, place: Path) -> Path:
    return place if options.group is None else place.parent


def _tell_left(eval_dir: Path, console: Console) -> None:
    """Name the cases of an earlier command that was killed before anybody accepted them."""
    for journal, cases in left_cases([eval_dir]):
        if cases:
            console.say(
                f"left by an interrupted plugin-eval new: {', '.join(map(_shown, cases))}; "
                f"remove or keep them, and remove {_shown(journal)}"
            )
        else:
            with contextlib.suppress(OSError):  # it is said again next time
                journal.unlink()


def _entries(place: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in place.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise EvalError(f"{place}: cannot be listed: {error.strerror}") from error


def _skills(options: NewOptions, view: PluginView, console: Console) -> tuple[SkillView, ...]:
    """Return the skills that the cases are about, asked for where there is a choice."""
    if not view.skills:
        raise EvalError(
            f"plugin {view.name} has no skill that can be read, and cases are proposed for skills; "
            "plugin-eval new --bare NAME writes a blank one"
        )
    if options.skills:
        return tuple(dict.fromkeys(_skill(name, view) for name in options.skills))
    if len(view.skills) == 1:
        return view.skills
    while True:
        names = ", ".join(skill.name for skill in view.skills)
        try:
            answer = console.ask(f"Which skills are the cases about? ({names}; blank: all) ")
        except Ended:
            raise EvalError("no skill was chosen: nothing is written") from None
        words = answer.replace(",", " ").split()
        try:
            return tuple(dict.fromkeys(_skill(word, view) for word in words)) or view.skills
        except EvalError as error:
            console.say(str(error))


def _skill(name: str, view: PluginView) -> SkillView:
    bare = name.removeprefix(f"{view.name}:")
    for skill in view.skills:
        if bare in skill.aliases:
            return skill
    known = [skill.name for skill in view.skills]
    hint = did_you_mean(bare, known) or f", expected one of {', '.join(known)}"
    raise EvalError(f"{shown(name)} is no skill of plugin {view.name}{hint}")


def _drafts(
    view: PluginView, wanted: Wanted, asks: Asking, console: Console
) -> tuple[Draft, ...] | None:
    """Return what a model proposes; ``None`` where it was not to be asked."""
    try:
        console.say(announcement(view, wanted, asks))
    except JudgeError as error:
        raise EvalError(f"no model can be asked for cases: {error}") from error
    if not confirmed(console, "Ask?"):
        console.say("nothing was asked, nothing is written")
        return None
    drafts = proposed(view, wanted, asks, taken=wanted.taken, say=console.say)
    if not drafts:
        console.say("no proposal can be used: nothing is written")
    return drafts


class _Authoring:
    """Proposals on their way to files that stay."""

    def __init__(
        self, options: NewOptions, console: Console, *, root: Path, place: Path, ledger: Ledger
    ) -> None:
        self._options = options
        self._console = console
        self._root = root
        self._place = place
        self._ledger = ledger
        self._code = 0

    def settle(self, drafts: Sequence[Draft]) -> int:
        """Show the proposals, try them, keep what is accepted, and return the exit code."""
        cases = {self._place / draft.proposal.name: draft for draft in drafts}
        for directory, draft in cases.items():
            self._show(directory, draft)
        new = NewDirectories(_eval_dir(self._options, self._place))
        kept: list[Path] = []
        try:
            with new:
                written = list(self._written(new, cases))
                trial = self._trial(written) if self._options.may_try and written else None
                for directory in self._accepted(written, cases, trial):
                    new.keep(directory)
                    kept.append(directory)
        finally:
            self._tell(new, cases, kept)
        return self._code

    def _show(self, directory: Path, draft: Draft) -> None:
        aim = "should trigger" if draft.proposal.should_trigger else "should not trigger"
        self._console.say(_BAR)
        self._console.say(f"{draft.proposal.name}: {aim} {draft.proposal.skill}")
        for name, text in draft.files.items():
            self._console.say(f"  {_shown(directory / name)}")
            for line in text.splitlines():
                self._console.say(f"    {line}")

    def _written(self, new: NewDirectories, cases: dict[Path, Draft]) -> Iterator[Path]:
        """Write the cases where they are to live; they go again unless they are kept."""
        for directory, draft in cases.items():
            try:
                new.write(directory, draft.files)
            except EvalError as error:
                self._console.say(f"{draft.proposal.name}: {error}")
                self._code = 1
            else:
                yield directory

    def _trial(self, written: Sequence[Path]) -> Trial | None:
        """Try the cases once, after a yes; ``None`` when they were not."""
        from pytest_plugin_eval.cli.new_trial import SIGNALLED, trial_plan, tried

        run = self._run_options()
        self._console.say(_BAR)
        try:
            plan = trial_plan(self._root, written, run)
        except EvalError as error:
            self._console.say(f"cannot be tried: {error}")
            self._code = 1
            return None
        self._console.say(f"trying them once: {'; '.join(plan)}")
        if not self._ledger.may_start():
            self._console.say("not tried: the cost ceiling is reached")
            self._code = AT_CEILING
            return None
        if not confirmed(self._console, "Try them?"):
            return None
        trial = tried(self._root, written, run)
        self._ledger.add(trial.spent_usd)
        for _ in range(trial.unknown):
            self._ledger.add(None)
        if trial.code >= SIGNALLED:
            raise _Stopped(trial.code)
        if trial.code == AT_CEILING:
            self._code = AT_CEILING
        if not trial.cases:
            self._console.say("no run was made: what went wrong stands above")
            self._code = self._code or 1
        return trial

    def _run_options(self) -> RunOptions:
        run = self._options.run
        ceiling_usd = self._ledger.ceiling_usd
        if ceiling_usd is not None:
            ceiling_usd = max(ceiling_usd - self._ledger.spent_usd, 0.0)
        return replace(run, runs=1, max_cost_usd=ceiling_usd)

    def _accepted(
        self, written: Sequence[Path], cases: dict[Path, Draft], trial: Trial | None
    ) -> Iterator[Path]:
        """Yield the cases that the author accepts."""
        all_others = False
        with contextlib.suppress(Ended):
            for directory in written:
                name = cases[directory].proposal.name
                self._judge(directory, cases[directory], trial)
                question = f"Keep {name}? (y: yes, n: no, a: all others too, q: none of them)"
                answer = (
                    "a" if all_others else choice(self._console, question, ("y", "n", "a", "q"))
                )
                all_others = answer == "a"
                if answer == "q":
                    return
                if answer != "n":
                    yield directory

    def _judge(self, directory: Path, draft: Draft, trial: Trial | None) -> None:
        """Say what a try shows of a case."""
        if trial is None:
            return
        name = draft.proposal.name
        result = trial.cases.get(directory)
        if result is None:
            self._console.say(f"{name}: not tried")
            return
        lines = remarks(result, should_trigger=draft.proposal.should_trigger)
        self._console.say(f"{name}: {'look at this' if lines else 'as it should be, once'}")
        for line in lines:
            self._console.say(f"  {line}")

    def _tell(self, new: NewDirectories, cases: dict[Path, Draft], kept: Sequence[Path]) -> None:
        for directory in kept:
            graders = len(cases[directory].files) - 1
            prompt = _shown(directory / "prompt.md")
            self._console.say(f"Created {prompt} and {plural(graders, 'grader')}")
        for directory in new.left:
            if directory not in kept:
                self._console.say(f"{_shown(directory)}: stays, since somebody else changed it")
        self._console.say(f"{plural(len(kept), 'case')} written, {len(cases) - len(kept)} left out")


def _shown(path: Path) -> str:
    return os.path.relpath(path)
