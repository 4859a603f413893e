"""Installed plugins, over made-up configuration directories."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.installed import (
    InstalledError,
    InstalledPlugin,
    find_installed,
    unknown_name,
)
from tests.support.suites import write_tree

CACHE = "config/plugins/cache"


class Configuration:
    """A configuration directory below a test's directory, in which the tests stand."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.env: Mapping[str, str] = {"CLAUDE_CONFIG_DIR": str(base / "config")}

    def write(self, path: str, content: object) -> Configuration:
        """Write a file; anything but a text as JSON, with ``BASE`` for the test's directory."""
        text = content if isinstance(content, str) else json.dumps(content)
        write_tree(self.base, {path: text.replace("BASE", str(self.base))})
        return self

    def manifest(self, *roots: str) -> Configuration:
        """Write a manifest in each of the directories."""
        for root in roots:
            self.write(f"{root}/.claude-plugin/plugin.json", {"name": root.rpartition("/")[2]})
        return self

    def installed(self, plugins: object, version: object = 2) -> Configuration:
        """Write which plugins are installed."""
        content = {"version": version, "plugins": plugins}
        return self.write("config/plugins/installed_plugins.json", content)

    def copies(self, *ids: str) -> Configuration:
        """Install plugins as copies in the cache, for the user."""
        for one in ids:
            self.manifest(_copy(one))
        return self.installed({one: [{"installPath": f"BASE/{_copy(one)}"}] for one in ids})

    def folder(self, *entries: Mapping[str, object], **catalog: object) -> Configuration:
        """Make the folder ``market`` the marketplace ``shop``."""
        source = {"source": "directory", "path": "BASE/market"}
        known = {"shop": {"source": source, "installLocation": "BASE/market"}}
        self.write("config/plugins/known_marketplaces.json", known)
        content = {"name": "shop", "plugins": entries, **catalog}
        return self.write("market/.claude-plugin/marketplace.json", content)

    def find(self, text: str, cwd: str = ".") -> InstalledPlugin | None:
        """Look a name up."""
        return find_installed(text, env=self.env, cwd=str(self.base / cwd))

    def root(self, text: str, cwd: str = ".") -> str:
        """Return the root of the plugin called so, relative to the test's directory."""
        plugin = self.find(text, cwd)
        assert plugin is not None
        return Path(plugin.root).relative_to(self.base).as_posix()

    def refusal(self, text: str) -> str:
        """Return why there is nothing to evaluate, with ``BASE`` for the test's directory."""
        with pytest.raises(InstalledError) as caught:
            self.find(text)
        return str(caught.value).replace(str(self.base), "BASE")


def _copy(plugin_id: str) -> str:
    name, _, marketplace = plugin_id.partition("@")
    return f"{CACHE}/{marketplace}/{name}/1.0"


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    """Return the place of a configuration directory that is not there yet."""
    return Configuration(tmp_path.resolve())


@pytest.mark.parametrize("text", ["plug", "plug@shop"])
def test_copy_is_found_by_name_and_by_id(configuration: Configuration, text: str) -> None:
    configuration.copies("plug@shop", "other@shop")

    found = configuration.find(text)

    root = str(configuration.base / CACHE / "shop/plug/1.0")
    assert found == InstalledPlugin(id="plug@shop", root=root)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        "PLUG",
        "plu",
        " plug",
        "plug@",
        "@shop",
        "plug@SHOP",
        "./plug",
        "plug/",
        "a/b",
    ],
)
def test_other_words_are_no_name(configuration: Configuration, text: str) -> None:
    configuration.copies("plug@shop")

    assert configuration.find(text) is None


def test_name_goes_before_a_directory(configuration: Configuration) -> None:
    configuration.copies("plug@shop").manifest("plug")

    assert configuration.root("plug") == f"{CACHE}/shop/plug/1.0"


