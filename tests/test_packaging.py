"""What is installed: entry points, extras, versions, and what loading the plugin imports."""

from __future__ import annotations

import ast
import importlib.metadata
import itertools
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import pytest_plugin_eval

ROOT = Path(__file__).parent.parent
DISTRIBUTION = importlib.metadata.distribution("pytest-plugin-eval")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DEPENDENCIES_PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
EXTRAS = ("all", "claude", "judge", "mocks", "stats", "test")
HEAVY_MODULES = (
    "anthropic",
    "anyio",
    "asyncio",
    "click",
    "filelock",
    "genai_prices",
    "jinja2",
    "mcp",
    "py_mini_racer",
    "pydantic",
    "scipy",
    "xdist",
    "yaml",
)


REQUIREMENTS = [
    Requirement(line)
    for line in itertools.chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
]
FOREIGN_REQUIREMENTS = [r for r in REQUIREMENTS if r.name != "pytest-plugin-eval"]


@pytest.mark.parametrize(
    ("group", "name"),
    [("pytest11", "plugin_eval"), ("console_scripts", "plugin-eval")],
)
def test_entry_point_resolves(group: str, name: str) -> None:
    [entry_point] = DISTRIBUTION.entry_points.select(group=group, name=name)

    assert entry_point.load() is not None


def test_version_is_the_same_everywhere() -> None:
    assert pytest_plugin_eval.__version__ == DISTRIBUTION.version


def test_extras_are_published() -> None:
    assert sorted(DISTRIBUTION.metadata.get_all("Provides-Extra") or []) == list(EXTRAS)


def test_tests_bring_every_extra() -> None:
    assert (
        "pytest-plugin-eval[claude,judge,mocks,stats]" in PROJECT["optional-dependencies"]["test"]
    )


@pytest.mark.parametrize("extra", EXTRAS)
def test_extra_is_documented(extra: str) -> None:
    assert f"| `{extra}` |" in DEPENDENCIES_PAGE


@pytest.mark.parametrize("package", sorted({r.name for r in FOREIGN_REQUIREMENTS}))
def test_dependency_is_documented(package: str) -> None:
    assert f"`{package}`" in DEPENDENCIES_PAGE


@pytest.mark.parametrize("requirement", FOREIGN_REQUIREMENTS, ids=str)
def test_dependency_has_a_lower_bound_only(requirement: Requirement) -> None:
    assert [specifier.operator for specifier in requirement.specifier] == [">="]


def test_loading_the_plugin_imports_nothing_heavy() -> None:
    code = "import sys, pytest; before = set(sys.modules); import pytest_plugin_eval.plugin\n"
    code += "print(*sorted(set(sys.modules) - before), sep='\\n')"

    imported = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()

    assert "pytest_plugin_eval.plugin" in imported
    assert sorted(set(HEAVY_MODULES) & set(imported)) == []


@pytest.mark.parametrize(
    "entry",
    [
        ".ci/run",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "README.md",
        "conftest.py",
        "docs",
        "example_plugin",
        "pyproject.toml",
        "pytest_plugin_eval/py.typed",
        "tests",
        "tox.ini",
    ],
)
def test_top_level_has(entry: str) -> None:
    assert (ROOT / entry).exists()


def test_root_conftest_asks_for_nothing_but_pytester() -> None:
    statements = ast.parse((ROOT / "conftest.py").read_text(encoding="utf-8")).body[1:]

    assert [ast.unparse(node) for node in statements] == ["pytest_plugins = ['pytester']"]
