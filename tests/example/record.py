"""Renew the recordings of `example_plugin`: the real agent binary against the scripted model.

Run in the root of the repository: `python -m tests.example.record`. The records are made from a
copy at a neutral place, with an environment of their own, so that nothing in them tells of the
machine. The one thing done to them afterwards is `neutral`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.example.script import example_script
from tests.support.reference import base_environment
from tests.support.scripted_api import ScriptedApi

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "example_plugin"
STAGE = Path("/tmp/plugin-eval-example")  # noqa: S108  # stands in every record, so it is fixed
MODEL = "scripted-model"
_TOKEN = {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-scripted-0000"}
"""A sign-in with which the agent binary judges: it puts a price on any model, as on the runs."""

_HEX = "[0-9a-f]"
_IDENTIFIERS = (
    (
        re.compile(rf"\b{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}\b"),
        "00000000-0000-4000-8000-{:012d}",
    ),
    (re.compile(rf"\ba{_HEX}{{16}}\b"), "a{:016d}"),  # subagents
)
_VOLATILE = (
    (re.compile(rf"\beval-{_HEX}{{8}}-[0-9]+\b"), "eval-00000000-1"),  # the run's directory
    (re.compile(r"\b[0-9]+\.sock\b"), "1.sock"),  # named after the process
    (re.compile(r"/claude-[0-9]+/"), "/claude-1000/"),  # and this after the user's number
    (re.compile(r"\b20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"), "2000-01-01T00:00:00.000Z"),
    (re.compile(r'("(?:[a-z_]+_ms|[a-zA-Z]+Ms|end_time)":)[0-9]+'), r"\g<1>0"),
    (re.compile(r"(duration_ms: )[0-9]+"), r"\g<1>0"),  # in what a subagent hands back
    (re.compile(r'("run_id":)"[^"]*"'), r'\g<1>"0"'),
)


def main() -> int:
    """Record every case afresh and put the records in the place of the old ones."""
    shutil.rmtree(STAGE, ignore_errors=True)
    try:
        status = _record()
        if status == 0:
            _take_over()
    finally:
        shutil.rmtree(STAGE, ignore_errors=True)
    return status


def _record() -> int:
    staged = STAGE / EXAMPLE.name
    shutil.copytree(
        EXAMPLE,
        staged,
        ignore=shutil.ignore_patterns("results", "recordings", "__pycache__", ".*_cache"),
    )
    home = STAGE / "operator"
    (home / "tmp").mkdir(parents=True)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "evals"]
    command.append("--trust-plugin")
    command += [
        "--eval-mode",
        "record",
        "--eval-model",
        MODEL,
        "--eval-judge-model",
        MODEL,
        "--eval-run-root",
        str(STAGE / "runs"),
    ]
    with ScriptedApi(example_script(staged)) as api:
        env = {**base_environment(api.url, home), **_TOKEN, "TZ": "UTC", "PATH": _path()}
        return subprocess.run(command, cwd=staged, env=env, check=False).returncode


def _path() -> str:
    """Return a search path that still finds the agent, were it installed for the user alone."""
    return os.environ.get("PATH", os.defpath)


def _take_over() -> None:
    made, kept = STAGE / EXAMPLE.name / "evals/recordings", EXAMPLE / "evals/recordings"
    shutil.rmtree(kept, ignore_errors=True)
    for path in sorted(made.rglob("*.jsonl")):
        target = kept / path.relative_to(made)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(neutral(path.read_text(encoding="utf-8")), encoding="utf-8")


def neutral(record: str) -> str:
    """Return the record with random identifiers counted through, and times set to nothing.

    Otherwise every renewal would change every line of every file, and the one that matters could
    not be seen. The first line stays as it is: it says when and how the run was made.
    """
    head, _, rest = record.partition("\n")
    for pattern, form in _VOLATILE:
        rest = pattern.sub(form, rest)
    for pattern, form in _IDENTIFIERS:
        rest = pattern.sub(_counter(form), rest)
    return f"{head}\n{rest}"


def _counter(form: str) -> Callable[[re.Match[str]], str]:
    seen: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        return seen.setdefault(found[0], form.format(len(seen) + 1))

    return number


if __name__ == "__main__":
    sys.exit(main())
