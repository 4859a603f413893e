"""The result document as `plugin-eval run` hands it out."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_plugin_eval.agents.binary import find_binary
from pytest_plugin_eval.cli.run_options import STDOUT, RunOptions
from pytest_plugin_eval.cli.target import Target
from pytest_plugin_eval.errors import AgentError
from pytest_plugin_eval.reports.document import document_text
from pytest_plugin_eval.scoring.aggregate import suite_result
from pytest_plugin_eval.scoring.model import SuiteInfo
from pytest_plugin_eval.storage.atomic_write import write_text

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.controller import EvalController

__all__ = ["document_of", "document_of_nothing", "hand_out"]


def document_of(controller: EvalController, target: Target, options: RunOptions) -> str:
    """Return the document of an ended session."""
    for suite in controller.suites:  # one, since there is one root
        return document_text(suite, quality=controller.quality.get(suite.info.root, ()))
    broken = [text for texts in controller.state.broken.values() for text in texts]
    errors = (*broken, *controller.state.loose)
    return document_of_nothing(target.root, options, plugin_id=target.plugin_id, load_errors=errors)


def document_of_nothing(
    root: Path,
    options: RunOptions,
    *,
    plugin_id: str | None = None,
    load_errors: tuple[str, ...] = (),
) -> str:
    """Return the document of a session without a run."""
    info = SuiteInfo(
        root=str(root),
        plugin_id=plugin_id,
        eval_dir="",
        ablation=options.ablation or "none",
        threshold=1.0 if options.threshold is None else options.threshold,
        concurrency=options.concurrency,
        mode="live",
        model=options.model,
        judge_model=options.judge_model,
        case_filter=options.case,
        tag_filters=options.tag,
        claude_version=_agent_version() if options.json else "",
        started_at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.000Z}",
    )
    return document_text(suite_result(info, [], partial_reason=None, load_errors=load_errors))


def _agent_version() -> str:
    try:
        return find_binary(None, os.environ).version
    except AgentError:
        return ""


def hand_out(document: str, options: RunOptions) -> None:
    """Print the document, or write it and say so, if it was asked for."""
    if options.json is None:
        return
    if options.json == STDOUT:
        click.echo(document, nl=False)
        return
    path = Path(options.json)
    try:
        write_text(path, document)
    except OSError as error:
        raise click.ClickException(f"--json: {path} cannot be written: {error.strerror}") from None
    click.echo(f"Wrote {options.json}")
