"""Sessions that write no page of their results, to be compared with those that do."""

from __future__ import annotations

from pytest_plugin_eval.pytest_side import results

__all__: list[str] = []


def _write_nothing(*_: object, several: bool) -> None:
    """Take the place of what writes pages."""


vars(results)["write_pages"] = _write_nothing
