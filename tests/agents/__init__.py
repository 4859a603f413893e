"""Tests that run the real agent binary against a scripted Messages API."""
