"""Facts beyond the document that schemathesis needs (SCHEMATHESIS_HOOKS of `make fuzz`)."""

from __future__ import annotations

import os
from typing import Any

import schemathesis

# Characters that all texts refuse (api.fields, api.filters), which the document does not list.
CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f"
CLEAN = rf"^[^{CONTROL}]*$"
CLEAN_AND_NOT_BLANK = rf"^[^{CONTROL}]*[^\s{CONTROL}][^{CONTROL}]*$"
# Parameters without generated values. Only the service makes cursors. The document describes only answers
# with all `fields`. Any text is a valid If-None-Match, and no generated text is a valid If-Match.
LEFT_OUT = ("cursor", "fields", "If-None-Match", "If-Match")


@schemathesis.hook
def before_load_schema(context: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    """Use only the records of one party, with texts and bodies that the service accepts."""
    own = {"type": "integer", "enum": [int(os.environ["PARTY_ID"])]}
    for item in raw_schema["paths"].values():
        for operation in item.values():
            asked = [each for each in operation.get("parameters", ()) if each["name"] not in LEFT_OUT]
            for parameter in asked:
                if parameter["name"] in ("supplier_id", "retailer_id"):
                    parameter["schema"] = own
                _refuse_control(parameter["schema"])
                choices = parameter["schema"].get("enum")
                if parameter["in"] == "query" and choices and not parameter.get("required"):
                    parameter["schema"]["enum"] = [*choices, ""]  # the empty choice
            operation["parameters"] = asked
            _allow_null_for_optional_body(operation)
    for name, schema in raw_schema["components"]["schemas"].items():
        if name.endswith("Body"):
            _refuse_control(schema)


def _allow_null_for_optional_body(operation: dict[str, Any]) -> None:
    # Generated clients send null where they have no body (api.bodies.json_of).
    body = operation.get("requestBody")
    if body and not body.get("required"):
        for media in body["content"].values():
            media["schema"] = {"anyOf": [media["schema"], {"type": "null"}]}


def _refuse_control(schema: Any) -> None:
    if isinstance(schema, list):
        for each in schema:
            _refuse_control(each)
    if not isinstance(schema, dict):
        return
    kind = schema.get("type")
    is_text = "string" in ([kind] if isinstance(kind, str) else kind or ())
    if is_text and not {"enum", "format", "pattern"} & set(schema):
        schema["pattern"] = CLEAN_AND_NOT_BLANK if schema.get("minLength") else CLEAN
    for each in schema.values():
        _refuse_control(each)