def test_name_of_several_lists_them(configuration: Configuration) -> None:
    configuration.copies("plug@shop", "plug@bazaar").manifest("config/skills/plug")

    text = configuration.refusal("plug")

    assert text == (
        "plug: is the name of 3 installed plugins, expected one of "
        "plug@shop, plug@bazaar, plug@skills-dir"
    )
    assert configuration.root("plug@bazaar") == f"{CACHE}/bazaar/plug/1.0"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "it is not valid JSON"),
        ("[" * 100_000, "it is not valid JSON"),
        ("\x00\xff", "it is not valid JSON"),
        ("[]", "it is not a JSON object"),
        ('{"plugins": {}}', "expected version 1 or 2 of its format, got None"),
        ('{"version": 3, "plugins": {}}', "expected version 1 or 2 of its format, got 3"),
        ('{"version": [2], "plugins": {}}', "expected version 1 or 2 of its format, got [2]"),
        ('{"version": 2}', "it has no object 'plugins'"),
        ('{"version": 2, "plugins": []}', "it has no object 'plugins'"),
    ],
)
def test_list_that_cannot_be_read(configuration: Configuration, content: str, problem: str) -> None:
    configuration.write("config/plugins/installed_plugins.json", content)

    assert configuration.find("plug") is None
    hint = unknown_name("plug", env=configuration.env, cwd=str(configuration.base))
    file = configuration.base / "config/plugins/installed_plugins.json"
    assert hint == f", and which plugins are installed cannot be read from {file}: {problem}"


def test_list_that_is_a_directory(configuration: Configuration) -> None:
    configuration.write("config/plugins/installed_plugins.json/x", "")

    hint = unknown_name("plug", env=configuration.env, cwd=str(configuration.base))

    assert hint.endswith("installed_plugins.json: no such file")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("plum", ", did you mean 'plug'?"),
        ("plug@shpo", ", did you mean 'plug@shop'?"),
        ("utterly-else", ""),
    ],
)
def test_unknown_name_tells_the_nearest(configuration: Configuration, text: str, hint: str) -> None:
    configuration.copies("plug@shop").manifest("config/skills/mine")

    found = unknown_name(text, env=configuration.env, cwd=str(configuration.base))

    place = configuration.base / "config"
    assert found == f", and no plugin of that name is installed in {place}{hint}"


@pytest.mark.parametrize("text", ["./plum", "a/plug", "", ".."])
def test_path_gets_no_hint(configuration: Configuration, text: str) -> None:
    configuration.copies("plug@shop")

    assert unknown_name(text, env=configuration.env, cwd=str(configuration.base)) == ""


def test_nothing_is_there(configuration: Configuration) -> None:
    assert configuration.find("plug@shop") is None
    assert list(configuration.base.iterdir()) == []


@pytest.mark.parametrize("entry", [[], {}, None, 7, "x", [7, None], [{"installPath": 3}]])
def test_odd_entries_are_no_installations(configuration: Configuration, entry: object) -> None:
    configuration.manifest(f"{CACHE}/shop/good/1.0")
    good = {"installPath": f"BASE/{CACHE}/shop/good/1.0"}
    configuration.installed({"odd@shop": entry, "bare": [good], "good@shop": [good]})

    assert configuration.find("odd@shop") is None
    assert configuration.find("bare") is None
    assert configuration.root("good") == f"{CACHE}/shop/good/1.0"


def test_first_version_of_the_list(configuration: Configuration) -> None:
    configuration.manifest(_copy("plug@shop"))
    configuration.installed({"plug@shop": {"installPath": f"BASE/{_copy('plug@shop')}"}}, 1)

    assert configuration.root("plug") == _copy("plug@shop")


USER = {"scope": "user", "installPath": f"BASE/{CACHE}/s/p/user"}
MANAGED = {"scope": "managed", "installPath": f"BASE/{CACHE}/s/p/managed"}
PROJECT = {"scope": "project", "projectPath": "BASE/one", "installPath": f"BASE/{CACHE}/s/p/one"}
LOCAL = {"scope": "local", "projectPath": "BASE/two", "installPath": f"BASE/{CACHE}/s/p/two"}


@pytest.mark.parametrize(
    ("installs", "cwd", "expected"),
    [
        ([USER, PROJECT], "one", "user"),
        ([PROJECT, USER], "one", "one"),
        ([PROJECT, USER], "one/sub", "user"),
        ([PROJECT, USER], "two", "user"),
        ([LOCAL, PROJECT, USER], "one", "one"),
        ([LOCAL, PROJECT, USER], "two", "two"),
        ([MANAGED, USER], ".", "managed"),
        ([PROJECT, LOCAL], ".", "one"),
    ],
)
def test_first_installation_that_holds_here(
    configuration: Configuration, installs: list[object], cwd: str, expected: str
) -> None:
    configuration.manifest(*(f"{CACHE}/s/p/{name}" for name in ("user", "managed", "one", "two")))
    configuration.installed({"p@s": installs})

    assert configuration.root("p@s", cwd) == f"{CACHE}/s/p/{expected}"


