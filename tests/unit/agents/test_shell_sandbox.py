"""The settings of the agent's sandbox for a shell, and what this machine needs for it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.agents.grants import ToolEntry
from pytest_plugin_eval.agents.sandbox import RunRoot, Sandbox, default_run_root
from pytest_plugin_eval.agents.shell_sandbox import check_shell, prepare_home, shell_settings
from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.records.model import Arm
from tests.support.agents import make_case, write_plugin

RUN = Sandbox(Path("/runs/eval-1"))
BASH = ToolEntry("Bash")


def block(
    root: Path,
    arm: Arm = Arm.WITH,
    entries: Sequence[ToolEntry] = (BASH,),
    *,
    env: Mapping[str, str] | None = None,
    hidden: Sequence[Path] = (),
    **changes: Any,
) -> Any:
    text = shell_settings(
        make_case(root, **changes), arm, RUN, entries=entries, env=env or {}, hidden=hidden
    )
    assert text is not None
    return json.loads(text)["sandbox"]


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    return write_plugin(tmp_path / "repo" / "plugins" / "demo")


def test_no_settings_without_a_shell(plugin: Path) -> None:
    entries = [ToolEntry("Write"), ToolEntry("BashOutput"), ToolEntry("mcp__a__Bash")]

    assert shell_settings(make_case(plugin), Arm.WITH, RUN, entries=entries, env={}) is None


@pytest.mark.parametrize("entry", [BASH, ToolEntry("Bash", "git *")])
def test_any_form_of_a_shell_is_confined(plugin: Path, entry: ToolEntry) -> None:
    found = block(plugin, entries=[ToolEntry("Write"), entry])

    assert {name: value for name, value in found.items() if isinstance(value, bool)} == {
        "enabled": True,
        "failIfUnavailable": True,
        "autoAllowBashIfSandboxed": False,
        "allowUnsandboxedCommands": False,
    }


def test_network_is_that_of_granted_domains(plugin: Path) -> None:
    entries = [
        BASH,
        ToolEntry("WebFetch"),
        ToolEntry("WebFetch", "domain:a.example"),
        ToolEntry("WebFetch", "domain:*.b.example"),
        ToolEntry("WebFetch", "domain:"),
        ToolEntry("WebSearch", "domain:c.example"),
    ]

    assert block(plugin, entries=entries)["network"] == {
        "allowedDomains": ["a.example", "*.b.example"]
    }
    assert block(plugin)["network"] == {"allowedDomains": []}


def test_run_home_and_tmp_are_writable_but_not_what_others_start_by(plugin: Path) -> None:
    files = block(plugin)["filesystem"]

    assert files["allowWrite"] == ["//runs/eval-1/home", "//runs/eval-1/tmp"]
    assert {
        "//runs/eval-1/config",
        "//runs/eval-1/out",
        "//runs/eval-1/home/.git/config",
        "//runs/eval-1/home/.git/hooks",
        "//runs/eval-1/home/.gitconfig",
        "//runs/eval-1/home/.bashrc",
        "//tmp/claude",
    } <= set(files["denyWrite"])


@pytest.mark.parametrize("arm", list(Arm))
def test_suite_neighbours_and_private_places_are_unreadable(plugin: Path, arm: Arm) -> None:
    results = plugin.parent / "results"
    repository = plugin.parents[1]
    (repository / ".git").mkdir()

    closed = block(plugin, arm, env={"HOME": "/home/kim"}, hidden=[results])["filesystem"][
        "denyRead"
    ]

    assert {
        "//home/kim",
        "//tmp",
        "//dev/shm",
        "//etc/shadow",
        "//runs",
        "//runs/eval-1/config",
        "//runs/eval-1/out",
        f"/{plugin.parent}",
        f"/{plugin}/evals",
        f"/{plugin}/.git",
        f"/{repository}/.git",
        f"/{results}",
    } <= set(closed)


def test_only_the_arm_with_the_plugin_reads_it(plugin: Path) -> None:
    own = ["//runs/eval-1/home", "//runs/eval-1/tmp"]

    with_it = block(plugin, Arm.WITH)["filesystem"]
    without = block(plugin, Arm.WITHOUT)["filesystem"]

    assert (with_it["allowRead"], without["allowRead"]) == ([*own, f"/{plugin}"], own)
    assert f"/{plugin}" not in with_it["denyRead"]
    assert f"/{plugin}" in without["denyRead"]


def test_added_directories_are_readable(plugin: Path) -> None:
    found = block(plugin, Arm.WITHOUT, add_dirs=("data",))

    assert f"/{plugin}/evals/hello/data" in found["filesystem"]["allowRead"]


def test_home_that_is_the_root_closes_what_is_private_in_it(plugin: Path) -> None:
    closed = block(plugin, env={"HOME": "/"})["filesystem"]["denyRead"]

    assert "//" not in closed
    assert {"//.ssh", "//.aws", "//.claude"} <= set(closed)


def test_links_are_closed_by_both_names(tmp_path: Path) -> None:
    root = write_plugin(tmp_path / "real" / "demo")
    (tmp_path / "link").symlink_to(tmp_path / "real")

    closed = block(tmp_path / "link" / "demo")["filesystem"]["denyRead"]

    assert {f"/{tmp_path}/link/demo/evals", f"/{root}/evals"} <= set(closed)


def test_credentials_of_the_environment_do_not_reach_the_shell(plugin: Path) -> None:
    env = {
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_CUSTOM_HEADERS": "x: y",
        "AWS_SECRET_ACCESS_KEY": "s",
        "GITHUB_TOKEN": "never given to the agent",
        "HTTPS_PROXY": "http://kim:pw@proxy.example",
        "HTTP_PROXY": "http://proxy.example",
        "EVAL_TOKEN": "meant for the workspace",
        "GOOGLE_APPLICATION_CREDENTIALS": "/srv/google.json",
        "HOME": "/home/kim",
        "LANG": "C",
    }

    credentials = block(plugin, env=env)["credentials"]

    assert [entry["name"] for entry in credentials["envVars"]] == [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_CUSTOM_HEADERS",
        "AWS_SECRET_ACCESS_KEY",
        "HTTPS_PROXY",
    ]
    assert {"path": "//srv/google.json", "mode": "deny"} in credentials["files"]
    assert {entry["mode"] for kind in credentials.values() for entry in kind} == {"deny"}


def test_settings_file_is_ours_and_the_home_keeps_its_git_state(tmp_path: Path) -> None:
    sandbox = RunRoot(tmp_path).new()

    sandbox.make(settings="{}")
    prepare_home(sandbox)

    assert (sandbox.config / "settings.json").read_text(encoding="utf-8") == "{}"
    assert sandbox.foreign_configuration() == ("settings.json",)
    assert sandbox.foreign_configuration(has_settings=True) == ()
    assert (sandbox.home / ".bashrc").read_bytes() == b""
    exclude = (sandbox.home / ".git" / "info" / "exclude").read_text(encoding="utf-8").split()
    assert {"/.bashrc", "/.npmrc", "/cwd/.bashrc"} <= set(exclude)
    assert "/.gitconfig" not in exclude


def programs(directory: Path, **scripts: str) -> dict[str, str]:
    """Return an environment whose PATH holds nothing but the programs given."""
    directory.mkdir()
    for name, text in scripts.items():
        file = directory / name
        file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        file.chmod(0o755)
    return {"PATH": str(directory)}


def check(
    env: Mapping[str, str],
    grants: Sequence[str] = ("Bash",),
    removals: Sequence[str] = (),
    *,
    run_root: Path = Path("/runs"),
    platform: str = "linux",
) -> None:
    check_shell(grants, removals, env=env, run_root=run_root, platform=platform)


@pytest.mark.parametrize(
    ("there", "packages"),
    [
        ({}, "bubblewrap socat"),
        ({"socat": ""}, "bubblewrap"),
        ({"bwrap": ""}, "socat"),
    ],
    ids=["neither", "no-bwrap", "no-socat"],
)
def test_missing_program_is_named_by_its_package(
    tmp_path: Path, there: Mapping[str, str], packages: str
) -> None:
    env = programs(tmp_path / "bin", **there)

    with pytest.raises(SettingsError, match=f"apt-get install {packages} "):
        check(env, ["Bash(git *)"])


def test_sandbox_that_does_not_work_is_refused_with_its_own_words(tmp_path: Path) -> None:
    env = programs(tmp_path / "bin", socat="", bwrap="echo no user namespaces >&2; exit 1")

    with pytest.raises(SettingsError, match="cannot make a sandbox here: no user namespaces, "):
        check(env)


def test_sandbox_that_says_nothing_is_refused_by_its_status(tmp_path: Path) -> None:
    env = programs(tmp_path / "bin", socat="", bwrap="exit 7")

    with pytest.raises(SettingsError, match="here: it ended with status 7, "):
        check(env)


def test_sandbox_that_works_is_fine(tmp_path: Path) -> None:
    check(programs(tmp_path / "bin", socat="", bwrap="exit 0"))


@pytest.mark.parametrize("user", ["ci", "firstname.lastname", "firstname.lastname-contract"])
def test_default_run_root_is_short_enough(
    user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", f"/home/{user}")

    check(programs(tmp_path / "bin", socat="", bwrap="exit 0"), run_root=default_run_root())


def test_run_root_has_room_for_sockets(tmp_path: Path) -> None:
    env = programs(tmp_path / "bin", socat="", bwrap="exit 0")

    check(env, run_root=Path("/" + "x" * 51))
    with pytest.raises(
        SettingsError, match=r"'Bash' is .* of 53 bytes, expected at most 52, name "
    ):
        check(env, run_root=Path("/" + "x" * 52))
    with pytest.raises(SettingsError, match=r"'Bash\(git \*\)' is refused: "):
        check(env, ["Write", "Bash(git *)"], run_root=Path("/" + "x" * 52))
    with pytest.raises(SettingsError, match="of 53 bytes"):
        check(env, run_root=Path("/" + "\u00e9" * 26))


@pytest.mark.parametrize(
    ("grants", "removals", "platform"),
    [
        (["Write"], [], "linux"),
        (["Bash"], ["Bash"], "linux"),
        (["Bash"], [], "darwin"),
    ],
    ids=["no-shell", "taken-away", "macos"],
)
def test_nothing_is_needed(
    tmp_path: Path, grants: Sequence[str], removals: Sequence[str], platform: str
) -> None:
    check(programs(tmp_path / "bin"), grants, removals, platform=platform)


def test_windows_has_no_sandbox() -> None:
    with pytest.raises(SettingsError, match="'Bash' is refused on win32"):
        check(os.environ, platform="win32")
