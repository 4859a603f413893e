"""Money: what has been spent and whether the next call may start."""