def test_copy_that_is_gone(configuration: Configuration) -> None:
    configuration.installed({"plug@shop": [{"installPath": f"BASE/{CACHE}/shop/plug/1.0"}]})

    with pytest.raises(InstalledError) as caught:
        configuration.find("plug")

    root = str(configuration.base / CACHE / "shop/plug/1.0")
    assert (caught.value.root, caught.value.plugin_id) == (root, "plug@shop")
    assert str(caught.value) == (
        f"plug@shop: is installed in {root}, which is not there; install it again"
    )


def test_configuration_that_was_moved(configuration: Configuration) -> None:
    configuration.manifest(f"{CACHE}/shop/plug/1.0")
    configuration.installed({"plug@shop": [{"installPath": "/gone/plugins/cache/shop/plug/1.0"}]})

    assert configuration.root("plug") == f"{CACHE}/shop/plug/1.0"


@pytest.mark.parametrize(
    ("source", "metadata", "expected"),
    [
        ("./plug", {}, "market/plug"),
        ("./in/side", {}, "market/in/side"),
        ("./", {}, "market"),
        ("plug", {"pluginRoot": "./all"}, "market/all/plug"),
        ("./plug", {"pluginRoot": "./all"}, "market/plug"),
        ("plug", {}, f"{CACHE}/shop/plug/1.0"),
        ("plug", {"pluginRoot": 7}, f"{CACHE}/shop/plug/1.0"),
        ({"source": "github", "repo": "a/b"}, {}, f"{CACHE}/shop/plug/1.0"),
        (None, {}, f"{CACHE}/shop/plug/1.0"),
    ],
)
def test_marketplace_that_is_a_folder(
    configuration: Configuration, source: object, metadata: object, expected: str
) -> None:
    configuration.copies("plug@shop")
    configuration.manifest("market/plug", "market/in/side", "market/all/plug")
    configuration.folder({"name": "plug", "source": source}, metadata=metadata)

    assert configuration.root("plug@shop") == expected


def test_marketplace_that_is_a_file(configuration: Configuration) -> None:
    configuration.copies("plug@shop").manifest("market/plug")
    configuration.folder({"name": "plug", "source": "./plug"})
    file = {"source": "file", "path": "BASE/market/.claude-plugin/marketplace.json"}
    configuration.write("config/plugins/known_marketplaces.json", {"shop": {"source": file}})

    assert configuration.root("plug@shop") == "market/plug"


@pytest.mark.parametrize(
    "known",
    ["{", {}, {"shop": 7}, {"shop": {"source": "directory"}}, {"shop": {"source": {}}}],
    ids=str,
)
def test_marketplace_that_is_unknown(configuration: Configuration, known: object) -> None:
    configuration.copies("plug@shop").write("config/plugins/known_marketplaces.json", known)

    assert configuration.root("plug@shop") == _copy("plug@shop")


@pytest.mark.parametrize(
    ("catalog", "message"),
    [
        (
            "{",
            "but what that offers cannot be read from "
            "BASE/market/.claude-plugin/marketplace.json: it is not valid JSON",
        ),
        (
            {"plugins": [{"name": "plugs"}, 7]},
            "but BASE/market/.claude-plugin/marketplace.json lists it no more, "
            "did you mean 'plugs'?",
        ),
        ({}, "but BASE/market/.claude-plugin/marketplace.json lists it no more"),
    ],
)
def test_folder_that_offers_it_no_more(
    configuration: Configuration, catalog: object, message: str
) -> None:
    configuration.copies("plug@shop").folder()
    configuration.write("market/.claude-plugin/marketplace.json", catalog)

    text = configuration.refusal("plug@shop")

    assert text == f"plug@shop: sessions load it from the folder BASE/market, {message}"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("./plug", "is listed by its marketplace in BASE/market/plug, which is not there"),
        (
            "./../plug",
            "BASE/market/.claude-plugin/marketplace.json has it in './../plug', "
            "expected a place inside the marketplace",
        ),
    ],
)
def test_folder_that_has_it_nowhere(
    configuration: Configuration, source: str, message: str
) -> None:
    configuration.copies("plug@shop").manifest("plug")
    configuration.folder({"name": "plug", "source": source})

    assert configuration.refusal("plug@shop") == f"plug@shop: {message}"


def test_skill_folder_goes_by_its_manifest(configuration: Configuration) -> None:
    configuration.write("config/skills/folder/.claude-plugin/plugin.json", {"name": "mine"})
    configuration.write("config/skills/folder/SKILL.md", "")

    assert configuration.root("mine") == "config/skills/folder"
    assert configuration.root("mine@skills-dir") == "config/skills/folder"
    assert configuration.refusal("folder@skills-dir") == (
        "folder@skills-dir: the plugin in BASE/config/skills/folder has another name, "
        "expected 'mine@skills-dir'"
    )


