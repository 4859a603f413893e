"""Saved results: read again, compared, and what two judgings of them tell."""
