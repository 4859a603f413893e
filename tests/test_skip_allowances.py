"""The CI job's rule: a skipped test needs a reason that the project has agreed to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / ".ci" / "check_skips.py"
ALLOWED = "# comment\n\ntests.corpus::* | *not here* | lies beside the checkout\n"


def junit(classname: str, outcome: str) -> str:
    case = f'<testcase classname="{classname}" name="test_it">{outcome}</testcase>'
    return f"<testsuites><testsuite>{case}</testsuite></testsuites>"


@pytest.mark.parametrize(
    ("classname", "outcome", "status", "shown"),
    [
        ("tests.corpus", "", 0, ""),
        ("tests.corpus", '<skipped type="pytest.skip" message="not here"/>', 0, "beside the"),
        ("tests.corpus", '<skipped type="pytest.skip" message="broken"/>', 1, "NOT ALLOWED"),
        ("tests.other", '<skipped type="pytest.skip" message="not here"/>', 1, "NOT ALLOWED"),
        ("tests.other", '<skipped type="pytest.xfail" message="known"/>', 0, ""),
    ],
    ids=["passed", "allowed", "another message", "another test", "expected failure"],
)
def test_skips_without_a_reason_fail(
    tmp_path: Path, classname: str, outcome: str, status: int, shown: str
) -> None:
    (tmp_path / "junit.xml").write_text(junit(classname, outcome), encoding="utf-8")
    (tmp_path / "allowed.txt").write_text(ALLOWED, encoding="utf-8")

    finished = subprocess.run(
        [sys.executable, SCRIPT, "junit.xml", "allowed.txt"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert finished.returncode == status, finished.stderr
    assert shown in finished.stdout
