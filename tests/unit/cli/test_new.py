"""`plugin-eval new --bare`: a blank case, and nothing overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.cases.discovery import eval_directory_of
from pytest_plugin_eval.cases.loader import load_case
from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.storage.new_files import write_new_directory

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a plugin, which is the working directory."""
    (tmp_path / ".claude-plugin").mkdir()
    (tmp_path / ".claude-plugin/plugin.json").write_text('{"name": "demo"}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _contents(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text("utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_blank_case_loads_as_it_is(plugin: Path, capsys: Captured) -> None:
    assert main(["new", "--bare", "greets"]) == 0

    assert capsys.readouterr().out == (
        "Created evals/greets/prompt.md and evals/greets/graders/criteria.md\n"
    )
    directory = plugin / "evals/greets"
    place = eval_directory_of(directory)
    assert place is not None
    case = load_case(directory, place)
    assert (case.name, case.max_turns, [grader.type for grader in case.graders]) == (
        "greets",
        10,
        ["llm"],
    )
    assert case.allowed_tools == ("Read", "Glob", "Grep", "Skill")


@pytest.mark.parametrize("name", ["UPPER", "5", "a.b", "_x", "x" * 80, "graders", "a-b_c.d"])
def test_name_of_a_directory_will_do(name: str, plugin: Path) -> None:
    assert main(["new", "--bare", name]) == 0
    assert (plugin / "evals" / name / "prompt.md").is_file()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (".hid", "expected letters, digits, '.', '_' and '-', not beginning with '.' or '-'"),
        ("a/b", "expected letters"),
        ("..", "expected letters"),
        ("ä", "expected letters"),
        ("a b", "expected letters"),
        ("a\n", "expected letters"),
        ("results", "a directory of that name holds no case (mocks, recordings, results)"),
        ("x" * 300, "is too long, expected 255 or fewer"),
        ("", "expected letters"),
    ],
)
def test_name_that_will_not_do_is_refused(
    name: str, said: str, plugin: Path, capsys: Captured
) -> None:
    assert main(["new", "--bare", "--", name]) == 1

    assert said in capsys.readouterr().err
    assert not (plugin / "evals").exists()


@pytest.mark.parametrize("content", [None, "file", "link", "directory"])
def test_nothing_that_exists_is_touched(
    content: str | None, plugin: Path, capsys: Captured
) -> None:
    directory = plugin / "evals/taken"
    directory.parent.mkdir()
    if content == "file":
        directory.write_text("mine")
    elif content == "link":
        directory.symlink_to("nowhere")
    else:
        directory.mkdir()
    if content == "directory":
        (directory / "prompt.md").write_text("mine")
    before = _contents(plugin)

    assert main(["new", "--bare", "taken"]) == 1

    assert "exists already" in capsys.readouterr().err
    assert _contents(plugin) == before


def test_directory_that_is_no_plugin_is_refused_unless_the_eval_directory_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["new", "--bare", "x"]) == 1
    assert "is no plugin and no skill" in capsys.readouterr().err

    assert main(["new", "--bare", "x", "--eval-dir", "qa/x"]) == 0
    assert (tmp_path / "qa/x/x/prompt.md").is_file()


@pytest.mark.parametrize("eval_dir", ["/abs", "../up", ".", "a b", ""])
def test_eval_directory_that_no_suite_can_have_is_refused(
    eval_dir: str, plugin: Path, capsys: Captured
) -> None:
    assert main(["new", "--bare", "x", "--eval-dir", eval_dir]) == 1
    assert "--eval-dir" in capsys.readouterr().err


def test_manifest_says_where_evals_are(plugin: Path) -> None:
    manifest = '{"name": "demo", "experimental": {"evals": "quality/evals"}}'
    (plugin / ".claude-plugin/plugin.json").write_text(manifest)

    assert main(["new", "--bare", "x"]) == 0
    assert (plugin / "quality/evals/x/prompt.md").is_file()


def test_skill_folder_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "SKILL.md").write_text("---\nname: x\n---\n")
    monkeypatch.chdir(tmp_path)

    assert main(["new", "--bare", "x"]) == 0
    assert (tmp_path / "evals/x/prompt.md").is_file()


def test_name_is_asked_for(plugin: Path, capsys: Captured) -> None:
    assert main(["new", "--bare"]) == 1
    assert "plugin-eval new --bare NAME" in capsys.readouterr().err


def test_name_without_a_terminal_is_that_of_a_blank_case(plugin: Path, capsys: Captured) -> None:
    assert main(["new", "greets"]) == 0

    assert "no terminal to ask in: writing a blank case (--bare)" in capsys.readouterr().err
    assert (plugin / "evals/greets/prompt.md").is_file()


COMPLETE = ["--about", "x", "--skill", "greet", "--yes", "--max-cost-usd", "1"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "there is no terminal to ask in: pass --bare NAME for a blank case, or --about TEXT"),
        (["--about", "x"], "--skill NAME and --yes and --max-cost-usd X are missing"),
        (["--yes"], "--about TEXT and --skill NAME and --max-cost-usd X are missing"),
        (["a", "--yes"], "--about TEXT and --skill NAME and --max-cost-usd X are missing"),
        (COMPLETE[:-2], "--max-cost-usd X is missing"),
        ([*COMPLETE[:4], *COMPLETE[5:]], "--yes is missing"),
        (["--max-cost-usd", "1"], "there is no terminal to ask in"),
        ([*COMPLETE, "--cases", "0"], "--cases"),
        ([*COMPLETE, "--cases", "13"], "--cases"),
        ([*COMPLETE[:-1], "-1"], "--max-cost-usd"),
        ([*COMPLETE[:-1], "nan"], "--max-cost-usd"),
        ([*COMPLETE, "--eval-dir", "../up"], "--eval-dir"),
        (COMPLETE, "no credential was found; set ANTHROPIC_API_KEY"),
    ],
)
def test_script_is_told_exactly_what_to_pass(
    words: list[str], said: str, plugin: Path, capsys: Captured
) -> None:
    before = _contents(plugin)

    assert main(["new", *words]) == 1

    assert said in " ".join(capsys.readouterr().err.split())
    assert _contents(plugin) == before


def test_try_by_a_script_needs_trust_before_anything_is_spent(
    plugin: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-scripted-0000")

    assert main(["new", *COMPLETE]) == 1

    error = capsys.readouterr().err
    assert "is not a trusted plugin directory" in error
    assert "pass --trust-plugin, or --no-try" in error


def test_what_cannot_be_written_whole_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(EvalError):
        write_new_directory(tmp_path / "new", {"a": "x", "a/b": "a file cannot hold another"})

    assert list(tmp_path.iterdir()) == []
