"""Hooks of schemathesis for `make fuzz`: limits of requests that the OpenAPI document does not contain."""

from __future__ import annotations

import os
from typing import Any

import schemathesis

# Characters that no text may contain (api.fields, api.filters). The document does not list them.
CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f"
CLEAN = rf"^[^{CONTROL}]*$"
CLEAN_AND_NOT_BLANK = rf"^[^{CONTROL}]*[^\s{CONTROL}][^{CONTROL}]*$"
# Parameters that are not sent. Only the service can make a `cursor`. The document describes only answers
# with all fields, so `fields` is left out. The service accepts any text as If-None-Match, but no generated
# text as If-Match.
LEFT_OUT = ("cursor", "fields", "If-None-Match", "If-Match")


@schemathesis.hook
def before_load_schema(context: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    """Change the document: only the ids of one party, and only texts and bodies that the service accepts."""
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
                    parameter["schema"]["enum"] = [*choices, ""]  # the service accepts an empty value, too
            operation["parameters"] = asked
            _allow_null_for_optional_body(operation)
    for name, schema in raw_schema["components"]["schemas"].items():
        if name.endswith("Body"):
            _refuse_control(schema)


def _allow_null_for_optional_body(operation: dict[str, Any]) -> None:
    # The service accepts null for an optional body, because generated clients send it (api.bodies.json_of).
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
