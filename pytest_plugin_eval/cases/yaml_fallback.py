"""The event parser of a PyYAML that was built without libyaml."""

from __future__ import annotations

from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

__all__ = ["PythonParser"]


class PythonParser(Reader, Scanner, Parser):
    """Reads a text into events, like libyaml's ``CParser``."""

    def __init__(self, stream: str) -> None:
        Reader.__init__(self, stream)
        Scanner.__init__(self)
        Parser.__init__(self)
