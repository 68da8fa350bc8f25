"""Final changes to the whole OpenAPI document: enums get names, null becomes a type, tags are listed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from api.openapi.descriptions import describe
from api.openapi.dialects import mark_dialects
from api.openapi.headers import COMPONENTS
from api.openapi.naming import TAGS

Schema = dict[str, Any]
EnumUse = tuple[str, str, Schema]
"""A use of an enum: the component, the property's name, and the property's schema."""


def finish(result: Schema, **_: object) -> Schema:
    """Complete the document. This is a postprocessing hook of drf-spectacular."""
    schemas = result["components"]["schemas"]
    for component in [*schemas.values(), result["paths"]]:
        _make_plain(component)
    _name_enums(schemas)
    _name_choices(result["paths"], schemas)
    describe(schemas)
    for schema in schemas.values():
        _describe_defaults(schema)
    mark_dialects(result["paths"], schemas)
    result["components"] = {
        **result["components"],
        "schemas": dict(sorted(schemas.items())),
        "headers": COMPONENTS,
    }
    operations = (operation for item in result["paths"].values() for operation in item.values())
    used = {tag for operation in operations for tag in operation["tags"]}
    result["tags"] = [{"name": tag, "description": TAGS.get(tag, tag)} for tag in sorted(used)]
    return result


def _make_plain(node: object) -> None:
    """Convert a schema to OpenAPI 3.1: null is a type, and exact decimals are not doubles."""
    if isinstance(node, list):
        for child in node:
            _make_plain(child)
    if not isinstance(node, dict):
        return
    for child in node.values():
        _make_plain(child)
    if node.get("format") == "double":
        del node["format"]
    node.pop("x-spec-enum-id", None)
    if node.get("nullable") is True:
        del node["nullable"]
        _allow_null(node)


def _allow_null(schema: Schema) -> None:
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
        if "enum" in schema and None not in schema["enum"]:
            schema["enum"].append(None)
    else:
        about = {key: schema.pop(key) for key in ("description", "example", "default") if key in schema}
        inner = dict(schema)
        schema.clear()
        schema.update(anyOf=[inner, {"type": "null"}], **about)


def _name_enums(schemas: dict[str, Schema]) -> None:
    """Make each enum a component, named after its class or after a field that has the enum."""
    named = {_values(schema): name for name, schema in schemas.items() if "enum" in schema}
    by_values: dict[tuple[str, ...], list[EnumUse]] = defaultdict(list)
    for component, schema in sorted(schemas.items()):
        for name, enum in _enums(schema):
            by_values[_values(enum)].append((component, name, enum))
    fields: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for values, uses in by_values.items():
        for _, name, _ in uses:
            fields[name].add(values)
    for values, uses in by_values.items():
        name = named.get(values) or _free_name(uses, schemas, alone=len(fields[uses[0][1]]) == 1)
        if values not in named:
            schemas[name] = {"type": "string", "enum": list(values)}
        for _, _, enum in uses:
            _refer(enum, name)


def _free_name(uses: list[EnumUse], schemas: dict[str, Schema], *, alone: bool) -> str:
    """Return a name for an enum, made from the name of its field.

    Put the component's name first if the field's name is one word, or already names a schema or another enum.
    """
    component, field, _ = uses[0]
    name = _camel(field)
    if not alone or name in schemas or "_" not in field:
        name = component.removesuffix("Body") + name
    return name if name not in schemas else f"{name}Choice"


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"\W|_", name))


def _values(schema: Schema) -> tuple[str, ...]:
    return tuple(value for value in schema["enum"] if value not in (None, ""))


def _enums(schema: object, name: str = "") -> Iterator[tuple[str, Schema]]:
    """Yield the enums in a schema's properties at any depth, each with the name of its property."""
    if not isinstance(schema, dict):
        return
    if name and "enum" in schema:
        yield name, schema
    for key, child in schema.get("properties", {}).items():
        yield from _enums(child, key)
    for key in ("items", "additionalProperties"):
        yield from _enums(schema.get(key), name)
    for key in ("anyOf", "oneOf", "allOf"):
        for child in schema.get(key, ()):
            yield from _enums(child, name)


def _refer(schema: Schema, name: str) -> None:
    """Replace an enum by a reference to the component `name`. Other keywords of the schema stay."""
    nullable = "null" in schema["type"] if isinstance(schema.get("type"), list) else False
    for key in ("type", "enum", "maxLength"):
        schema.pop(key, None)
    reference = {"$ref": f"#/components/schemas/{name}"}
    if nullable:
        schema["anyOf"] = [reference, {"type": "null"}]
    else:
        schema.update(reference)


def _name_choices(paths: Schema, schemas: dict[str, Schema]) -> None:
    """Let a parameter refer to the named enum with the same values, so that generators make one type."""
    named = {frozenset(_values(schema)): name for name, schema in schemas.items() if "enum" in schema}
    for item in paths.values():
        for operation in item.values():
            for parameter in operation.get("parameters", ()):
                schema = parameter["schema"]
                name = named.get(frozenset(_values(schema))) if "enum" in schema else None
                if name:
                    _refer(schema, name)


def _describe_defaults(schema: Schema) -> None:
    """Move defaults into descriptions: openapi-typescript treats a field with a default as required."""
    for field in schema.get("properties", {}).values():
        if "default" in field:
            default = field.pop("default")
            shown = str(default).lower() if isinstance(default, bool) else default
            field["description"] = f"{field.get('description', '')} Default: `{shown}`.".strip()
