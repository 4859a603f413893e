"""What pytest's JUnit file says of runs, verdicts and skills beyond pytest's own.

The registered object of pytest's plugin is used, as for the suite's properties: there is no other
way to a testcase but a fixture, which runs have not. Without such an object nothing happens.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Protocol
from xml.etree.ElementTree import Element

import pytest

from pytest_plugin_eval.pytest_side.ids import case_of, is_run_id, run_key

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.controller import EvalController
    from pytest_plugin_eval.scoring.model import RunReport

__all__ = ["EvalJunit", "junit_plugin"]

FAMILY_WITH_PROPERTIES = ("xunit1", "legacy")
# What XML 1.0 does not allow in any form; pytest 9.2 does not look for it in a testcase's name.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Node(Protocol):
    """A testcase in the making."""

    def append(self, node: Element) -> None:
        """Add an element to it."""

    def to_xml(self) -> Element:
        """Return the testcase, which is complete after its teardown."""


class _Junit(Protocol):
    """What is asked of pytest's plugin."""

    family: str

    def node_reporter(self, report: pytest.TestReport) -> _Node:
        """Return the testcase of a report."""


def junit_plugin(config: pytest.Config) -> _Junit | None:
    """Return pytest's plugin that writes the JUnit file, where one is to be written."""
    for _, plugin in config.pluginmanager.list_name_plugin():
        if hasattr(plugin, "node_reporter") and hasattr(plugin, "add_global_property"):
            found: _Junit = plugin
            return found
    return None


class EvalJunit:
    """Adds the trace's path to testcases, and keeps them within what Jenkins accepts."""

    def __init__(self, controller: EvalController, junit: _Junit) -> None:
        self._controller = controller
        self._junit = junit
        self._are_properties_allowed = junit.family in FAMILY_WITH_PROPERTIES

    # Outside of the controller's wrapper, which stores the run, and inside of none of pytest's.
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        """Complete a testcase of ours as it is finished."""
        if report.when != "teardown" or not self._is_ours(report):
            return (yield)
        node = self._junit.node_reporter(report)
        lines = list(self._lines(report))
        if lines:
            output = Element("system-out")
            output.text = _NOT_XML.sub("\ufffd", "\n".join([*lines, ""]))
            node.append(output)
        outcome = yield
        self._tidy(node.to_xml())
        return outcome

    def _is_ours(self, report: pytest.TestReport) -> bool:
        return (
            is_run_id(report.nodeid)
            or hasattr(report, "eval_verdict")
            or report.nodeid.rpartition("::")[0].endswith("SKILL.md")
        )

    def _lines(self, report: pytest.TestReport) -> Iterator[str]:
        """Yield what stands in the testcase's output."""
        run = self._run(report.nodeid)
        if run is not None and run.record_path:
            yield f"trace: {run.record_path}"
        if not self._are_properties_allowed:
            # As viewers read them out of a text.
            for name, value in report.user_properties:
                yield f"[[PROPERTY|{name}={value}]]"

    def _run(self, nodeid: str) -> RunReport | None:
        progress = self._controller.cases.get(case_of(nodeid)) if is_run_id(nodeid) else None
        first = next(iter(progress.runs.values()), None) if progress is not None else None
        if progress is None or first is None:
            return None
        return progress.runs.get(run_key(nodeid, first.key.case))

    def _tidy(self, testcase: Element) -> None:
        properties = testcase.find("properties")
        if properties is not None and not self._are_properties_allowed:
            testcase.remove(properties)
        for name, value in testcase.attrib.items():
            if _NOT_XML.search(value):
                testcase.set(name, _NOT_XML.sub("\ufffd", value))
