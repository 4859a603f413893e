"""Tests of `example_plugin` and of the commands that README shows."""
