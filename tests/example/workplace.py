"""A directory with a copy of the example, in which commands run as a reader of README runs them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pytest_plugin_eval.storage.trust import remember, trust_file, trust_root
from tests.example.markdown import ROOT
from tests.support.reference import base_environment

EXAMPLE = ROOT / "example_plugin"
NO_API = "http://127.0.0.1:9"
"""Nothing listens here: a replay that asked a model would fail."""


def copy_example(target: Path) -> Path:
    """Copy what of the example is committed, and return the copy."""
    ignored = shutil.ignore_patterns("results", "__pycache__", ".*_cache")
    return Path(shutil.copytree(EXAMPLE, target / EXAMPLE.name, ignore=ignored))


def _trust(cwd: Path, env: Mapping[str, str]) -> None:
    """Trust what lies here, as a reader does who was asked once."""
    places = (cwd, cwd / EXAMPLE.name)
    remember([trust_root(place) for place in places], trust_file(env))


def run_line(
    line: str,
    cwd: Path,
    *,
    api_url: str = NO_API,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 240.0,
) -> subprocess.CompletedProcess[str]:
    """Run a command line in `cwd` with the tools of this environment and nothing of the user's."""
    tools = str(Path(sys.executable).parent)
    path = os.pathsep.join((tools, os.environ.get("PATH", os.defpath)))
    program, *arguments = shlex.split(line)
    # Not below the plugin: what lies there, the agent must not write.
    with tempfile.TemporaryDirectory(prefix="operator-") as home:
        Path(home, "tmp").mkdir()
        own = {**base_environment(api_url, Path(home)), "PATH": path, "COLUMNS": "80"}
        _trust(cwd, own)
        return subprocess.run(
            [shutil.which(program, path=path) or program, *arguments],
            cwd=cwd,
            env={**own, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=timeout_s,
            check=False,
        )
