"""Judges: models that say whether an agent's output meets a criterion."""
