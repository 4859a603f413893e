"""`plugin-eval schema`: the JSON Schemas of the files, for editors and checkers."""

from __future__ import annotations

import json

import click

from pytest_plugin_eval.cases.schemas import FILE_KINDS, file_schema
from pytest_plugin_eval.cli.output import say, say_all
from pytest_plugin_eval.reports.document_schema import NAME, TITLE, document_schema
from pytest_plugin_eval.text import did_you_mean, shown

__all__ = ["KINDS", "schema"]

KINDS = {**FILE_KINDS, NAME: TITLE}
"""Names that the command knows, and what each is the schema of."""


@click.command("schema")
@click.argument("name", required=False)
def schema(name: str | None) -> int:
    """Print the JSON Schema of a file format, by NAME; without a name, list them.

    Editors complete and check a file by its schema: `plugin-eval schema case > case.schema.json`,
    then a first line in case.yaml: `# yaml-language-server: $schema=../case.schema.json`.
    """
    if name is None:
        width = max(map(len, KINDS))
        for each, title in KINDS.items():
            say(f"{each:{width}}  {title}")
        return 0
    if name not in KINDS:
        hint = did_you_mean(name, KINDS) or f", expected one of {', '.join(KINDS)}"
        raise click.ClickException(f"{shown(name)} is no schema{hint}")
    found = document_schema() if name == NAME else file_schema(name)
    # Beyond ASCII nothing stands in them: what is redirected on Windows would be another encoding.
    say_all(json.dumps(found, indent=2).splitlines())
    return 0
