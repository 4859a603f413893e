"""Fail when a test was skipped without a reason that the project has agreed to.

Usage: check_skips.py JUNIT_XML ALLOWED

A line of ALLOWED is `<pattern of test ids> | <pattern of skip messages> | <why that is right>`,
with the wildcards of `fnmatch`; empty lines and lines that start with `#` are left out.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Skips that are right, and why."""

    test: str
    message: str
    reason: str

    def covers(self, test: str, message: str) -> bool:
        """Tell whether the skip of this test with this message is meant."""
        return fnmatchcase(test, self.test) and fnmatchcase(message, self.message)


def read_allowances(path: Path) -> tuple[Allowance, ...]:
    """Return the lines of the file; ValueError names a line that has another shape."""
    allowances = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match [field.strip() for field in line.split("|")]:
            case [test, message, reason] if test and message and reason:
                allowances.append(Allowance(test=test, message=message, reason=reason))
            case _:
                raise ValueError(
                    f"{path}:{number}: a line must be 'tests | messages | why', got {line!r}"
                )
    return tuple(allowances)


def skipped_tests(junit: Path) -> Iterator[tuple[str, str]]:
    """Yield id and message of each skipped test; expected failures are not skips."""
    for case in ET.parse(junit).iter("testcase"):
        for skipped in case.findall("skipped"):
            if skipped.get("type") != "pytest.xfail":
                test = f"{case.get('classname', '')}::{case.get('name', '')}"
                yield test, skipped.get("message", "")


def main(junit: Path, allowed: Path) -> int:
    """Print each skip and return 1 when one of them is not allowed."""
    allowances = read_allowances(allowed)
    refused = 0
    for test, message in skipped_tests(junit):
        reasons = [a.reason for a in allowances if a.covers(test, message)]
        refused += not reasons
        sys.stdout.write(f"{test}: {message}: {reasons[0] if reasons else 'NOT ALLOWED'}\n")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
