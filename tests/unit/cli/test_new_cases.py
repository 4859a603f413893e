"""The conversation of `plugin-eval new`: who is asked what, and what is left afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.cases.discovery import eval_directory_of
from pytest_plugin_eval.cases.loader import load_case
from pytest_plugin_eval.cli import new_trial
from pytest_plugin_eval.cli.new_cases import NewOptions, author
from pytest_plugin_eval.cli.new_command import new
from pytest_plugin_eval.cli.new_console import Ended
from pytest_plugin_eval.cli.new_trial import Trial
from pytest_plugin_eval.cli.run_options import RunOptions
from pytest_plugin_eval.errors import EvalError, JudgeError
from pytest_plugin_eval.quality.asking import Asking
from pytest_plugin_eval.scoring.model import CaseResult
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from pytest_plugin_eval.storage.new_journal import left_cases
from tests.support import results
from tests.support.judges import FakeBackend, no_backend
from tests.support.proposals import (
    KILLED_NEW,
    Fields,
    grader,
    killed_new,
    negative,
    plugin_files,
    positive,
    reply,
)
from tests.support.suites import write_tree

END = "<end>"
CTRL_C = "<ctrl-c>"
GOOD = reply(positive(), negative())


class Person:
    """Answers questions in order; anything beyond is a mistake of the test."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self.lines: list[str] = []

    @property
    def text(self) -> str:
        """All that was shown."""
        return "\n".join(self.lines)

    def say(self, line: str) -> None:
        """Note a line."""
        self.lines.append(line)

    def ask(self, question: str) -> str:
        """Answer."""
        self.lines.append(question)
        answer = self._answers.pop(0)
        if answer == END:
            raise Ended
        if answer == CTRL_C:
            raise KeyboardInterrupt
        return answer


Write = Callable[..., int]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "demo", plugin_files())


