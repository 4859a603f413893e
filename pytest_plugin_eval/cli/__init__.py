"""The `plugin-eval` command."""
