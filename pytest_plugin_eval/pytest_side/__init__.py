"""The one place that speaks with pytest."""
