"""Graders: pure functions from a specification and a record to a verdict."""
