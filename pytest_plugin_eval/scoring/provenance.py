"""When and with what the runs of a suite were made, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_plugin_eval.scoring.model import RunReport
from pytest_plugin_eval.text import plural

__all__ = ["plugin_words", "provenance_of", "recorded_words", "words"]


def recorded_words(runs: Iterable[RunReport]) -> str:
    """Return when and with what the replayed records were made."""
    listed = [run for run in runs if run.provenance]  # what could not be used has none
    if not listed:
        return "no recorded run could be used"
    dates = sorted(
        {run.provenance["recorded_at"][:10] for run in listed if "recorded_at" in run.provenance}
    )
    when = " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "at an unknown time"
    models = words(provenance_of(listed, "model")) or "an unknown model"
    version = words(provenance_of(listed, "claude_version")) or "unknown"
    text = f"{plural(len(listed), 'run')} recorded {when} with {models}, Claude Code {version}"
    changed = sum("plugin_changed" in run.provenance for run in listed)
    if changed:
        text += f"; the plugin's files have changed since {plural(changed, 'run')} of these"
    return text


def plugin_words(plugins: Iterable[Mapping[str, str]]) -> str:
    """Return names and versions of plugins."""
    return ", ".join(f"{one.get('name', '')} {one.get('version', '')}".strip() for one in plugins)


def provenance_of(runs: Iterable[RunReport], name: str) -> frozenset[str]:
    """Return the values that a field of the provenance has in some runs."""
    return frozenset(value for run in runs if (value := run.provenance.get(name)))


def words(values: Iterable[str | None]) -> str:
    """Return the values, each once, in order; without those that are empty."""
    return ", ".join(sorted({value for value in values if value}))
