"""Files that outlive a run: results directories, recordings."""
