"""Tests of pytest-plugin-eval."""
