"""Suites run by the reference command and by ours against one script; results are compared."""
