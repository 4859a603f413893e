"""Where links into a page lead: one place for each case, run and grader."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable
from functools import lru_cache
from urllib.parse import quote

from pytest_plugin_eval.scoring.model import CaseResult, RunReport
from pytest_plugin_eval.text import without_surrogates

__all__ = ["Anchors", "case_anchor"]

NAME_LENGTH = 200


@lru_cache(maxsize=1024)
def case_anchor(case: str) -> str:
    """Return the place of a case by its id.

    Only letters, digits and ``/ % _ . - ~``, so that it is the same as an attribute, in a link
    and in the browser's address. The page's own places have a colon.
    """
    return quote(without_surrogates(case), safe="/")


class Anchors:
    """The places of all cases; no two are the same.

    A case may lie in the directory of another one and be called ``with-2`` or ``grader``.
    """

    def __init__(self, cases: Iterable[CaseResult]) -> None:
        listed = tuple(cases)
        self._cases = {case_anchor(case.info.id) for case in listed}
        self._taken = self._cases | {_run_anchor(run) for case in listed for run in case.runs}

    def run(self, run: RunReport) -> str:
        """Return the place of a run: ``<case>/with-2``."""
        return _free(_run_anchor(run), self._cases, "+")

    def grader(self, case: str, grader: str) -> str:
        """Return the place of a grader: ``<case>/grader/<name>``."""
        name = quote(without_surrogates(grader), safe="")
        if len(name) > NAME_LENGTH:
            digest = hashlib.sha256(name.encode("ascii")).hexdigest()
            name = f"{name[:NAME_LENGTH]}.{digest[:16]}"
        return _free(f"{case_anchor(case)}/grader/{name}", self._taken, "++")


def _run_anchor(run: RunReport) -> str:
    return f"{case_anchor(run.key.case)}/{run.key.arm.value}-{run.key.number}"


def _free(anchor: str, taken: Container[str], end: str) -> str:
    """Return the place, with an *end* that no other kind of place has where it is taken."""
    return anchor + end if anchor in taken else anchor
