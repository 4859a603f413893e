"""What a target may be: installed plugins by name, several plugins, none, files anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.compare import check, compare
from tests.differential.suite import GREET, Suite, regex, used
from tests.support.histories import history
from tests.support.installs import Installs
from tests.support.script import rule, script, tool

pytestmark = pytest.mark.agent

GRADERS = {"french": regex("bonjour"), "greeted": used("Skill", input_match="greet")}


def answers(plugin_text: str) -> object:
    """Return a script in which the agent uses the skill where the plugin is there."""
    name = plugin_text.partition(":")[0]
    return script(
        rule(arm="with", turns=[[tool("Skill", skill=f"{name}:greet")], "bonjour"]),
        rule(arm="without", turns=["hello"]),
        plugin_text=plugin_text,
    )


@pytest.fixture
def installs(tmp_path: Path) -> Installs:
    return Installs(tmp_path)


@pytest.fixture
def market(tmp_path: Path) -> Suite:
    """Return a plugin called demo, with a case, that lies in a folder of its own."""
    suite = Suite(tmp_path / "market" / "demo").plugin().skill()
    return suite.case("a", GRADERS)


def other(suite: Suite) -> Suite:
    """Return another plugin beside a suite's; its skill must not be seen in any run."""
    text = GREET.replace("greet", "intruder")
    return Suite(suite.root.parent / "other").plugin("other").skill("intruder", text=text)


@pytest.mark.parametrize("name", ["demo", "demo@shop"])
def test_plugin_of_a_folder(market: Suite, installs: Installs, name: str) -> None:
    installs.shop("shop", market.root, other(market).root)
    installs.install("demo@shop", "other@shop")

    result = compare(market, answers("demo:greet"), name=name, env=installs.env)

    check(f"installed {name}", result)
    assert result.ours.document is not None
    suite = result.ours.document["suite"]
    assert (suite["pluginId"], suite["root"]) == ("demo@shop", str(market.root))
    assert result.ours.document["cases"][0]["aggregates"]["delta"] == 1


def test_plugin_that_is_a_copy(market: Suite, installs: Installs) -> None:
    installs.distant_shop("far", market.root, other(market).root)
    installs.install("demo@far", "other@far")

    result = compare(market, answers("demo:greet"), name="demo@far", env=installs.env)

    check("installed copy", result)
    assert result.ours.document is not None
    root = Path(result.ours.document["suite"]["root"])
    assert root.is_relative_to(installs.config / "plugins/cache/far/demo")


def test_plugin_of_another_name_in_its_manifest(market: Suite, installs: Installs) -> None:
    market.plugin("said-otherwise", version=None)
    installs.shop("shop", market.root)
    installs.install("demo@shop")

    result = compare(market, answers("said-otherwise:greet"), name="demo", env=installs.env)

    check("installed under another name", result)


def test_plugin_that_is_disabled(market: Suite, installs: Installs) -> None:
    installs.shop("shop", market.root)
    installs.install("demo@shop")
    installs.agent("plugin", "disable", "demo@shop")

    result = compare(market, answers("demo:greet"), name="demo", env=installs.env)

    check("installed and disabled", result)
    assert "demo@shop is disabled in" in result.ours.stderr


def test_name_goes_before_a_directory(market: Suite, installs: Installs, tmp_path: Path) -> None:
    installs.shop("shop", market.root)
    installs.install("demo@shop")
    Suite(tmp_path / "here" / "demo").plugin("another").case("b", GRADERS)

    result = compare(market, answers("demo:greet"), name="demo", env=installs.env, cwd="../../here")

    check("name before directory", result)


@pytest.mark.parametrize("name", ["mine", "mine@skills-dir"])
def test_personal_skill_folder(installs: Installs, name: str) -> None:
    folder = Suite(installs.config / "skills" / "folder").plugin("mine").skill()
    folder.case("a", GRADERS)

    result = compare(folder, answers("mine:greet"), name=name, env=installs.env)

    check(f"skill folder {name}", result)


def test_eval_directory_of_another_name(market: Suite, installs: Installs) -> None:
    market.case("skills/greet/evals/x", GRADERS)
    (market.root / "evals").rename(market.root / "qa")
    installs.shop("shop", market.root)
    installs.install("demo@shop")

    result = compare(
        market, answers("demo:greet"), "--eval-dir", "qa", name="demo", env=installs.env
    )

    check("installed --eval-dir", result)


@pytest.mark.parametrize("options", [(), ("--eval-dir", "none"), ("--case", "zz")], ids=str)
def test_installed_without_cases(
    market: Suite, installs: Installs, options: tuple[str, ...]
) -> None:
    other(market)
    installs.shop("shop", market.root, market.root.parent / "other")
    installs.install("demo@shop", "other@shop")
    name = "demo" if options else "other"

    result = compare(market, script(), *options, name=name, env=installs.env)

    check(f"installed without cases {' '.join(options)}".rstrip(), result)


def test_installed_without_a_manifest(market: Suite, installs: Installs) -> None:
    installs.shop("shop", market.root)
    installs.install("demo@shop")
    (market.root / ".claude-plugin/plugin.json").unlink()

    result = compare(market, script(), name="demo", env=installs.env)

    check("installed without a manifest", result)


