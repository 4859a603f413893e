"""What the tests share: a scripted Messages API and a runner of the reference command."""
