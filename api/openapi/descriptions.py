"""Descriptions from `docs/fields.toml`, for the fields and components without a description in the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[2] / "docs" / "fields.toml"
Schema = dict[str, Any]
# References to the contract help developers of the service, not its callers.
CONTRACT_REFERENCE = re.compile(r"\s*\((?:contract|interface) [^)]*\)")
GENERIC = "A JSON object. Unknown keys are ignored"


def describe(schemas: dict[str, Schema]) -> None:
    """Give each property and each component its description."""
    known: dict[str, dict[str, str]] = tomllib.loads(FILE.read_text(encoding="utf-8"))
    for component, schema in schemas.items():
        description = CONTRACT_REFERENCE.sub("", schema.get("description", ""))
        if not description or description.startswith(GENERIC):
            description = known["components"].get(component, description)
        if description:
            schema["description"] = description
        of_component = known.get(component, {})
        for name, field in schema.get("properties", {}).items():
            text = field.get("description") or of_component.get(name) or known["fields"].get(name)
            if text:
                field["description"] = text
