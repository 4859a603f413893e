"""Fixtures that a conftest takes over by importing them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.support.scripted_api import ScriptedApi


@pytest.fixture
def scripted_api() -> Iterator[Callable[[object], ScriptedApi]]:
    """Return a function that starts a scripted Messages API; all are closed after the test."""
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(ScriptedApi(script))
