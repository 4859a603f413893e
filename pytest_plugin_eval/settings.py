"""The settings of a session: plain values, checked once, handed to every layer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

__all__ = ["Ablation", "Depth", "Mocks", "Mode", "Settings"]


class Mode(StrEnum):
    """Where the records of a session come from."""

    LIVE = "live"
    RECORD = "record"
    REPLAY = "replay"


class Mocks(StrEnum):
    """What stands in for MCP servers."""

    RECORD = "record"
    """The suite's mocks; answers by a model are recorded."""
    OFF = "off"
    """Nothing: the plugins' own servers start."""


class Ablation(StrEnum):
    """Which arms are run."""

    NONE = "none"
    WITH_WITHOUT = "with-without"


class Depth(StrEnum):
    """Which layers of the quality score run; each depth holds those before it."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"
    THOROUGH = "thorough"


# Made in each session of the environment: methods that nobody calls take a third of the time.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Settings:
    """Everything the user chose; ``None`` means not chosen.

    Checked by `pytest_side.options`, so that inner code can trust the values. Names follow the
    options of the product contract: ``--eval-max-cost-usd`` is `max_cost_usd`.
    """

    runs: int | None = None
    ablation: Ablation | None = None
    """``None``: both arms when a plugin resolves for the case, else one."""
    threshold: float = 1.0
    min_delta: float | None = None
    model: str | None = None
    judge_model: str | None = None
    mode: Mode = Mode.LIVE
    from_dir: Path | None = None
    max_cost_usd: float | None = None
    allow_tools: tuple[str, ...] = ()
    disallow_tools: tuple[str, ...] = ()
    eval_dir: str | None = None
    """Normalised relative path; ``None``: the manifest's, else ``evals``. Spec: 2.7."""
    results_dir: Path | None = None
    json_path: Path | None = None
    report_only: bool = False
    scaffold: bool = False
    """Run the cases' ``scaffold_script``: code of their authors, as the user."""
    keep_temp: bool = False
    concurrency: int = 1
    grader_timeout_s: float = 10.0
    retries: int = 1
    """Repetitions of a run that was not measured (deviations, D1)."""
    retry_pause_s: float = 5.0
    """Before the first repetition; doubled for each further one."""
    resume_dir: Path | None = None
    judge_votes: int = 3
    mocks: Mocks = Mocks.RECORD
    real_servers: bool = False
    """Start the servers that a plugin declares and that have no mock."""
    trust: bool = False
    """The user asserts trust in the plugins' directories."""
    free_only: bool = False
    depth: Depth = Depth.QUICK
    """Of the composite score."""
    min_composite: float | None = None
    """0 to 100; below it the session fails."""
    score: bool = False
    """Collect skills as items."""
    html_path: Path | None = None
    junit_strict: bool = False
    """Keep the JUnit file within the schema of Jenkins' xUnit plugin."""
    report_path: Path | None = None
    """Where the page goes instead of the results directory; by ``plugin-eval run`` alone."""
    shard: tuple[int, int] = (1, 1)
    """This machine's part and the number of parts, from 1."""
    durations: Path | None = None
    """Saved results that say how long each case takes, to balance shards by."""
    agent_path: Path | None = None
    run_root: Path | None = None
    evals: bool = False
    """Opt-in of the spend rule: run live cases that no argument names."""
    case_glob: str | None = None
    tags: tuple[str, ...] = ()
    root: Path | None = None
    """Chosen by ``plugin-eval run``; ``None``: the nearest plugin of each eval directory."""
    plugin_id: str | None = None
    """Of the installed plugin that ``plugin-eval run`` was given by name."""
