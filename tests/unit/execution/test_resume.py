"""What a later session makes of the runs that an earlier one left."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.cases.fingerprint import (
    forget_plugins,
    plugin_hash,
    prompt_hash,
    settings_hash,
)
from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.execution.planning import PlannedCase, plan_case
from pytest_plugin_eval.execution.resume import Resume, with_earlier
from pytest_plugin_eval.records.layout import record_path
from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunOutcome, RunRecord
from pytest_plugin_eval.settings import Settings
from pytest_plugin_eval.storage.record_files import write_record
from pytest_plugin_eval.storage.session_file import (
    SESSION_FILE,
    CaseFacts,
    keep_session_file,
    session_facts,
)
from tests.support.records import record, said
from tests.support.suites import ONE_GRADER, case_of

VERSION = "2.1.332"
SETTINGS = Settings(runs=2)
MEASURED = [
    Ending.COMPLETED, Ending.TURN_LIMIT, Ending.TIMED_OUT, Ending.STOPPED, Ending.ABORTED
]  # fmt: skip
UNMEASURED = [ending for ending in Ending if ending not in MEASURED]


class Earlier:
    """A plugin with one case, and a results directory that a session began."""

    def __init__(self, base: Path) -> None:
        self.plugin = base / "plugin"
        self.directory = base / "results"
        self.directory.mkdir()
        self.write()
        keep_session_file(self.directory, self._facts())
        self.resume = Resume(self.directory)

    def write(self, prompt: str = "Do it.\n", **files: str) -> None:
        """Write the case, with *files* of it or of the plugin above it."""
        forget_plugins()
        self.case: Case = case_of(self.plugin, {"prompt.md": prompt, **ONE_GRADER, **files})

    @property
    def planned(self) -> PlannedCase:
        """The case with its runs."""
        return plan_case(self.case, SETTINGS)

    def key(self, arm: Arm = Arm.WITH, number: int = 1) -> RunKey:
        """Name a run of the case."""
        return RunKey(case=self.case.id, arm=arm, number=number)

    def left(self, key: RunKey, ending: Ending = Ending.COMPLETED, **changes: Any) -> RunRecord:
        """Write the record of a run and return it."""
        outcome = RunOutcome(ending=ending, cost_usd=0.25, attempts=2)
        provenance = {
            "claude_version": VERSION,
            "prompt": prompt_hash(self.case),
            "settings": settings_hash(self.case),
            "plugin": plugin_hash(self.case) or "",
        }
        if key.arm is Arm.WITHOUT:
            del provenance["plugin"]
        made = replace(
            record(said("done")), key=key, outcome=outcome, provenance=provenance, **changes
        )
        write_record(self.directory / "runs", made)
        return made

    def path(self, key: RunKey) -> Path:
        """Return where the record of a run lies."""
        return record_path(self.directory / "runs", key)

    def check(
        self, settings: Settings = SETTINGS, version: str = VERSION, **env: str
    ) -> Sequence[str]:
        """Check the directory for a session that goes on there."""
        return self.resume.check((self.planned,), settings, version, env)

    def refusal(self, *args: Any, **options: Any) -> list[str]:
        """Return what is said to have changed."""
        with pytest.raises(SettingsError) as caught:
            self.check(*args, **options)
        head, *lines = str(caught.value).split("\n  ")
        assert head.startswith(f"--eval-resume: {self.directory} was made with something else")
        return lines

    def _facts(self) -> Any:
        return session_facts([self.case], SETTINGS, agent_version=VERSION, env={})


@pytest.fixture
def earlier(tmp_path: Path) -> Earlier:
    """What a session left that came to no run."""
    return Earlier(tmp_path)


def test_run_that_was_never_made_is_lacking(earlier: Earlier) -> None:
    key = earlier.key()

    assert earlier.resume.finished(key) is None
    assert earlier.resume.earlier(key) is None
    assert earlier.resume.unmeasured(key) is None
    assert earlier.resume.note(key) is None


@pytest.mark.parametrize("ending", MEASURED)
def test_measured_run_is_taken_over(earlier: Earlier, ending: Ending) -> None:
    made = earlier.left(earlier.key(), ending)

    assert earlier.resume.finished(earlier.key()) == made
    assert earlier.resume.earlier(earlier.key()) is None
    assert earlier.resume.unmeasured(earlier.key()) is None
    assert earlier.resume.note(earlier.key()) is None


@pytest.mark.parametrize("ending", UNMEASURED)
def test_unmeasured_run_is_made_again_and_its_cost_counts(earlier: Earlier, ending: Ending) -> None:
    made = earlier.left(earlier.key(), ending)

    assert earlier.resume.finished(earlier.key()) is None
    assert earlier.resume.earlier(earlier.key()) == made.outcome
    assert earlier.resume.unmeasured(earlier.key()) == made
    assert earlier.resume.note(earlier.key()) is None


@pytest.mark.parametrize("kept", [0, 20, -3], ids=["empty", "in line 1", "in the last line"])
def test_torn_record_is_lacking_and_said(earlier: Earlier, kept: int) -> None:
    earlier.left(earlier.key())
    path = earlier.path(earlier.key())
    path.write_bytes(path.read_bytes()[:kept])

    assert earlier.resume.finished(earlier.key()) is None
    note = earlier.resume.note(earlier.key())
    assert note is not None
    assert note.startswith(f"made again: {path}:")


@pytest.mark.parametrize("ending", [Ending.COMPLETED, Ending.NO_RESULT])
def test_cost_of_a_torn_record_counts_while_its_first_line_is_whole(
    earlier: Earlier, ending: Ending
) -> None:
    made = earlier.left(earlier.key(), ending)
    path = earlier.path(earlier.key())
    path.write_bytes(path.read_bytes().partition(b"\n")[0] + b"\n{")

    assert earlier.resume.earlier(earlier.key()) == made.outcome


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b"null\n", b'{"schema": 99}\n'])
def test_file_that_is_no_record_has_no_cost(earlier: Earlier, content: bytes) -> None:
    earlier.left(earlier.key())
    earlier.path(earlier.key()).write_bytes(content)

    assert earlier.resume.earlier(earlier.key()) is None
    assert earlier.resume.finished(earlier.key()) is None


def test_record_under_the_name_of_another_run_is_lacking_and_said(earlier: Earlier) -> None:
    earlier.left(earlier.key(number=1))
    other = earlier.key(number=2)
    earlier.path(other).write_bytes(earlier.path(earlier.key()).read_bytes())

    assert earlier.resume.finished(other) is None
    assert earlier.resume.earlier(other) is None
    assert earlier.resume.note(other) == (
        f"made again: {earlier.path(other)}: is the record of another run"
    )


def test_equal_session_goes_on(earlier: Earlier) -> None:
    earlier.left(earlier.key())
    earlier.left(earlier.key(Arm.WITHOUT))

    assert earlier.check() == (f"resuming {earlier.directory}",)


def test_session_that_grades_otherwise_and_makes_more_runs_goes_on(earlier: Earlier) -> None:
    settings = Settings(runs=9, threshold=0.5, judge_model="opus", max_cost_usd=1.0)

    assert earlier.check(settings) == (f"resuming {earlier.directory}",)


def test_changed_prompt_is_refused(earlier: Earlier) -> None:
    earlier.left(earlier.key())
    earlier.write("Do it otherwise.\n")

    assert earlier.refusal() == ["the prompt has changed since, of evals/it"]


def test_changed_setting_is_refused(earlier: Earlier) -> None:
    earlier.write("---\nmax_turns: 2\n---\nDo it.\n")

    assert earlier.refusal() == ["the settings have changed since, of evals/it"]


def test_changed_plugin_is_refused(earlier: Earlier) -> None:
    (earlier.plugin / "README.md").write_text("new", encoding="utf-8")
    os.utime(earlier.plugin / ".claude-plugin" / "plugin.json", (0, 0))
    os.utime(earlier.directory / SESSION_FILE, (1, 1))
    forget_plugins()

    assert earlier.refusal() == [
        "the plugin's files have changed since",
        "files of the plugin that are newer: README.md",
    ]


def test_changed_grader_is_no_hindrance(earlier: Earlier) -> None:
    earlier.left(earlier.key())
    earlier.write(**{"graders/a.md": "---\ntype: regex\npattern: y\n---\n"})

    assert earlier.check() == (f"resuming {earlier.directory}",)


def test_all_that_changed_is_listed(earlier: Earlier) -> None:
    settings = Settings(runs=2, model="opus", allow_tools=("Bash",))

    lines = earlier.refusal(settings, "2.1.400", ANTHROPIC_MODEL="haiku")

    assert lines == [
        "Claude Code was 2.1.332, is 2.1.400",
        "the model (--eval-model) was not set, is 'opus'",
        "ANTHROPIC_MODEL was not set, is 'haiku'",
        "the granted tools (--eval-allow-tools) were none, are Bash",
    ]


def test_long_list_of_changes_is_cut(earlier: Earlier) -> None:
    settings = Settings(model="opus", allow_tools=("Bash",), disallow_tools=("Task",))
    env = {"ANTHROPIC_MODEL": "a", "MAX_THINKING_TOKENS": "1", "ENABLE_TOOL_SEARCH": "1"}

    lines = earlier.refusal(settings, "2.1.400", **env)

    assert len(lines) == 7
    assert lines[-1] == "and 1 more"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("prompt", "the prompt has changed since the record of a run, of evals/it"),
        ("settings", "the settings have changed since the record of a run, of evals/it"),
        ("plugin", "the plugin's files have changed since the record of a run, of evals/it"),
    ],
)
def test_record_of_another_kind_is_refused(earlier: Earlier, name: str, line: str) -> None:
    for number in (1, 2):
        made = earlier.left(earlier.key(number=number))
        foreign = replace(made, provenance={**made.provenance, name: "another"})
        write_record(earlier.directory / "runs", foreign)

    assert [one for one in earlier.refusal() if "newer" not in one] == [line]


def test_unmeasured_record_of_another_kind_is_no_hindrance(earlier: Earlier) -> None:
    made = earlier.left(earlier.key(), Ending.NO_RESULT)
    write_record(earlier.directory / "runs", replace(made, provenance={"prompt": "another"}))

    assert earlier.check() == (f"resuming {earlier.directory}",)


def test_new_and_vanished_cases_are_said(earlier: Earlier) -> None:
    path = earlier.directory / SESSION_FILE
    fields = json.loads(path.read_text(encoding="utf-8"))
    fields["cases"] = {"evals/gone": next(iter(fields["cases"].values()))}
    path.write_text(json.dumps(fields), encoding="utf-8")

    assert earlier.check() == (
        f"resuming {earlier.directory}",
        "not in this session, and left as they are: evals/gone",
        "new in this session: evals/it",
    )


def test_second_resumption_knows_the_cases_of_the_first(earlier: Earlier) -> None:
    facts = session_facts([], SETTINGS, agent_version=VERSION, env={})
    new = CaseFacts(prompt="p", settings="s")
    keep_session_file(earlier.directory, replace(facts, cases={"evals/new": new}))

    assert earlier.check() == (
        f"resuming {earlier.directory}",
        "not in this session, and left as they are: evals/new",
    )


def test_session_killed_before_it_wrote_anything_goes_on(earlier: Earlier) -> None:
    (earlier.directory / SESSION_FILE).unlink()

    assert earlier.check() == (f"resuming {earlier.directory}",)


def test_runs_that_nobody_tells_of_are_refused(earlier: Earlier) -> None:
    earlier.left(earlier.key())
    (earlier.directory / SESSION_FILE).unlink()

    with pytest.raises(SettingsError, match=r"does not tell what its runs were made with, exp"):
        earlier.check()


def test_unreadable_session_file_is_refused(earlier: Earlier) -> None:
    (earlier.directory / SESSION_FILE).write_text("{", encoding="utf-8")

    with pytest.raises(SettingsError, match=r"--eval-resume: .*session\.json: expected the JSON"):
        earlier.check()


@pytest.mark.parametrize(
    ("now", "before", "total", "known"),
    [
        ((0.5, 0.0), (0.25, 0.0), 0.75, 0.75),
        ((0.5, 0.0), (None, 0.0), None, 0.5),
        ((None, 0.0), (0.25, 0.0), None, 0.25),
        ((0.5, 0.0), (None, 0.125), None, 0.625),
        ((None, 0.0), (None, 0.125), None, 0.125),
        ((0.0, 0.0), (0.25, 0.0), 0.25, 0.25),
    ],
)
def test_cost_and_attempts_of_before_are_added(
    now: tuple[float | None, float],
    before: tuple[float | None, float],
    total: float | None,
    known: float,
) -> None:
    outcome = RunOutcome(
        ending=Ending.COMPLETED, cost_usd=now[0], known_cost_usd=now[1], attempts=1, turns=3
    )
    earlier = RunOutcome(
        ending=Ending.NO_RESULT, cost_usd=before[0], known_cost_usd=before[1], attempts=2, turns=1
    )

    whole = with_earlier(outcome, earlier)

    assert (whole.cost_usd, whole.known_usd) == (total, known)
    assert (whole.ending, whole.attempts, whole.turns) == (Ending.COMPLETED, 3, 3)


def test_run_that_was_never_made_adds_nothing() -> None:
    outcome = RunOutcome(ending=Ending.COMPLETED, cost_usd=0.5)

    assert with_earlier(outcome, None) is outcome
