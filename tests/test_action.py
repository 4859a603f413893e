"""`action.yml`: its scripts run here as they do on GitHub, on the example's recorded runs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.example.markdown import ROOT
from tests.example.workplace import copy_example
from tests.support.action import ACTION, DEFAULTS, FILE, SCRIPTS, STEPS, Job

INSTALL, RUN, SUMMARY = "Install", "Run the evals", "Write the summary"
COMMENT, EXIT = "Comment on the pull request", "Exit as pytest did"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"uses: ([\w./-]+)@([0-9a-f]{40}) # (v[\d.]+)$", re.M)
CASE = "evals/undo-last-commit"

# Writes down how it was called, and does nothing; scripts of the action itself are run.
PYTHON = f"""#!{sys.executable}
import json, os, sys
if sys.argv[1] == "-c":
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
with open("called.json", "w") as file:
    json.dump({{"argv": sys.argv[1:], "env": dict(os.environ)}}, file)
print("::error::said by a model")
"""
# Answers with the comments that it is told of, and writes down what it was asked for.
GH = f"""#!{sys.executable}
import json, os, pathlib, sys
with open("asked.jsonl", "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
if "--paginate" in sys.argv:
    print(pathlib.Path("comments.json").read_text())
elif "POST" in sys.argv or "PATCH" in sys.argv:
    sys.exit(int(os.environ.get("GH_STATUS", "0")))
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a copy of the example, in which a job runs."""
    return copy_example(tmp_path)


def stand_in(place: Path, name: str, text: str) -> dict[str, str]:
    """Return an environment in which a program is replaced."""
    folder = place.parent / "bin"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{Path(sys.executable).parent}:/usr/bin:/bin"}


def called(place: Path) -> tuple[list[str], dict[str, str]]:
    found = json.loads((place / "called.json").read_text(encoding="utf-8"))
    return found["argv"], found["env"]


def test_inputs_are_never_part_of_a_script() -> None:
    assert [name for name, step in SCRIPTS.items() if "${{" in str(step["run"])] == []


@pytest.mark.parametrize("file", [FILE, *WORKFLOWS], ids=lambda file: file.name)
def test_actions_are_pinned_by_hash(file: Path) -> None:
    text = file.read_text(encoding="utf-8")

    used = [use for use in re.findall(r"uses: (\S+)", text) if use != "./"]

    assert used
    assert [name for name, _, _ in PINNED.findall(text)] == [use.split("@")[0] for use in used]


def test_an_action_has_one_hash() -> None:
    hashes: dict[str, set[str]] = {}
    for path in (FILE, *WORKFLOWS):
        for name, pin, _ in PINNED.findall(path.read_text(encoding="utf-8")):
            hashes.setdefault(name, set()).add(pin)

    assert {name for name, pins in hashes.items() if len(pins) > 1} == set()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("zizmor", ["--offline", "--no-progress", "action.yml", ".github/workflows"]),
        ("check-jsonschema", ["--builtin-schema", "vendor.github-actions", "action.yml"]),
        (
            "check-jsonschema",
            ["--builtin-schema", "vendor.github-workflows", *map(str, WORKFLOWS)],
        ),
    ],
    ids=["zizmor", "action schema", "workflow schema"],
)
def test_linters_find_nothing(tool: str, arguments: Sequence[str]) -> None:
    program = shutil.which(tool, path=str(Path(sys.executable).parent))
    assert program, f"{tool} comes with the extra `test`"

    done = subprocess.run(
        [program, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_replay_of_the_example_passes_and_leaves_its_files(place: Path) -> None:
    job = Job(place=place, inputs={"paths": CASE})

    ran, told, ended = (job.step(name) for name in (RUN, SUMMARY, EXIT))

    assert (ran.returncode, told.returncode, ended.returncode) == (0, 0, 0), ran.stdout
    assert job.outputs["status"] == "0"
    kept = Path(job.outputs["directory"])
    for file in ("results/aggregate-result.json", "results/report.html", "junit.xml", "results.md"):
        assert (kept / file).is_file(), file
    assert "### Evals of git-scribe: passed" in job.summary
    assert "| undo-last-commit | passed | 1.00 | 1.00 | 0.00 | 6 |" in job.summary
    assert job.summary.endswith("pytest ended with exit status 0.\n")


@pytest.mark.parametrize(
    ("inputs", "status", "told"),
    [
        ({"paths": "evals/one-line-no-prefix", "threshold": "1"}, 1, "failed"),
        ({"paths": CASE, "min-composite": "99"}, 1, "| undo-last-commit | passed |"),
        ({"paths": CASE, "args": "-k nothing"}, 5, ""),
        ({"paths": CASE, "runs": "many"}, 4, ""),
        ({"paths": CASE, "args": "--no-such-option"}, 4, ""),
        ({"paths": CASE, "args": "--eval-mode live"}, 4, ""),  # nobody trusts the plugin
    ],
    ids=["below threshold", "below composite", "no case", "bad input", "bad option", "no trust"],
)
def test_action_ends_as_pytest_does(
    place: Path, inputs: dict[str, str], status: int, told: str
) -> None:
    job = Job(place=place, inputs=inputs)

    ran, summarised, ended = (job.step(name) for name in (RUN, SUMMARY, EXIT))

    assert ran.returncode == summarised.returncode == 0, ran.stdout + summarised.stdout
    assert job.outputs["status"] == str(status), ran.stdout
    assert ended.returncode == status
    assert told in job.summary
    assert job.summary.endswith(f"pytest ended with exit status {status}.\n")


def test_several_suites_are_all_in_the_summary(place: Path) -> None:
    shutil.copytree(place, place / "second", ignore=shutil.ignore_patterns("second"))
    paths = f"{CASE}\nsecond/{CASE}\n"
    job = Job(place=place, inputs={"paths": paths, "args": "--eval-threshold=0.75"})

    job.step(RUN)
    job.step(SUMMARY)

    assert job.summary.count("### Evals of git-scribe: passed") == 2


def test_document_that_cannot_be_read_is_told(place: Path) -> None:
    job = Job(place=place, inputs={"paths": CASE}, env=stand_in(place, "python", PYTHON))
    job.step(RUN)
    broken = Path(job.outputs["directory"], "results", "aggregate-result.json")
    broken.parent.mkdir()
    broken.write_text("{", encoding="utf-8")

    assert job.step(SUMMARY).returncode == 0
    assert "Results that cannot be shown: see the log." in job.summary


def test_step_that_was_broken_off_fails_the_action(place: Path) -> None:
    assert Job(place=place).step(EXIT).returncode == 1


@pytest.mark.parametrize("name", sorted(set(DEFAULTS) - {"python-version", "comment"}))
def test_input_is_taken_for_a_word_whatever_it_holds(name: str, place: Path) -> None:
    attack = "x'\"; touch made; $(touch made) `touch made` ${IFS} && touch made #"
    env = stand_in(place, "python", PYTHON)
    stand_in(place, "gh", GH)
    (place / "comments.json").write_text("[[]]", encoding="utf-8")
    job = Job(place=place, inputs={name: attack}, env=env, context={"github.token": "t"})

    for step in (INSTALL, RUN, SUMMARY, COMMENT, EXIT):
        job.step(step)

    assert not (place / "made").exists()


def test_inputs_become_options_of_pytest(place: Path) -> None:
    inputs = {
        "paths": "evals/a\n\nevals/b c\n",
        "max-cost-usd": "2.5",
        "threshold": "0.8",
        "min-composite": "60",
        "runs": "4",
        "model": "a model",
        "judge-model": "haiku",
        "shard": "2/4",
        "trust-plugin": "true",
        "args": "-m 'smoke and not slow'",
    }
    job = Job(place=place, inputs=inputs, env=stand_in(place, "python", PYTHON))

    assert job.step(RUN).returncode == 0

    argv, env = called(place)
    directory = job.outputs["directory"]
    assert argv == [
        "-m",
        "pytest",
        f"--eval-results-dir={directory}/results",
        f"--junitxml={directory}/junit.xml",
        "--eval-max-cost-usd=2.5",
        "--eval-threshold=0.8",
        "--eval-min-composite=60",
        "--eval-runs=4",
        "--eval-model=a model",
        "--eval-judge-model=haiku",
        "--eval-shard=2/4",
        "--trust-plugin",
        "evals/a",
        "evals/b c",
    ]
    assert env["PYTEST_ADDOPTS"].strip() == "-m 'smoke and not slow'"


def test_by_default_there_is_a_ceiling_and_no_trust(place: Path) -> None:
    Job(place=place, env=stand_in(place, "python", PYTHON)).step(RUN)

    argv, env = called(place)
    assert argv[4:] == ["--eval-max-cost-usd=5", "evals"]
    assert not {"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"} & {
        name for name, value in env.items() if not value
    }


def test_credentials_reach_the_evals_alone(place: Path) -> None:
    inputs = {"anthropic-api-key": "sk-secret", "claude-code-oauth-token": "token-secret"}
    job = Job(place=place, inputs=inputs, env=stand_in(place, "python", PYTHON))

    ran = job.step(RUN)

    _, env = called(place)
    assert (env["ANTHROPIC_API_KEY"], env["CLAUDE_CODE_OAUTH_TOKEN"]) == tuple(inputs.values())
    assert [name for name in env if name.startswith("EVAL_") and "secret" in env[name]] == []
    assert "secret" not in ran.stdout
    holders = [
        step["name"] for step in STEPS if "api-key" in json.dumps(step) or "oauth" in str(step)
    ]
    assert holders == [RUN]


def test_job_without_the_input_keeps_its_own_credential(place: Path) -> None:
    env = {**stand_in(place, "python", PYTHON), "ANTHROPIC_API_KEY": "of the job"}

    Job(place=place, env=env).step(RUN)

    assert called(place)[1]["ANTHROPIC_API_KEY"] == "of the job"


def test_line_of_a_model_is_no_command_to_the_runner(place: Path) -> None:
    job = Job(place=place, env=stand_in(place, "python", PYTHON))

    lines = [line for line in job.step(RUN).stdout.splitlines() if line.startswith("::")]

    pause = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", lines[0])
    assert pause
    assert lines[1:] == ["::error::said by a model", f"::{pause[1]}::"]


@pytest.mark.parametrize(("name", "step"), [("paths", RUN), ("package", INSTALL)])
def test_option_among_paths_or_requirements_is_refused(name: str, step: str, place: Path) -> None:
    job = Job(place=place, inputs={name: "a\n--b"}, env=stand_in(place, "python", PYTHON))

    done = job.step(step)

    assert done.returncode == 4
    assert f"::error::{name}: expected" in done.stdout
    assert not (place / "called.json").exists()


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ("", [f"{ROOT}[judge,mocks,claude]"]),
        ("pytest-plugin-eval[all]==1.0\npytest-html >= 4\n", None),
    ],
    ids=["beside the action", "named"],
)
def test_what_is_installed(package: str, expected: list[str] | None, place: Path) -> None:
    job = Job(place=place, inputs={"package": package}, env=stand_in(place, "python", PYTHON))

    assert job.step(INSTALL).returncode == 0

    argv, _ = called(place)
    assert argv[:3] == ["-m", "pip", "install"]
    assert argv[5:] == (expected or package.splitlines())


def commented(place: Path, comments: object, **env: str) -> tuple[str, list[list[str]], str]:
    """Comment beside earlier comments; return what was printed, asked for, and the body."""
    (place / "comments.json").write_text(json.dumps(comments), encoding="utf-8")
    directory = place.parent / "kept"
    directory.mkdir(exist_ok=True)
    (directory / "results.md").write_text("### Evals of x: passed\n\nΔ\n", encoding="utf-8")
    context = {
        "github.token": "t",
        "github.event.pull_request.number": "12",
        "steps.artifact.outputs.artifact-url": "https://github.invalid/a",
    }
    job = Job(place=place, env={**stand_in(place, "gh", GH), **env}, context=context)
    (job.runner / "output").write_text(f"directory={directory}\n", encoding="utf-8")
    (place / "asked.jsonl").unlink(missing_ok=True)
    done = job.step(COMMENT)
    assert done.returncode == 0, done.stdout
    asked = [json.loads(line) for line in (place / "asked.jsonl").read_text("utf-8").splitlines()]
    return done.stdout, asked, (directory / "comment.md").read_text("utf-8")


def test_first_comment_is_new_and_the_next_ones_replace_it(place: Path) -> None:
    other = {"id": 1, "user": {"login": "somebody"}, "body": "### Evals"}

    _, asked, body = commented(place, [[other]])

    posted = "repos/org/repo/issues/12/comments"
    assert asked[1][:5] == ["api", "--silent", "--method", "POST", posted]
    assert body.startswith("<!-- pytest-plugin-eval ")
    assert "### Evals of x: passed" in body
    assert "(https://github.invalid/a)" in body

    forged = {"id": 2, "user": {"login": "somebody"}, "body": body}
    gone = {"id": 3, "user": None, "body": body}
    ours = {"id": 4, "user": {"login": "github-actions[bot]"}, "body": body}
    elsewhere = {**ours, "id": 5, "body": "<!-- pytest-plugin-eval 0123456789abcdef -->"}
    _, asked, _ = commented(place, [[other, forged, gone], [elsewhere, ours, {**ours, "id": 6}]])

    assert asked[1][:5] == [
        "api",
        "--silent",
        "--method",
        "PATCH",
        "repos/org/repo/issues/comments/4",
    ]
    assert asked[1][5:] == ["--field", f"body=@{place.parent}/kept/comment.md"]


def test_comment_that_is_refused_fails_nothing(place: Path) -> None:
    printed, _, _ = commented(place, [[]], GH_STATUS="1")

    assert "::warning::the table could not be commented" in printed
    assert "pull-requests: write" in printed


def test_comments_are_made_on_pull_requests_alone() -> None:
    condition = next(str(step["if"]) for step in STEPS if step["name"] == COMMENT)

    assert "github.event_name == 'pull_request'" in condition
    assert "inputs.comment == 'true'" in condition


def test_results_are_kept_whatever_they_are() -> None:
    after = [step for step in STEPS if step["name"] not in (INSTALL, RUN, "Set up Python")]

    assert [step["name"] for step in after if "always()" not in str(step["if"])] == []
    assert after[-1]["name"] == EXIT


def test_every_input_has_a_description_and_a_use() -> None:
    text = FILE.read_text(encoding="utf-8")

    assert [name for name, one in ACTION["inputs"].items() if not one.get("description")] == []
    assert [name for name in DEFAULTS if f"inputs.{name}" not in text.partition("\nruns:")[2]] == []
