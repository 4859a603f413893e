"""What is written of a session, and what its comparison with another one says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval import __version__
from pytest_plugin_eval.cases.fingerprint import forget_plugins
from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.settings import Ablation, Settings
from pytest_plugin_eval.storage.session_file import (
    SESSION_FILE,
    CaseFacts,
    SessionFacts,
    differences,
    keep_session_file,
    other_cases,
    read_session_file,
    session_facts,
)
from tests.support.suites import ONE_GRADER, case_of

ONE = CaseFacts(prompt="p", settings="s", plugin="g")
FACTS = SessionFacts(
    package_version="0.1.0",
    claude_version="2.1.330",
    model="sonnet",
    environment={"MAX_THINKING_TOKENS": "0"},
    grants=("Bash", "Write"),
    removals=("Task",),
    ablation="none",
    cases={"evals/a": ONE, "evals/b": ONE},
)
SECRET = "sk-ant-a-secret-0000"


def _cases(**changes: CaseFacts) -> SessionFacts:
    return replace(FACTS, cases={**FACTS.cases, **{f"evals/{k}": v for k, v in changes.items()}})


def _plain(**changes: Any) -> SessionFacts:
    return replace(FACTS, **changes)


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    keep_session_file(tmp_path, FACTS)

    assert read_session_file(tmp_path) == FACTS


def test_session_that_chose_nothing_is_read_again(tmp_path: Path) -> None:
    facts = SessionFacts(package_version="0.1.0", claude_version="")

    keep_session_file(tmp_path, facts)

    assert read_session_file(tmp_path) == facts


def test_directory_without_the_file_tells_nothing(tmp_path: Path) -> None:
    assert read_session_file(tmp_path) is None


def test_first_process_of_a_session_wins(tmp_path: Path) -> None:
    keep_session_file(tmp_path, FACTS)

    keep_session_file(tmp_path, _plain(model="opus"))

    assert read_session_file(tmp_path) == FACTS


def test_new_cases_are_added_and_known_ones_stay(tmp_path: Path) -> None:
    keep_session_file(tmp_path, FACTS)
    new = CaseFacts(prompt="new", settings="new")

    keep_session_file(tmp_path, _plain(cases={"evals/a": new, "evals/c": new}))

    read = read_session_file(tmp_path)
    assert read is not None
    assert read.cases == {"evals/a": ONE, "evals/b": ONE, "evals/c": new}


def test_facts_are_taken_from_case_settings_and_environment(tmp_path: Path) -> None:
    forget_plugins()
    case = case_of(tmp_path, {"prompt.md": "Do it.\n", **ONE_GRADER})
    settings = Settings(
        model="opus",
        allow_tools=("Write", "Bash", "Write"),
        disallow_tools=("Task",),
        ablation=Ablation.WITH_WITHOUT,
    )
    env = {
        "ANTHROPIC_API_KEY": SECRET,
        "ANTHROPIC_MODEL": "haiku",
        "MAX_THINKING_TOKENS": "",
        "HOME": "/home/me",
    }

    facts = session_facts([case], settings, agent_version="2.1.332", env=env)

    assert facts == SessionFacts(
        package_version=__version__,
        claude_version="2.1.332",
        model="opus",
        environment={"ANTHROPIC_MODEL": "haiku"},
        grants=("Bash", "Write"),
        removals=("Task",),
        ablation="with-without",
        cases=facts.cases,
    )
    (found,) = facts.cases.values()
    assert list(facts.cases) == ["evals/it"]
    assert all(len(value) == 64 for value in (found.prompt, found.settings, found.plugin))


def test_no_secret_is_written(tmp_path: Path) -> None:
    env = dict.fromkeys(
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "EVAL_TOKEN"),
        SECRET,
    )

    keep_session_file(tmp_path, session_facts([], Settings(), agent_version="1", env=env))

    assert SECRET not in (tmp_path / SESSION_FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "settings",
    [
        Settings(threshold=0.5),
        Settings(runs=9),
        Settings(judge_model="opus"),
        Settings(max_cost_usd=1.0),
        Settings(concurrency=4),
        Settings(min_delta=0.1),
        Settings(judge_votes=5),
        Settings(free_only=True),
    ],
)
def test_what_bears_on_grading_alone_makes_no_difference(settings: Settings) -> None:
    then = session_facts([], Settings(), agent_version="1", env={})

    now = session_facts([], settings, agent_version="1", env={})

    assert differences(then, now) == ()


@pytest.mark.parametrize(
    ("now", "line"),
    [
        (_plain(package_version="0.2.0"), "pytest-plugin-eval was 0.1.0, is 0.2.0"),
        (_plain(claude_version="2.1.332"), "Claude Code was 2.1.330, is 2.1.332"),
        (_plain(model="opus"), "the model (--eval-model) was 'sonnet', is 'opus'"),
        (_plain(model=None), "the model (--eval-model) was 'sonnet', is not set"),
        (_plain(environment={}), "MAX_THINKING_TOKENS was '0', is not set"),
        (
            _plain(grants=()),
            "the granted tools (--eval-allow-tools) were Bash, Write, are none",
        ),
        (
            _plain(removals=("Task", "WebFetch")),
            "the removed tools (--eval-disallow-tools) were Task, are Task, WebFetch",
        ),
        (_plain(ablation=None), "the arms (--eval-ablation) were 'none', are not set"),
        (_cases(a=replace(ONE, prompt="x")), "the prompt has changed since, of evals/a"),
        (_cases(b=replace(ONE, settings="x")), "the settings have changed since, of evals/b"),
        (_cases(b=replace(ONE, mocks="x")), "the mocks have changed since, of evals/b"),
        (_cases(a=replace(ONE, plugin="")), "the plugin's files have changed since, of evals/a"),
        (
            _cases(a=replace(ONE, plugin="x"), b=replace(ONE, plugin="x")),
            "the plugin's files have changed since",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_difference_is_one_readable_line(now: SessionFacts, line: str) -> None:
    assert differences(FACTS, now) == (line,)


def test_many_cases_are_counted() -> None:
    then = _plain(cases={f"evals/{name}": ONE for name in "abcde"})
    now = _plain(cases={f"evals/{name}": replace(ONE, prompt="x") for name in "abcde"})

    assert differences(then, now) == (
        "the prompt has changed since, of evals/a, evals/b, evals/c and 2 more",
    )


def test_environment_does_not_matter_where_the_option_names_the_model() -> None:
    then = _plain(environment={"ANTHROPIC_MODEL": "haiku"})

    assert differences(then, _plain(environment={"ANTHROPIC_MODEL": "opus"})) == ()


def test_environment_matters_where_no_option_names_the_model() -> None:
    then = _plain(model=None, environment={"ANTHROPIC_MODEL": "haiku"})
    now = _plain(model=None, environment={"ANTHROPIC_MODEL": "opus"})

    assert differences(then, now) == ("ANTHROPIC_MODEL was 'haiku', is 'opus'",)


def test_order_of_tools_makes_no_difference() -> None:
    assert differences(FACTS, _plain(grants=("Write", "Bash"))) == ()


def test_cases_of_one_session_alone_are_said_but_no_difference() -> None:
    now = _plain(cases={"evals/b": ONE, "evals/c": ONE})

    assert differences(FACTS, now) == ()
    assert other_cases(FACTS, now) == (
        "not in this session, and left as they are: evals/a",
        "new in this session: evals/c",
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, r"newer version: schema 2, this version reads up to 1"),
        ({"schema": "1"}, r"expected the facts of a session"),
        ({"kind": "run"}, r"expected the facts of a session"),
        ({"model": 1}, r"model must be a string, got 1"),
        ({"grants": "Bash"}, r"grants must be a list of strings, got 'Bash'"),
        ({"removals": [1]}, r"removals must be a list of strings"),
        ({"environment": {"A": 1}}, r"A must be a string, got 1"),
        ({"cases": []}, r"cases must be an object, got \[\]"),
        ({"cases": {"evals/a": "x"}}, r"case evals/a must be an object"),
        ({"cases": {"evals/a": {"prompt": "p"}}}, r"settings must be a string, got None"),
        ({"claude_version": None}, r"claude_version must be a string"),
    ],
)
def test_file_that_is_no_session_is_refused_by_name(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    keep_session_file(tmp_path, FACTS)
    path = tmp_path / SESSION_FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}), encoding="utf-8")

    with pytest.raises(RecordError, match=message) as caught:
        read_session_file(tmp_path)

    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b"null", b"[" * 100_000])
def test_file_that_is_no_json_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / SESSION_FILE).write_bytes(content)

    with pytest.raises(RecordError, match=SESSION_FILE):
        read_session_file(tmp_path)


def test_directory_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / SESSION_FILE).mkdir()

    with pytest.raises(RecordError, match="cannot read what the session was"):
        read_session_file(tmp_path)


@pytest.mark.parametrize(
    ("was", "is_", "line"),
    [
        ("one", "two", "the scaffold script has changed since, of evals/a"),
        ("one", "", "the scaffold script (--eval-scaffold) was run, is not run, of evals/a"),
        ("", "two", "the scaffold script (--eval-scaffold) was not run, is run, of evals/a"),
    ],
    ids=["changed", "no-more", "newly"],
)
def test_script_that_was_run_bears_on_the_runs(
    tmp_path: Path, was: str, is_: str, line: str
) -> None:
    keep_session_file(tmp_path, _cases(a=replace(ONE, scaffold=was)))
    then = read_session_file(tmp_path)
    assert then is not None

    assert differences(then, _cases(a=replace(ONE, scaffold=is_))) == (line,)
    assert differences(then, then) == ()


@pytest.mark.parametrize("scaffold", [False, True])
def test_script_is_a_fact_only_where_it_is_run(tmp_path: Path, scaffold: bool) -> None:
    case = replace(
        case_of(tmp_path, {"prompt.md": "p\n", "s.sh": "", **ONE_GRADER}),
        scaffold_script="s.sh",
    )

    facts = session_facts([case], Settings(scaffold=scaffold), agent_version="1", env={})

    assert bool(facts.cases["evals/it"].scaffold) is scaffold
