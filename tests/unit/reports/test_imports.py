"""Reports, scoring and storage stay cheap to import: a controller loads them for every session."""

from __future__ import annotations

import subprocess
import sys

MODULES = (
    "reports.document",
    "reports.html",
    "reports.junit",
    "reports.table",
    "scoring.aggregate",
    "scoring.runs",
    "storage.atomic_write",
    "storage.cost_history",
    "storage.record_files",
    "storage.results_dir",
)
HEAVY = ("click", "filelock", "jinja2", "py_mini_racer", "pydantic", "pytest", "yaml")


def test_no_heavy_module_is_imported() -> None:
    imports = "\n".join(f"import pytest_plugin_eval.{module}" for module in MODULES)
    code = f"import sys\n{imports}\nprint(sorted(set({HEAVY!r}) & set(sys.modules)))"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"
