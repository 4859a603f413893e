"""Where links into a page lead: one place for each case, run and grader."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from urllib.parse import quote

from pytest_plugin_eval.scoring.model import CaseResult, RunReport
from pytest_plugin_eval.text import without_surrogates

__all__ = ["Anchors", "case_anchor"]

NAME_LENGTH = 200


def case_anchor(case: str) -> str:
    """Return the place of a case by its id.

    Only letters, digits and ``/ % _ . - ~``, so that it is the same as an attribute, in a link
    and in the browser's address. The page's own places have a colon.
    """
    return quote(without_surrogates(case), safe="/")


class Anchors:
    """The places of all cases; no two are the same.

    A case may lie in the directory of another one and be called ``with-2``.
    """

    def __init__(self, cases: Iterable[CaseResult]) -> None:
        self._taken = {case_anchor(case.info.id) for case in cases}

    def run(self, run: RunReport) -> str:
        """Return the place of a run: ``<case>/with-2``."""
        return self._free(f"{case_anchor(run.key.case)}/{run.key.arm.value}-{run.key.number}")

    def grader(self, case: str, grader: str) -> str:
        """Return the place of a grader: ``<case>/grader/<name>``."""
        name = quote(without_surrogates(grader), safe="")
        if len(name) > NAME_LENGTH:
            digest = hashlib.sha256(name.encode("ascii")).hexdigest()
            name = f"{name[:NAME_LENGTH]}.{digest[:16]}"
        return self._free(f"{case_anchor(case)}/grader/{name}")

    def _free(self, anchor: str) -> str:
        while anchor in self._taken:
            anchor += "~"
        return anchor