def test_skill_folder_without_manifest(configuration: Configuration) -> None:
    configuration.write("config/skills/bare/SKILL.md", "").write("config/skills/none/x.md", "")
    configuration.write("config/skills/file.md", "")

    found = configuration.find("bare")

    root = str(configuration.base / "config/skills/bare")
    assert found == InstalledPlugin(id="bare@skills-dir", root=root)
    assert configuration.find("none@skills-dir") is None
    assert configuration.find("file.md") is None


def test_directory_goes_before_a_skill_folder_without_manifest(
    configuration: Configuration,
) -> None:
    configuration.write("config/skills/bare/SKILL.md", "").write("bare/x", "")

    assert configuration.find("bare") is None
    assert configuration.root("bare@skills-dir") == "config/skills/bare"


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ("{", "it is not valid JSON"),
        ("7", "it is not a JSON object"),
        ("{}", "name must be a string that is not empty, got None"),
        ('{"name": ""}', "name must be a string that is not empty, got ''"),
    ],
)
def test_skill_folder_that_is_broken(
    configuration: Configuration, manifest: str, problem: str
) -> None:
    configuration.write("config/skills/bad/.claude-plugin/plugin.json", manifest)

    text = configuration.refusal("bad@skills-dir")

    folder = "BASE/config/skills/bad"
    file = f"{folder}/.claude-plugin/plugin.json"
    assert text == f"bad@skills-dir: the plugin in {folder} is broken: {file}: {problem}"


def test_skill_folder_that_is_a_link_is_where_it_leads(configuration: Configuration) -> None:
    configuration.manifest("mine").write("config/skills/x/SKILL.md", "")
    (configuration.base / "config/skills/mine").symlink_to(configuration.base / "mine")

    assert configuration.root("mine@skills-dir") == "mine"


def test_two_skill_folders_of_one_name(configuration: Configuration) -> None:
    for folder in ("a", "b"):
        path = f"config/skills/{folder}/.claude-plugin/plugin.json"
        configuration.write(path, {"name": "same"})

    assert configuration.refusal("same") == (
        "same@skills-dir: is the name of several skill folders: "
        "BASE/config/skills/a, BASE/config/skills/b"
    )


def test_disabled_plugin_is_evaluated_and_said(configuration: Configuration) -> None:
    configuration.copies("plug@shop", "on@shop", "odd@shop")
    enabled = {"plug@shop": False, "on@shop": True, "odd@shop": 0}
    configuration.write("config/settings.json", {"enabledPlugins": enabled})

    found = [configuration.find(name) for name in ("plug", "on", "odd")]

    file = configuration.base / "config/settings.json"
    said = (f"plug@shop is disabled in {file}; evaluated all the same",)
    assert [one and one.notes for one in found] == [said, (), ()]


@pytest.mark.parametrize("settings", ["{", "[]", {"enabledPlugins": ["plug@shop"]}], ids=str)
def test_odd_settings_disable_nothing(configuration: Configuration, settings: object) -> None:
    configuration.copies("plug@shop").write("config/settings.json", settings)

    found = configuration.find("plug")

    assert found is not None
    assert found.notes == ()


def test_plugin_without_manifest_is_said(configuration: Configuration) -> None:
    configuration.write("market/plug/skills/x/SKILL.md", "").copies("plug@shop")
    configuration.folder({"name": "plug", "source": "./plug", "strict": False})

    found = configuration.find("plug")

    root = configuration.base / "market/plug"
    assert found is not None
    assert found.notes == (f"{root} has no manifest of its own, so that no run can load plug@shop",)


@pytest.mark.parametrize(
    "env",
    [
        {"CLAUDE_CONFIG_DIR": "BASE/config"},
        {"CLAUDE_CONFIG_DIR": "config"},
        {"CLAUDE_CONFIG_DIR": "", "HOME": "BASE/home"},
        {"HOME": "BASE/home"},
        {"HOME": "BASE/none", "CLAUDE_CODE_PLUGIN_CACHE_DIR": "BASE/config/plugins"},
    ],
)
def test_where_the_configuration_is(configuration: Configuration, env: dict[str, str]) -> None:
    configuration.copies("plug@shop")
    home = configuration.base / "home"
    home.mkdir()
    (home / ".claude").symlink_to(configuration.base / "config")
    configuration.env = {k: v.replace("BASE", str(configuration.base)) for k, v in env.items()}

    assert configuration.root("plug") == _copy("plug@shop")
