"""Agent sessions with the least around them: ``bare_agents.py AGENT PLUGIN SESSIONS JOBS``.

As many sessions with the plugin as without it, a few at once, each in a new directory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

_PROMPT = b"Greet colleague number 1 and write down what you said."
_ARGUMENTS = (
    "-p", "--output-format", "stream-json", "--verbose", "--max-turns", "5",
    "--permission-mode", "dontAsk", "--setting-sources", "user", "--strict-mcp-config",
    "--no-session-persistence", "--tools", "Read,Glob,Grep,Skill,Write",
)  # fmt: skip


def session(agent: str, plugin: str, number: int) -> None:
    """Run one session to its end; every other one has the plugin."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        loaded = ["--plugin-dir", plugin] if number % 2 else []
        Path(home, "workspace").mkdir()
        subprocess.run(
            [agent, *_ARGUMENTS, *loaded],
            input=_PROMPT,
            stdout=subprocess.DEVNULL,
            cwd=f"{home}/workspace",
            env={**os.environ, "HOME": home, "CLAUDE_CONFIG_DIR": f"{home}/config"},
            check=True,
        )


def main(agent: str, plugin: str, sessions: int, jobs: int) -> None:
    """Run the sessions of both arms."""
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        list(pool.map(partial(session, agent, plugin), range(2 * sessions)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
