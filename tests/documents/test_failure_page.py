"""The page on failures names every cause, in the order in which they are told, by its words."""

from __future__ import annotations

import re

from pytest_plugin_eval.reports.causes import TITLES
from pytest_plugin_eval.scoring.causes import CauseKind
from tests.example.markdown import ROOT

PAGE = ROOT / "docs" / "how-to" / "read-a-failure.md"


def test_every_cause_is_explained_in_the_order_of_its_weight() -> None:
    told = re.findall(r"^\| `([^`]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert told == [TITLES[kind] for kind in CauseKind]