@pytest.fixture
def work(root: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Return a function that talks with a person about the plugin, without a try."""
    monkeypatch.chdir(root)

    def write(person: Person, backend: FakeBackend, **fields: Any) -> int:
        ceiling = fields.pop("ceiling_usd", None)
        run = RunOptions(max_cost_usd=ceiling)
        options = NewOptions(**{"may_try": False, "run": run, **fields})
        return author(options, person, root=root, asking=partial(_asking, backend))

    return write


def _asking(backend: FakeBackend | Callable[[], FakeBackend], ledger: Ledger) -> Asking:
    find = backend if callable(backend) else lambda: backend
    return Asking(find, ledger=ledger, limiter=Limiter(), env={}, model="m-1")


def _cases(root: Path) -> list[str]:
    place = root / "evals"
    return sorted(path.parent.name for path in place.rglob("prompt.md"))


def _contents(root: Path) -> Mapping[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_author_is_told_asked_and_gets_what_is_accepted(work: Write, root: Path) -> None:
    person, backend = Person("It says bonjour.", "Warmly.", "", "y", "y", "n"), FakeBackend(GOOD)

    assert work(person, backend) == 0

    assert person.lines[:5] == [
        "plugin demo: 1 skill, 1 agent, 1 MCP server",
        "  skill greet: Greets people in French",
        "  agent host: Welcomes guests",
        "  MCP server door",
        "What does a good result look like? Several lines are fine, a blank one ends.",
    ]
    assert "asking for 6 cases of m-1, about $0.00" in person.text
    assert person.text.index("asking for") < person.text.index("Ask? [y/N]")
    assert person.lines[-3:] == [
        "Created evals/greets-maria/prompt.md and 2 graders",
        "1 case written, 1 left out",
        "spent: $0.25",
    ]
    assert _cases(root) == ["greets-maria"]
    (request,) = backend.requests
    assert "It says bonjour.\nWarmly." in str(request.parts[0])
    place = eval_directory_of(root / "evals")
    assert place is not None
    assert len(load_case(place.cases[0], place).graders) == 2
    assert backend.is_closed


@pytest.mark.parametrize("answer", ["n", "", "maybe", END])
def test_nobody_is_asked_without_a_yes(answer: str, work: Write, root: Path) -> None:
    before, backend = _contents(root), FakeBackend(GOOD)

    assert work(Person(answer), backend, about="bonjour") == 0

    assert "0 done, or declined at a question" in (new.help or "").replace("\n    ", " ")
    assert backend.requests == []
    assert _contents(root) == before


@pytest.mark.parametrize("answers", [[""], [END], ["  ", END]])
def test_silent_author_gets_nothing(answers: list[str], work: Write, root: Path) -> None:
    person = Person(*answers)

    assert work(person, no_backend) == 1

    assert person.lines[-1] == "nothing was said of a good result: nothing is written"


@pytest.mark.parametrize(
    ("answers", "kept"),
    [
        (["y", "y"], ["greets-maria", "talks-of-rain"]),
        (["a"], ["greets-maria", "talks-of-rain"]),
        (["n", "a"], ["talks-of-rain"]),
        (["q"], []),
        (["y", "q"], ["greets-maria"]),
        (["what?", "", "Y", "No"], ["greets-maria"]),
        (["y", END], ["greets-maria"]),
        ([END], []),
    ],
)
def test_what_is_accepted_is_kept(
    answers: list[str], kept: list[str], work: Write, root: Path
) -> None:
    assert work(Person("y", *answers), FakeBackend(GOOD), about="bonjour") == 0

    assert _cases(root) == kept
    assert (root / "evals").exists() == bool(kept)


@pytest.mark.parametrize("answers", [["y", CTRL_C], ["y", "y", CTRL_C], [CTRL_C]])
def test_interruption_leaves_what_was_accepted_and_tells_what_was_spent(
    answers: list[str], work: Write, root: Path
) -> None:
    person = Person(*answers)

    with pytest.raises(KeyboardInterrupt):
        work(person, FakeBackend(GOOD), about="bonjour")

    assert _cases(root) == (["greets-maria"] if len(answers) == 3 else [])
    assert ("spent: $0.25" in person.text) == (len(answers) > 1)


def test_what_does_not_load_is_told_and_mended(work: Write, root: Path) -> None:
    bad_pattern = positive(name="bad", graders=[grader(pattern="(")])
    first = reply(negative(), positive(name="../up"), bad_pattern)
    second = reply(positive(name="up"), positive(name="good", graders=[grader(pattern="x")]))
    person, backend = Person("y", "a"), FakeBackend(first, second)

    assert work(person, backend, about="bonjour") == 0

    assert _cases(root) == ["good", "talks-of-rain", "up"]
    assert "  name '../up' will not do" in person.text
    assert "is no JavaScript regular expression" in person.text
    assert "2 proposals: asking for them once more" in person.text
    question = str(backend.requests[1].parts[0])
    assert "../up: name '../up' will not do" in question
    assert '"pattern": "("' in question


@pytest.mark.parametrize(
    "repeated",
    [
        negative(),
        negative(name="weather"),
        negative(name="weather", prompt="  what is a NICE way\n to say that it rains? "),
        negative(prompt="Another word for drizzle?"),
    ],
    ids=["whole", "prompt", "prompt-nearly", "name"],
)
def test_good_case_that_is_repeated_with_the_mended_is_left_out(
    repeated: Fields, work: Write, root: Path
) -> None:
    first = reply(negative(), positive(name="../up"))
    person = Person("y", "a")

    assert work(person, FakeBackend(first, reply(repeated, positive())), about="bonjour") == 0

    assert _cases(root) == ["greets-maria", "talks-of-rain"]
    assert f"{repeated['name']}: repeats a case that is good already, left out" in person.text


def test_mended_case_may_have_the_name_of_a_good_one(work: Write, root: Path) -> None:
    broken = negative(prompt="Another word for drizzle?", graders=[grader(pattern="(")])
    mended = negative(prompt="Another word for drizzle?")
    backend = FakeBackend(reply(negative(), broken), reply(mended))

    assert work(Person("y", "a"), backend, about="bonjour") == 0

    assert _cases(root) == ["talks-of-rain", "talks-of-rain-2"]


@pytest.mark.parametrize(
    "again", [reply(positive(name="../up")), "Sorry.", "{}", JudgeError("it broke", status=500)]
)
def test_what_cannot_be_mended_is_left_out_by_name(
    again: str | JudgeError, work: Write, root: Path
) -> None:
    first = reply(negative(), positive(name="../up"))
    person, backend = Person("y", "a"), FakeBackend(first, again)

    assert work(person, backend, about="bonjour") == 0

    assert _cases(root) == ["talks-of-rain"]
    assert "1 proposal: left out" in person.text
    assert len(backend.requests) == 2


@pytest.mark.parametrize("answer", ["Sorry, no.", "[]", '{"cases": [1, 2]}', "\x1b[2J" * 10])
def test_reply_of_which_nothing_can_be_made_ends_it(answer: str, work: Write, root: Path) -> None:
    before, person = _contents(root), Person("y")

    assert work(person, FakeBackend(answer), about="bonjour") == 1

    assert "no proposal can be used: nothing is written" in person.text
    assert person.lines[-1] == "spent: $0.50"
    assert _contents(root) == before


def test_names_that_are_taken_get_a_number(work: Write, root: Path) -> None:
    write_tree(root, {"evals/Greets-Maria/prompt.md": "mine"})
    before = _contents(root)
    twice = reply(positive(), positive(prompt="Another for Ada."))

    assert work(Person("y", "a"), FakeBackend(twice), about="bonjour") == 0

    assert _cases(root) == ["Greets-Maria", "greets-maria-2", "greets-maria-3"]
    assert before.items() <= _contents(root).items()


def test_more_than_asked_for_is_left_out(work: Write, root: Path) -> None:
    person = Person("y", "a")

    assert work(person, FakeBackend(GOOD), about="bonjour", cases=1) == 0

    assert _cases(root) == ["greets-maria"]
    assert "1 more than asked for: left out" in person.text


def test_cases_go_to_the_directory_that_is_named(work: Write, root: Path) -> None:
    assert work(Person("y", "a"), FakeBackend(GOOD), about="bonjour", group="greeting") == 0

    assert (root / "evals/greeting/greets-maria/prompt.md").is_file()


@pytest.mark.parametrize(
    ("files", "group", "said"),
    [
        ({"evals/prompt.md": "Hi"}, None, "is a case itself"),
        ({"evals/prompt.md": "Hi"}, "x", "is a case itself"),
        ({"evals/x/case.yaml": "a: b"}, "x", "is a case itself"),
        ({"evals/x": "a file"}, "x", "is no directory"),
        ({"evals": "a file"}, None, "is no directory"),
        ({}, "../up", "expected letters"),
        ({}, "results", "a directory of that name holds no case"),
    ],
)
def test_place_where_no_case_would_be_found_is_refused_first(
    files: dict[str, str], group: str | None, said: str, work: Write, root: Path
) -> None:
    write_tree(root, files)

    with pytest.raises(EvalError, match=said):
        work(Person(), no_backend, about="bonjour", group=group)


def test_link_is_no_place_for_cases(work: Write, root: Path, tmp_path: Path) -> None:
    (root / "evals").mkdir()
    (root / "evals/x").symlink_to(tmp_path)

    with pytest.raises(EvalError, match="is a link"):
        work(Person(), no_backend, about="bonjour", group="x")


def test_plugin_without_a_skill_is_refused(work: Write, root: Path) -> None:
    (root / "skills/greet/SKILL.md").unlink()

    with pytest.raises(EvalError, match="has no skill that can be read"):
        work(Person(), no_backend, about="bonjour")


def test_skills_are_asked_for_where_there_is_a_choice(work: Write, root: Path) -> None:
    write_tree(root, {"skills/part/SKILL.md": "---\nname: part\ndescription: Parts\n---\nAdieu.\n"})
    case = positive(skill="part", name="parts")
    person, backend = Person("prt", "demo:part", "y", "a"), FakeBackend(reply(case))

    assert work(person, backend, about="adieu") == 0

    assert "'prt' is no skill of plugin demo, did you mean 'part'?" in person.text
    text = str(backend.requests[0].parts[0])
    assert "Adieu." in text
    assert "Say bonjour" not in text
    assert '(?:demo:)?part"' in (root / "evals/parts/graders/skill-fired.md").read_text("utf-8")


def test_unknown_skill_of_an_option_is_refused(work: Write) -> None:
    with pytest.raises(EvalError, match="'gret' is no skill of plugin demo, did you mean 'greet'"):
        work(Person(), no_backend, about="x", skills=("gret",))


def test_without_a_back_end_it_says_what_to_set(work: Write) -> None:
    def none() -> FakeBackend:
        raise JudgeError("no judge for proposals: set ANTHROPIC_API_KEY to ask the Messages API")

    with pytest.raises(EvalError, match=r"no model can be asked for cases: .*ANTHROPIC_API_KEY"):
        work(Person(), none, about="x")


def test_call_that_fails_is_the_end_of_it(work: Write, root: Path) -> None:
    failure = JudgeError("invalid x-api-key", status=401)

    with pytest.raises(EvalError, match=r"no case was proposed: .*invalid x-api-key"):
        work(Person("y"), FakeBackend(failure), about="x")

    assert not (root / "evals").exists()


def test_ceiling_of_nothing_asks_nothing(work: Write) -> None:
    person, backend = Person("y"), FakeBackend(GOOD)

    assert work(person, backend, about="x", ceiling_usd=0.0) == 2

    assert backend.requests == []
    assert "no case was proposed: the cost ceiling is reached" in person.text


def test_ceiling_reached_by_the_first_reply_leaves_the_rest_unmended(
    work: Write, root: Path
) -> None:
    person, backend = Person("y", "a"), FakeBackend(reply(negative(), positive(name="..")))

    assert work(person, backend, about="x", ceiling_usd=0.2) == 0

    assert len(backend.requests) == 1
    assert "not mended: cost ceiling $0.2 reached" in person.text
    assert _cases(root) == ["talks-of-rain"]


def test_cases_of_a_killed_command_are_named_until_their_list_is_gone(
    work: Write, root: Path
) -> None:
    journal = write_tree(root, killed_new("a", "old/b", "gone")) / "evals" / KILLED_NEW
    write_tree(root, {"evals/a/prompt.md": "Hi", "evals/old/b/prompt.md": "Hi"})
    before, person = _contents(root), Person("")

    assert work(person, no_backend) == 1

    named = f"{Path('evals/a')}, {Path('evals/old/b')}"
    assert person.lines[0] == (
        f"left by an interrupted plugin-eval new: {named}; remove or keep them, and remove "
        f"{journal.relative_to(root)}"
    )
    assert _contents(root) == before


def test_list_of_cases_that_are_gone_is_removed(work: Write, root: Path) -> None:
    journal = write_tree(root, killed_new("a")) / "evals" / KILLED_NEW
    person = Person("")

    assert work(person, no_backend) == 1

    assert "interrupted" not in person.text
    assert not journal.exists()


@pytest.mark.parametrize("group", [None, "welcome"])
def test_cases_are_listed_for_as_long_as_they_may_go(
    group: str | None, work: Write, root: Path, tries: Tries
) -> None:
    place = root / "evals" / (group or "")
    listed: list[set[str]] = []

    class Watching(Person):
        def ask(self, question: str) -> str:
            found = left_cases([root / "evals"])
            listed.append({str(case.relative_to(place)) for one in found for case in one.cases})
            return super().ask(question)

    answers = Watching("y", "y", "y", "n")

    assert work(answers, FakeBackend(GOOD), about="x", may_try=True, group=group) == 0

    both = {"greets-maria", "talks-of-rain"}
    assert listed == [set(), both, both, {"talks-of-rain"}]
    assert list(left_cases([root / "evals"])) == []


class Tries:
    """Stands for the machinery of a run: notes what it was given, and gives what it is to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.code = 0
        self.unknown = 0
        self.has_runs = True
        self.error: BaseException | None = None
        self.seen: list[tuple[list[str], RunOptions]] = []
        monkeypatch.setattr(
            new_trial, "trial_plan", lambda *_: ["2 cases, 4 runs", "cost: unknown"]
        )
        monkeypatch.setattr(new_trial, "tried", self)

    def __call__(self, root: Path, directories: list[Path], options: RunOptions) -> Trial:
        """Be tried."""
        self.seen.append(([path.name for path in directories], options))
        assert all((path / "prompt.md").is_file() for path in directories)
        if self.error is not None:
            raise self.error
        cases = dict(self._cases(directories)) if self.has_runs else {}
        return Trial(code=self.code, spent_usd=0.5, unknown=self.unknown, cases=cases)

    def _cases(self, directories: list[Path]) -> Iterator[tuple[Path, CaseResult]]:
        info = results.case_info(runs=results.plan(1, 1))
        runs = [results.run(name, "P", case=info) for name in ("with-1", "without-1")]
        for path in directories[:1]:
            yield path, results.case(info, *runs)


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> Tries:
    return Tries(monkeypatch)


def test_cases_are_tried_once_after_a_yes(work: Write, root: Path, tries: Tries) -> None:
    person = Person("y", "y", "y", "n")

    assert work(person, FakeBackend(GOOD), about="x", may_try=True, ceiling_usd=1.0) == 0

    ((names, options),) = tries.seen
    assert names == ["greets-maria", "talks-of-rain"]
    assert (options.runs, options.max_cost_usd) == (1, 0.75)
    assert "trying them once: 2 cases, 4 runs; cost: unknown" in person.text
    assert "greets-maria: look at this" in person.text
    assert "without the plugin it is as good: WITH 1.00, W/OUT 1.00" in person.text
    assert "talks-of-rain: not tried" in person.text
    assert person.lines[-1] == "spent: $0.75, the ceiling was $1.00"
    assert _cases(root) == ["greets-maria"]


def test_try_is_not_made_without_a_yes(work: Write, root: Path, tries: Tries) -> None:
    assert work(Person("y", "n", "a"), FakeBackend(GOOD), about="x", may_try=True) == 0

    assert tries.seen == []
    assert len(_cases(root)) == 2


def test_try_is_not_made_above_the_ceiling(work: Write, root: Path, tries: Tries) -> None:
    person = Person("y", "a")

    assert work(person, FakeBackend(GOOD), about="x", may_try=True, ceiling_usd=0.25) == 2

    assert tries.seen == []
    assert "not tried: the cost ceiling is reached" in person.text
    assert len(_cases(root)) == 2


@pytest.mark.parametrize("code", [130, 143])
def test_try_ended_by_a_signal_leaves_nothing(
    code: int, work: Write, root: Path, tries: Tries
) -> None:
    tries.code, before, person = code, _contents(root), Person("y", "y")
    tries.unknown = 1

    assert work(person, FakeBackend(GOOD), about="x", may_try=True) == code

    assert "interrupted: of what was not accepted nothing is left" in person.text
    assert person.lines[-1] == "spent: $0.75 and 1 call of unknown cost"
    assert _contents(root) == before


def test_crash_of_the_machinery_leaves_nothing(work: Write, root: Path, tries: Tries) -> None:
    tries.error, before = RuntimeError("a defect"), _contents(root)

    with pytest.raises(RuntimeError):
        work(Person("y", "y"), FakeBackend(GOOD), about="x", may_try=True)

    assert _contents(root) == before


def test_plan_that_cannot_be_made_keeps_nobody_from_accepting(
    work: Write, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> list[str]:
        raise EvalError("no git")

    monkeypatch.setattr(new_trial, "trial_plan", refuse)
    person = Person("y", "a")

    assert work(person, FakeBackend(GOOD), about="x", may_try=True) == 1

    assert "cannot be tried: no git" in person.text
    assert len(_cases(root)) == 2


def test_try_of_which_nothing_came_is_told_and_no_success(
    work: Write, root: Path, tries: Tries
) -> None:
    tries.code, tries.has_runs, person = 1, False, Person("y", "y", "a")

    assert work(person, FakeBackend(GOOD), about="x", may_try=True) == 1

    assert "no run was made: what went wrong stands above" in person.text
    assert len(_cases(root)) == 2


def test_cases_stand_untried_where_the_ceiling_ends_the_try(
    work: Write, root: Path, tries: Tries
) -> None:
    tries.code = 2

    assert work(Person("y", "y", "a"), FakeBackend(GOOD), about="x", may_try=True) == 2

    assert len(_cases(root)) == 2
