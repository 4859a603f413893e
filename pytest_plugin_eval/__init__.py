"""Measure whether a Claude Code plugin does any good, inside pytest."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
