"""The OpenAPI document describes each field."""

from __future__ import annotations

from typing import Any

from tests.described import document


def schemas() -> dict[str, Any]:
    found: dict[str, Any] = document()["components"]["schemas"]
    return found


def test_every_field_of_the_schema_is_described():
    missing = [
        f"{component}.{name}"
        for component, schema in schemas().items()
        for name, field in schema.get("properties", {}).items()
        if not field.get("description")
    ]
    assert not missing, f"describe these fields in docs/fields.toml or by help_text: {missing}"


def test_every_object_of_the_schema_is_described():
    objects = {name: each for name, each in schemas().items() if "properties" in each}
    missing = [
        name for name, each in objects.items() if not each.get("description") or "(contract" in str(each)
    ]
    assert not missing, f"these need a docstring, or a line in docs/fields.toml: {missing}"
