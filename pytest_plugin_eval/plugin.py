"""The pytest11 entry point of pytest-plugin-eval."""

from __future__ import annotations
