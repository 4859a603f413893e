"""One run from request to graded report."""
