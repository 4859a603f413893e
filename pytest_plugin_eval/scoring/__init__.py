"""Arithmetic: verdicts to run scores, run scores to case and suite results."""