def test_one_arm(market: Suite, installs: Installs) -> None:
    installs.shop("shop", market.root)
    installs.install("demo@shop")

    result = compare(
        market, answers("demo:greet"), "--ablation", "none", name="demo", env=installs.env
    )

    check("installed in one arm", result)


def test_folder_that_is_the_plugin_of_several(market: Suite, installs: Installs) -> None:
    others = Suite(market.root.parent).plugin("second", at="sub/second").skill(at="sub/second")
    others.case("sub/second/evals/b", GRADERS)
    installs.shop("shop", market.root)
    catalog = market.root.parent / ".claude-plugin" / "marketplace.json"
    text = catalog.read_text(encoding="utf-8")
    catalog.write_text(text.replace('"./demo"', '"./"'), encoding="utf-8")
    installs.install("demo@shop")

    result = compare(market, answers("demo:greet"), name="demo", env=installs.env)

    check("installed folder of several plugins", result)
    assert result.ours.document is not None
    assert [case["dir"] for case in result.ours.document["cases"]] == [
        "demo/evals/a",
        "sub/second/evals/b",
    ]


def test_conversation_has_both_arms_for_a_name(market: Suite, installs: Installs) -> None:
    graders = [{"name": "says", **regex("fine")}]
    context = {"history_file": "h.jsonl"}
    market.case_yaml("b", execution={"prompt": "Do b."}, context=context, graders=graders)
    market.write("evals/b/h.jsonl", history())
    installs.shop("shop", market.root)
    installs.install("demo@shop")

    result = compare(market, script(rule(turns=["fine"])), name="demo", env=installs.env)

    check("installed with a conversation", result)


def test_ambiguous_name(market: Suite, installs: Installs) -> None:
    installs.shop("shop", market.root)
    installs.install("demo@shop")
    Suite(installs.config / "skills" / "x").plugin("demo")

    result = compare(market, script(), name="demo", env=installs.env)

    check("ambiguous name", result)
    assert result.theirs.document is None
    assert "demo@shop, demo@skills-dir" in result.theirs.stderr
    assert "demo@shop, demo@skills-dir" in result.ours.stderr


@pytest.mark.parametrize("name", ["demi", "demo@nowhere", "Demo", "demo@"])
def test_unknown_name(market: Suite, installs: Installs, name: str) -> None:
    installs.shop("shop", market.root)
    installs.install("demo@shop")

    result = compare(market, script(), name=name, env=installs.env)

    check(f"unknown name {name}", result)


def test_folder_that_lists_it_no_more(market: Suite, installs: Installs) -> None:
    installs.shop("shop", market.root)
    installs.install("demo@shop")
    (market.root.parent / ".claude-plugin/marketplace.json").write_text("{")

    result = compare(market, script(), name="demo", env=installs.env)

    check("folder without a catalog", result)
    assert result.theirs.document is None


def test_copy_that_is_gone(market: Suite, installs: Installs) -> None:
    installs.distant_shop("far", market.root)
    installs.install("demo@far")
    for copy in (installs.config / "plugins/cache/far/demo").iterdir():
        copy.rename(market.root.parent / "moved")

    result = compare(market, script(), name="demo", env=installs.env)

    check("copy that is gone", result)


def test_several_plugins_in_both_arms(suite: Suite) -> None:
    suite.plugin("second", at="extra/second").skill("bow", at="extra/second")
    plugins = ["../..", "../../extra/second"]
    suite.case("a", GRADERS, front={"plugins": plugins, "runs": 2})

    result = compare(suite, answers("demo:greet"))

    check("several plugins in both arms", result)
    assert result.ours.document is not None
    assert [one["name"] for one in result.ours.document["suite"]["plugins"]] == ["demo", "second"]


def test_skill_folder_as_a_plugin(loose: Suite) -> None:
    loose.write("tools/greet/SKILL.md", GREET)
    loose.case("tools/greet/evals/a", {"ok": regex("OK")})

    result = compare(loose, script(), target="tools/greet")

    check("skill folder by path", result)


@pytest.mark.parametrize("file", ["prompt.md", "case.yaml"])
@pytest.mark.parametrize("inside", [True, False], ids=["in a plugin", "in none"])
def test_case_file_anywhere(suite: Suite, loose: Suite, file: str, inside: bool) -> None:
    place = suite if inside else loose
    case = "schema_version: '1.1'\nname: it\nruns: 1\nexecution: {prompt: Do it.}\n"
    grader = "graders: [{name: ok, type: regex, pattern: OK}]\n"
    place.write("elsewhere/it/case.yaml", case + grader)
    place.write("elsewhere/beside/prompt.md", "---\nruns: 1\n---\nDo it.\n")
    place.write("elsewhere/beside/graders/ok.md", "---\ntype: regex\npattern: OK\n---\n")
    target = "elsewhere/it/case.yaml" if file == "case.yaml" else "elsewhere/beside/prompt.md"

    result = compare(place, script(), target=target)

    # Without a plugin the reference's root is the case itself; an id is never empty here.
    deviations = {} if inside else {"id": ["suite.root", "cases.*"]}
    check(f"{file} anywhere {'in a plugin' if inside else 'in none'}", result, deviations)
    assert result.ours.exit_code == 0
