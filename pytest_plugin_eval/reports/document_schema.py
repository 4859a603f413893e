"""The JSON Schema of the result document, made from `document_model`."""

from __future__ import annotations

import re

from pytest_plugin_eval.cases.schemas import Schema, headed, plain

__all__ = ["NAME", "TITLE", "document_schema"]

NAME = "result"
TITLE = "aggregate-result.json"


# Before the capital letters and in place of the underscores of a key.
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|_")


def document_schema() -> Schema:
    """Return the schema; fields that it does not know are none of its business."""
    from pytest_plugin_eval.reports.document_model import ResultDocument

    schema = plain(ResultDocument.model_json_schema(by_alias=True))
    assert isinstance(schema, dict)
    del schema["$defs"]["Ending"]["description"]  # it is for those who read the code
    for part in (schema, *schema["$defs"].values()):
        for name, field in part.get("properties", {}).items():
            field["title"] = _BETWEEN_WORDS.sub(" ", name).capitalize()
    return headed(NAME, TITLE, schema)
