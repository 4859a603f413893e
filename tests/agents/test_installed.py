"""`plugin-eval run NAME@MARKETPLACE`: what is loaded, what is not, and where results go."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.differential.compare import OURS
from tests.differential.suite import GREET, Suite, regex, used
from tests.support.installs import Installs
from tests.support.reference import base_environment
from tests.support.script import rule, script, tool
from tests.support.scripted_api import ApiRequest, ScriptedApi

pytestmark = pytest.mark.agent

ANSWERS = script(
    rule(arm="with", turns=[[tool("Skill", skill="demo:greet")], "bonjour"]),
    rule(arm="without", turns=["hello"]),
    plugin_text="demo:greet",
)


@pytest.fixture(scope="module")
def installs(tmp_path_factory: pytest.TempPathFactory) -> Installs:
    """Return a configuration in which two plugins are installed, each as folder and as copy.

    A personal skill, a personal agent and instructions are there as well.
    """
    base = tmp_path_factory.mktemp("installed")
    demo = Suite(base / "market" / "demo").plugin().skill()
    demo.case("a", {"french": regex("bonjour"), "greeted": used("Skill")})
    text = GREET.replace("greet", "intruder")
    other = Suite(base / "market" / "other").plugin("other").skill("intruder", text=text)
    found = Installs(base)
    found.shop("shop", demo.root, other.root)
    found.distant_shop("far", demo.root, other.root)
    found.install("demo@shop", "other@shop", "demo@far", "other@far")
    personal = Suite(found.config).write("skills/mine/SKILL.md", text.replace("intruder", "mine"))
    personal.write("agents/helper.md", "---\nname: helper\ndescription: INTRUDING\n---\nHi\n")
    personal.write("CLAUDE.md", "INTRUDING instructions")
    return found


class Result:
    """An ended command, what it wrote below its working directory, and what was asked of models."""

    def __init__(self, cwd: Path, exit_code: int, stderr: str, api: ScriptedApi) -> None:
        self.exit_code = exit_code
        self.stderr = stderr
        self.documents = sorted(cwd.glob("*/results/*/aggregate-result.json"))
        self.messages = api.messages

    @property
    def document(self) -> Mapping[str, Any]:
        """The only document."""
        (file,) = self.documents
        document: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return document


@pytest.fixture(scope="module", params=["demo@shop", "demo@far"])
def ran(
    request: pytest.FixtureRequest, installs: Installs, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Result, list[str]]]:
    """Return the name that was run, what came of it, and what changed in the installations."""
    before = _files(installs)
    base = tmp_path_factory.mktemp("here")
    with ScriptedApi(ANSWERS) as api:
        result = _run(base, api, installs, str(request.param))
        yield str(request.param), result, sorted(before ^ _files(installs))


def _run(base: Path, api: ScriptedApi, installs: Installs, *arguments: str) -> Result:
    (base / "home" / "tmp").mkdir(parents=True)
    (base / "cwd").mkdir()
    done = subprocess.run(
        [*OURS, "run", *arguments],  # who installs a plugin trusts it
        env={**base_environment(api.url, base / "home"), **installs.env},
        cwd=base / "cwd",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    return Result(base / "cwd", done.returncode, done.stderr, api)


def _files(installs: Installs) -> set[str]:
    places = (installs.config / "plugins", installs.config.parent / "market")
    return {f"{path} {path.stat().st_size}" for place in places for path in place.rglob("*")}


def _text(request: ApiRequest) -> str:
    return json.dumps(request.body)


def test_plugin_is_loaded_in_the_with_arm_alone(ran: tuple[str, Result, list[str]]) -> None:
    _, result, _ = ran

    (case,) = result.document["cases"]
    assert result.exit_code == 0, result.stderr
    assert [run["score"] for run in case["arms"]["with"]] == [1]
    assert [run["score"] for run in case["arms"]["without"]] == [0]
    assert [run["error"] for runs in case["arms"].values() for run in runs] == [None, None]


def test_nothing_else_of_the_configuration_is_seen(ran: tuple[str, Result, list[str]]) -> None:
    _, result, _ = ran

    texts = [_text(request) for request in result.messages]
    assert any("demo:greet" in text for text in texts)
    assert [text for text in texts if "intruder" in text or "INTRUDING" in text] == []
    assert [text for text in texts if "other:" in text] == []


def test_results_go_below_the_working_directory(
    ran: tuple[str, Result, list[str]], installs: Installs
) -> None:
    name, result, changed = ran

    suite = result.document["suite"]
    market = installs.config.parent / "market" / "demo"
    copy = installs.config / "plugins" / "cache" / "far" / "demo"
    assert suite["pluginId"] == name
    assert Path(suite["root"]).is_relative_to(market if name == "demo@shop" else copy)
    assert result.documents[0].parts[-4:-2] == ("evals", "results")
    assert changed == []


def test_name_of_several_runs_nothing(installs: Installs, tmp_path: Path) -> None:
    with ScriptedApi(ANSWERS) as api:
        result = _run(tmp_path, api, installs, "demo")

    expected = "Error: demo: is the name of 2 installed plugins, expected one of "
    assert result.stderr == f"{expected}demo@shop, demo@far\n"
    assert (result.exit_code, result.messages, result.documents) == (1, (), [])


def test_nothing_run_leaves_nothing_behind(installs: Installs, tmp_path: Path) -> None:
    with ScriptedApi(ANSWERS) as api:
        result = _run(tmp_path, api, installs, "demo@shop", "--case", "zz")

    assert (result.exit_code, result.messages) == (1, ())
    assert list((tmp_path / "cwd").iterdir()) == []
