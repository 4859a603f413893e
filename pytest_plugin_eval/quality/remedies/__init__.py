"""What would win back the points that a skill or an agent lacks, one module a part of the score."""
