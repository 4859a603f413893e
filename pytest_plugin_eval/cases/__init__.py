"""From files to cases: discovery, reading, validation."""
