"""Backends that produce run records: the real agent, or saved recordings."""
