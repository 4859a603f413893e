"""Quality scores read back from a result document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_plugin_eval.quality.model import QualityReport
from pytest_plugin_eval.reports.document import document_text
from pytest_plugin_eval.results.rebuilt import rebuilt_suite
from pytest_plugin_eval.results.rebuilt_quality import joined_quality, rebuilt_quality
from pytest_plugin_eval.results.saved_document import SavedDocument, parse_document
from tests.support import quality
from tests.support.results import mixed_suite


def _document(scores: Sequence[QualityReport] | None) -> tuple[str, SavedDocument]:
    text = document_text(mixed_suite(), quality=scores)
    return text, parse_document(text, "a document")


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param(None, id="not asked for"),
        pytest.param((), id="none could be scored"),
        pytest.param((quality.plugin(),), id="a plugin"),
        pytest.param((quality.report(),), id="a skill"),
        pytest.param((quality.deep(),), id="all layers"),
        pytest.param((quality.plugin(), quality.flagged()), id="several"),
        pytest.param((replace(quality.plugin(), cost_usd=0.25),), id="paid for"),
        pytest.param((replace(quality.plugin(), cost_usd=None),), id="of unknown cost"),
        pytest.param((replace(quality.plugin(), problems=("demo: unread",)),), id="with notes"),
    ],
)
def test_document_of_rebuilt_scores_is_the_same(scores: Sequence[QualityReport] | None) -> None:
    text, document = _document(scores)

    again = document_text(rebuilt_suite(document), quality=rebuilt_quality(document))

    assert again == text


def test_plugins_of_several_sessions_stand_once_and_their_costs_add_up() -> None:
    paid = replace(quality.plugin(), cost_usd=0.25)
    documents = [_document(scores)[1] for scores in ((paid,), (paid, quality.flagged()), None)]

    found = joined_quality(documents)

    assert found is not None
    assert [report.name for report in found] == ["demo-kit", "tangled"]
    assert [report.cost_usd for report in found] == [0.5, 0.0]


def test_sessions_without_scores_have_none_together() -> None:
    assert joined_quality([_document(None)[1]]) is None
    assert joined_quality([_document(())[1], _document(None)[1]]) == ()
