"""A configuration directory of the agent, in which the real agent installs plugins."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.support.reference import agent_binary, base_environment


class Installs:
    """Installs plugins from marketplaces that are folders, without a network.

    Everything lies below *base*; `env` shows an agent, and us, where.
    """

    def __init__(self, base: Path) -> None:
        self._base = base
        self.config = base / "config"
        self._home = base / "installer"
        (self._home / "tmp").mkdir(parents=True)
        self.config.mkdir()

    @property
    def env(self) -> dict[str, str]:
        """Return what says where the configuration directory is."""
        return {"CLAUDE_CONFIG_DIR": str(self.config)}

    def shop(self, name: str, *roots: Path) -> None:
        """Add a marketplace: a folder in which the plugins are, each named after its folder."""
        folder = Path(*roots[0].parts[:-1])
        entries = [{"name": root.name, "source": f"./{root.name}"} for root in roots]
        self._catalog(folder, name, entries)
        self.agent("plugin", "marketplace", "add", str(folder))

    def distant_shop(self, name: str, *roots: Path) -> None:
        """Have a marketplace that was fetched from a server: plugins of it are installed as copies.

        The server does not exist; what was fetched lies where the agent would have put it.
        """
        clone = self.config / "plugins" / "marketplaces" / name
        for root in roots:
            shutil.copytree(root, clone / root.name)
        entries = [{"name": root.name, "source": f"./{root.name}"} for root in roots]
        self._catalog(clone, name, entries)
        source = {"source": "git", "url": "https://127.0.0.1:9/shop.git"}
        known = {"installLocation": str(clone), "lastUpdated": "2026-01-01T00:00:00.000Z"}
        self._add("plugins/known_marketplaces.json", {name: {"source": source, **known}})
        self._add("settings.json", {"extraKnownMarketplaces": {name: {"source": source}}})

    def install(self, *plugin_ids: str) -> None:
        """Install plugins for the user."""
        for plugin_id in plugin_ids:
            self.agent("plugin", "install", plugin_id)

    def agent(self, *arguments: str) -> str:
        """Run a command of the agent and return its output; it must succeed."""
        done = subprocess.run(
            [str(agent_binary()), *arguments],
            env={**base_environment("http://127.0.0.1:9", self._home), **self.env},
            cwd=self._home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout} {done.stderr}"
        return done.stdout

    def _catalog(self, folder: Path, name: str, entries: list[dict[str, str]]) -> None:
        (folder / ".claude-plugin").mkdir(exist_ok=True)
        catalog = {"name": name, "owner": {"name": "Somebody"}, "plugins": entries}
        (folder / ".claude-plugin" / "marketplace.json").write_text(json.dumps(catalog))

    def _add(self, file: str, content: Mapping[str, object]) -> None:
        path = self.config / file
        path.parent.mkdir(parents=True, exist_ok=True)
        known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        for key, value in content.items():
            known[key] = {**known.get(key, {}), **value} if isinstance(value, dict) else value
        path.write_text(json.dumps(known))
