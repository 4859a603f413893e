"""Speed, measured as ratios; see README.md."""
