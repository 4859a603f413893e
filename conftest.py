"""Settings that pytest takes only from the root of the repository."""

pytest_plugins = ["pytester"]
