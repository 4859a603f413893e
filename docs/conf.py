"""Settings of the documentation's site, for Sphinx.

The source directory is the repository's root, so that pages may link to the README and to the
example as they do on GitHub:

    sphinx-build -W --keep-going -n -b html -c docs . build/site
"""

from __future__ import annotations

import re
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from pytest_plugin_eval import __version__

project = "pytest-plugin-eval"
author = "The pytest-plugin-eval maintainers"
project_copyright = "the pytest-plugin-eval maintainers"
version = release = __version__

extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "changelog.d/README.md",
    "example_plugin/README.md",
]
# Nothing below these is a page; without them every file of a checkout would be looked at.
exclude_patterns = [".*", "build", "dist", "tests", "benchmarks", "pytest_plugin_eval", "*venv*"]

myst_heading_anchors = 4
nitpicky = True

html_theme = "furo"
html_title = f"pytest-plugin-eval {release}"
html_extra_path = ["_site"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_use_index = False
html_theme_options: dict[str, object] = {"top_of_page_buttons": []}

_SECTION = re.compile(r"^## (.+)$", re.M)
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)\.md\)")


def _with_navigation(_app: Sphinx, page: str, source: list[str]) -> None:
    """Make the navigation of what the index lists, which GitHub shows as it is."""
    if page != root_doc:
        return
    intro, *parts = _SECTION.split(source[0])
    trees = [("", intro), *zip(parts[::2], parts[1::2], strict=True)]
    for caption, text in trees:
        source[0] += "\n```{toctree}\n:hidden:\n"
        source[0] += f":caption: {caption}\n\n" if caption else "\n"
        source[0] += "\n".join(_entries(text)) + "\n```\n"


def _entries(text: str) -> list[str]:
    folder = Path(root_doc).parent
    return [f"/{_joined(folder, name)}" for name in _LINK.findall(text)]


def _joined(folder: Path, name: str) -> str:
    parts = [*folder.parts]
    for part in Path(name).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def setup(app: Sphinx) -> None:
    """Connect what is above, and show files with frontmatter plainly.

    To a reader of Markdown what stands above the second line of dashes is a heading.
    """
    app.add_lexer("markdown", TextLexer)
    app.connect("source-read", _with_navigation)
