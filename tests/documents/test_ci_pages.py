"""The pages on CI services: what they show is valid there, and its commands do what they say."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.example.markdown import ROOT, blocks
from tests.example.workplace import copy_example, run_line
from tests.support.action import ACTION, Job

HOW_TO = ROOT / "docs" / "how-to"
WORKFLOWS = [
    pytest.param(block.text, id=f"{page.stem}-{number}")
    for page in (HOW_TO / "ci-github.md", ROOT / "docs" / "tutorial.md")
    for number, block in enumerate(blocks(page.read_text(encoding="utf-8"), "yaml"), 1)
]
OURS = "pytest-plugin-eval/pytest-plugin-eval@"
INSTALLS = re.compile(r"^(?:\.venv/bin/)?(?:python -m )?(?:pip install|venv \.venv)\b")
"""Commands that are not run here: they would fetch the package from an index."""


def shown(page: str, language: str) -> str:
    [block] = blocks((HOW_TO / page).read_text(encoding="utf-8"), language)
    return block.text


def inputs(workflow: str) -> Iterator[str]:
    """Yield the inputs that the action is given."""
    for job in yaml.safe_load(workflow)["jobs"].values():
        for step in job["steps"]:
            if step.get("uses", "").startswith(OURS):
                yield from step["with"]


def checked(tool: str, *arguments: str) -> str:
    """Run a linter that comes with the extra `test` and return what it finds, "" for nothing."""
    program = shutil.which(tool, path=str(Path(sys.executable).parent))
    assert program, tool
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_workflow_is_valid_and_safe(workflow: str, tmp_path: Path) -> None:
    file = tmp_path / ".github" / "workflows" / "evals.yml"
    file.parent.mkdir(parents=True)
    file.write_text(workflow, encoding="utf-8")

    assert not checked("check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(file))
    assert not checked("zizmor", "--offline", "--no-progress", str(file))


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_workflow_uses_the_action_as_it_is(workflow: str) -> None:
    asked = set(inputs(workflow))

    assert asked
    assert asked <= set(ACTION["inputs"])


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_workflow_pins_what_this_repository_pins(workflow: str) -> None:
    files = (ROOT / "action.yml", ROOT / ".github" / "workflows" / "ci.yml")
    known = {line.strip() for file in files for line in file.read_text("utf-8").splitlines()}
    lines = [
        line.strip().removeprefix("- ")
        for line in workflow.splitlines()
        if "uses: " in line and OURS not in line
    ]

    assert lines
    assert set(lines) <= {line.removeprefix("- ") for line in known}


def test_merging_job_gives_the_results_of_one_session(tmp_path: Path) -> None:
    plugin = copy_example(tmp_path)
    [workflow] = [one.values[0] for one in WORKFLOWS if "plugin-eval merge" in str(one.values[0])]
    jobs = yaml.safe_load(str(workflow))["jobs"]
    [script] = [step["run"] for step in jobs["merged"]["steps"] if "merge" in step.get("run", "")]
    for part in (1, 2):
        job = Job(place=plugin, inputs={"shard": f"{part}/2", "args": "--eval-runs 1"})
        assert job.step("Run the evals").returncode == 0
        # As the artifact of that name is unpacked.
        shutil.move(job.outputs["directory"], plugin / "parts" / f"evals-{part}")
        shutil.rmtree(job.runner)

    line = f"bash -e -c '{script}'"
    summary = tmp_path / "summary.md"
    done = run_line(line, plugin, env={"GITHUB_STEP_SUMMARY": str(summary)})

    # One run an arm: some case stays below the threshold, and the status says so.
    assert done.returncode in (0, 1), done.stdout
    assert f"exit status {done.returncode}" in done.stdout
    assert re.search(r"^- 10 cases", summary.read_text("utf-8"), re.M)
    assert (plugin / "merged" / "report.html").is_file()


def test_gitlab_job_is_valid(tmp_path: Path) -> None:
    file = tmp_path / ".gitlab-ci.yml"
    file.write_text(shown("ci-gitlab.md", "yaml"), encoding="utf-8")

    assert not checked("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", str(file))


def test_gitlab_job_leaves_what_it_keeps(tmp_path: Path) -> None:
    plugin = copy_example(tmp_path)
    job = yaml.safe_load(shown("ci-gitlab.md", "yaml"))["evals"]
    lines = [*job["before_script"], *job["script"], *job["after_script"]]

    done = [run_line(line, plugin) for line in lines if not INSTALLS.match(line)]

    assert [one.returncode for one in done] == [0, 0], "".join(one.stdout for one in done)
    assert "### Evals of git-scribe: passed" in done[-1].stdout
    kept = [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]
    assert [name for name in kept if not (plugin / name).exists()] == []
    assert (plugin / "results" / "report.html").is_file()


def test_jenkins_pipeline_leaves_what_it_keeps(tmp_path: Path) -> None:
    plugin = copy_example(tmp_path)
    pipeline = shown("ci-jenkins.md", "groovy")
    scripts = re.findall(r"sh '''(.*?)'''", pipeline, re.S)
    lines = [line.strip() for script in scripts for line in script.strip().splitlines()]

    done = [
        run_line(line.removeprefix(".venv/bin/"), plugin)
        for line in lines
        if not INSTALLS.match(line)
    ]

    assert [one.returncode for one in done] == [0, 0], "".join(one.stdout for one in done)
    [results] = re.findall(r"testResults: '([^']*)'", pipeline)
    [artifacts] = re.findall(r"artifacts: '([^']*)'", pipeline)
    assert [name for name in [results, *artifacts.split(", ")] if not any(plugin.glob(name))] == []
    assert pipeline.count("{") == pipeline.count("}")


def test_commands_that_are_not_run_are_installations() -> None:
    scripts = yaml.safe_load(shown("ci-gitlab.md", "yaml"))["evals"]["before_script"]
    scripts += re.findall(r"^ +(\S*python .*)$", shown("ci-jenkins.md", "groovy"), re.M)

    assert [line for line in scripts if not INSTALLS.match(line)] == []
