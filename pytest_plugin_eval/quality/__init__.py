"""The composite quality score of skills and plugins. Spec: quality-score."""
