"""What fields and components mean, from `docs/fields.toml`: added where the code itself does not say it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[2] / "docs" / "fields.toml"
Schema = dict[str, Any]
# Where in the contract a thing stands: for those who write the code, not for those who call it.
FOR_US = re.compile(r"\s*\((?:contract|interface) [^)]*\)")
NOTHING_SAID = "A JSON object. Unknown keys are ignored"


def describe(schemas: dict[str, Schema]) -> None:
    """Give each property and each component its description."""
    known: dict[str, dict[str, str]] = tomllib.loads(FILE.read_text(encoding="utf-8"))
    for component, schema in schemas.items():
        said = FOR_US.sub("", schema.get("description", ""))
        if not said or said.startswith(NOTHING_SAID):
            said = known["components"].get(component, said)
        if said:
            schema["description"] = said
        own = known.get(component, {})
        for name, field in schema.get("properties", {}).items():
            text = field.get("description") or own.get(name) or known["fields"].get(name)
            if text:
                field["description"] = text
