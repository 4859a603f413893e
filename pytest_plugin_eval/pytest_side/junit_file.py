"""What pytest's JUnit file says of runs, verdicts and skills beyond pytest's own.

The registered object of pytest's plugin is used, as for the suite's properties: there is no other
way to a testcase but a fixture, which runs have not. Without such an object nothing happens.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Protocol, cast
from xml.etree.ElementTree import Element

import pytest

from pytest_plugin_eval.pytest_side.ids import is_run_id
from pytest_plugin_eval.pytest_side.progress import run_by_id
from pytest_plugin_eval.pytest_side.stash import settings_key
from pytest_plugin_eval.text import one_line

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.controller import EvalController

__all__ = ["EvalJunit", "junit_plugin"]

# What XML 1.0 does not allow in any form; pytest 9.2 does not look for it in a testcase's name.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_OF_XUNIT1 = ("file", "line", "url")
"""Attributes of the older family that the strict schema does not know."""


class _Node(Protocol):
    """A testcase in the making."""

    def append(self, node: Element) -> None:
        """Add an element to it."""

    def to_xml(self) -> Element:
        """Return the testcase, which is complete after its teardown."""


class _Junit(Protocol):
    """What is asked of pytest's plugin."""

    def node_reporter(self, report: pytest.TestReport) -> _Node:
        """Return the testcase of a report."""


def junit_plugin(config: pytest.Config) -> _Junit | None:
    """Return pytest's plugin that writes the JUnit file, where one is to be written."""
    for _, plugin in config.pluginmanager.list_name_plugin():
        if hasattr(plugin, "node_reporter") and hasattr(plugin, "add_global_property"):
            return cast("_Junit", plugin)
    return None


class EvalJunit:
    """Adds the trace's path to testcases; keeps them within a strict schema where asked to.

    Common viewers read the properties of a testcase. The schema of Jenkins' xUnit plugin has a
    place for them in a suite alone.
    """

    def __init__(self, config: pytest.Config, controller: EvalController) -> None:
        self._config = config
        self._controller = controller
        self._is_strict = config.stash[settings_key].junit_strict
        self._found: tuple[_Junit | None] | None = None

    @property
    def _junit(self) -> _Junit | None:
        """Pytest's plugin, looked for once: with the first report, when all are registered."""
        if self._found is None:
            self._found = (junit_plugin(self._config),)
        return self._found[0]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        """Complete a testcase of ours as it is finished."""
        if report.when != "teardown" or not _is_ours(report):
            return (yield)
        junit = self._junit
        if junit is None:
            return (yield)
        node = junit.node_reporter(report)
        has_properties = not self._is_strict
        lines = list(self._lines(report, has_properties=has_properties))
        if lines:
            output = Element("system-out")
            text = "\n".join([*map(one_line, lines), ""])  # a name with a newline forges no line
            output.text = _NOT_XML.sub("\ufffd", text)
            node.append(output)
        outcome = yield
        _tidy(node.to_xml(), has_properties=has_properties)
        return outcome

    def _lines(self, report: pytest.TestReport, *, has_properties: bool) -> Iterator[str]:
        """Yield what stands in the testcase's output."""
        run = None
        if is_run_id(report.nodeid):
            run = run_by_id(self._controller.cases, report.nodeid)
        if run is not None and run.record_path:
            yield f"trace: {run.record_path}"
        if not has_properties:
            # As viewers read them out of a text.
            for name, value in report.user_properties:
                yield f"[[PROPERTY|{name}={value}]]"


def _is_ours(report: pytest.TestReport) -> bool:
    return (
        is_run_id(report.nodeid)
        or hasattr(report, "eval_verdict")
        or report.nodeid.rpartition("::")[0].endswith("SKILL.md")
    )


def _tidy(testcase: Element, *, has_properties: bool) -> None:
    """Remove what a strict schema does not accept, and what no XML may hold."""
    properties = testcase.find("properties")
    if properties is not None and not has_properties:
        testcase.remove(properties)
    if not has_properties:
        for name in _OF_XUNIT1:
            testcase.attrib.pop(name, None)
    for name, value in testcase.attrib.items():
        if _NOT_XML.search(value):
            testcase.set(name, _NOT_XML.sub("\ufffd", value))
