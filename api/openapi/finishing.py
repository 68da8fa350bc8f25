"""What is done to the whole document at its end: enums get names, null becomes a type, tags are listed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from api.openapi.descriptions import describe
from api.openapi.headers import COMPONENTS
from api.openapi.naming import TAGS

Schema = dict[str, Any]
Place = tuple[str, str, Schema]
"""A property that holds an enum: of which component, under which name, and the schema around it."""


def finish(result: Schema, **_: Any) -> Schema:
    """A postprocessing hook of drf-spectacular."""
    schemas = result["components"]["schemas"]
    for component in [*schemas.values(), result["paths"]]:
        _make_plain(component)
    _name_enums(schemas)
    _name_choices(result["paths"], schemas)
    describe(schemas)
    for schema in schemas.values():
        _describe_defaults(schema)
    result["components"] = {
        **result["components"],
        "schemas": dict(sorted(schemas.items())),
        "headers": COMPONENTS,
    }
    used = {tag for item in result["paths"].values() for each in item.values() for tag in each["tags"]}
    result["tags"] = [{"name": tag, "description": TAGS.get(tag, tag)} for tag in sorted(used)]
    return result


def _make_plain(node: Any) -> None:
    """JSON Schema as OpenAPI 3.1 has it: null is a type, and exact decimals are no doubles."""
    if isinstance(node, list):
        for each in node:
            _make_plain(each)
    if not isinstance(node, dict):
        return
    for each in node.values():
        _make_plain(each)
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
    """Make each enum a component: under its class's name, or that of the fields that hold it."""
    named = {_values(schema): name for name, schema in schemas.items() if "enum" in schema}
    by_values: dict[tuple[str, ...], list[Place]] = defaultdict(list)
    for component, schema in sorted(schemas.items()):
        for name, held in _enums(schema):
            by_values[_values(held)].append((component, name, held))
    fields: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for values, places in by_values.items():
        for _, name, _ in places:
            fields[name].add(values)
    for values, places in by_values.items():
        name = named.get(values) or _free_name(places, schemas, alone=len(fields[places[0][1]]) == 1)
        if values not in named:
            schemas[name] = {"type": "string", "enum": list(values)}
        for _, _, held in places:
            _refer(held, name)


def _free_name(places: list[Place], schemas: dict[str, Schema], *, alone: bool) -> str:
    """A name that says what is chosen: the field's, or (where it is a common word) the component's too."""
    component, field, _ = places[0]
    name = _camel(field)
    if not alone or name in schemas or "_" not in field:
        name = component.removesuffix("Body") + name
    return name if name not in schemas else f"{name}Choice"


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"\W|_", name))


def _values(schema: Schema) -> tuple[str, ...]:
    return tuple(each for each in schema["enum"] if each not in (None, ""))


def _enums(schema: Any, name: str = "") -> Iterator[tuple[str, Schema]]:
    """The enums in a schema's properties, however deep, each with the name of its property."""
    if not isinstance(schema, dict):
        return
    if name and "enum" in schema:
        yield name, schema
    for key, each in schema.get("properties", {}).items():
        yield from _enums(each, key)
    for key in ("items", "additionalProperties"):
        yield from _enums(schema.get(key), name)
    for key in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(key, ()):
            yield from _enums(each, name)


def _refer(schema: Schema, name: str) -> None:
    """Put a reference where the enum stood; what else was said of the field stays beside it."""
    nullable = "null" in schema["type"] if isinstance(schema.get("type"), list) else False
    for key in ("type", "enum", "maxLength"):
        schema.pop(key, None)
    reference = {"$ref": f"#/components/schemas/{name}"}
    if nullable:
        schema["anyOf"] = [reference, {"type": "null"}]
    else:
        schema.update(reference)


def _name_choices(paths: Schema, schemas: dict[str, Schema]) -> None:
    """Let a parameter that takes just what a named enum has refer to that: generators then have one type."""
    named = {frozenset(_values(schema)): name for name, schema in schemas.items() if "enum" in schema}
    for item in paths.values():
        for operation in item.values():
            for parameter in operation.get("parameters", ()):
                schema = parameter["schema"]
                name = named.get(frozenset(_values(schema))) if "enum" in schema else None
                if name:
                    _refer(schema, name)


def _describe_defaults(schema: Schema) -> None:
    """Say a default in words: openapi-typescript takes a field that has one for a field that must be sent."""
    for field in schema.get("properties", {}).values():
        if "default" in field:
            default = field.pop("default")
            shown = str(default).lower() if isinstance(default, bool) else default
            field["description"] = f"{field.get('description', '')} Default: `{shown}`.".strip()
