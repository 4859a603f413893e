"""Fixtures that a conftest takes over by importing them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.schemas import check_document
from tests.support.scripted_api import ScriptedApi

DOCUMENT = "aggregate-result.json"


@pytest.fixture
def scripted_api() -> Iterator[Callable[[object], ScriptedApi]]:
    """Return a function that starts a scripted Messages API; all are closed after the test."""
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(ScriptedApi(script))


@pytest.fixture(autouse=True)
def written_documents(tmp_path: Path) -> Iterator[None]:
    """Check every result document that the test's sessions wrote by its schema."""
    yield
    # `Path.rglob` fails where a run's directory is being removed, which backends do meanwhile.
    walked = (Path(directory) for directory, _, files in os.walk(tmp_path) if DOCUMENT in files)
    for directory in walked:
        text = (directory / DOCUMENT).read_text(encoding="utf-8")
        # Some tests write documents of their own, of the reference or broken.
        if '"harness": {\n    "name": "pytest-plugin-eval",\n    "version": "0' in text:
            check_document(json.loads(text))
