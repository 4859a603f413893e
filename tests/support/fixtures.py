"""Fixtures that a conftest takes over by importing them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.schemas import check_document
from tests.support.scripted_api import ScriptedApi


@pytest.fixture
def scripted_api() -> Iterator[Callable[[object], ScriptedApi]]:
    """Return a function that starts a scripted Messages API; all are closed after the test."""
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(ScriptedApi(script))


@pytest.fixture(autouse=True)
def written_documents(tmp_path: Path) -> Iterator[None]:
    """Check every result document that the test's sessions wrote by its schema."""
    yield
    for path in tmp_path.rglob("aggregate-result.json"):
        text = path.read_text(encoding="utf-8")
        # Some tests write documents of their own, of the reference or broken.
        if '"harness": {\n    "name": "pytest-plugin-eval",\n    "version": "0' in text:
            check_document(json.loads(text))
