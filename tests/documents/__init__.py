"""Tests of the pages in `docs`: what can be taken from the code is."""
