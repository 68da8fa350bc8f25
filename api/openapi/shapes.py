"""JSON Schema (2020-12) of the TypedDicts that the answers are built with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ComponentRegistry, ResolvedComponent, get_doc, resolve_type_hint
from drf_spectacular.utils import Direction, OpenApiResponse

from api.ids import LARGEST_ID

Schema = dict[str, Any]

NULL: Schema = {"type": "null"}
ID: Schema = {"type": "integer", "format": "int64", "minimum": 1, "maximum": LARGEST_ID}
PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    float: {"type": "number"},
    Decimal: {"type": "number"},
    NoneType: NULL,
    Any: {},
}
# In answers, the name of a field tells the format of its text or number.
FORMATS = [
    (re.compile(r"ship_until|original_created_at|expected_at"), "string", "date"),
    (re.compile(r"\w+_(at|since|until)|special_sale_price_(start|end)"), "string", "date-time"),
    (re.compile(r"next|previous|\w*url"), "string", "uri"),
    (re.compile(r"(\w+_)?id"), "integer", "int64"),
]


# Names that generated code cannot use: a class `Error` would hide JavaScript's own `Error`.
RENAMED = {
    "Error": "ApiError",
    "Return": "ReturnedGoods",
    "Property": "VariantProperty",
    "Option": "VariantOption",
}


class Shape:
    """An answer that a TypedDict describes. With `many`, the answer is an array of such objects."""

    def __init__(self, shape: type, *, many: bool = False) -> None:
        self.shape, self.many = shape, many


class ShapesByType:
    """The possible TypedDicts of an object. The field `type` beside the object selects the TypedDict.

    The schema lists the TypedDicts in `x-types` and allows any object. A union of the TypedDicts would break
    generated clients when a later version adds a type.
    """

    def __init__(self, shapes: Mapping[str, type]) -> None:
        self.shapes = shapes


class ShapeExtension(OpenApiSerializerExtension):
    """The extension through which drf-spectacular reads a Shape."""

    target_class = "api.openapi.shapes.Shape"

    def get_name(self, auto_schema: AutoSchema, direction: Direction) -> str | None:
        return name_of(self.target.shape) + ("List" if self.target.many else "")

    def get_identity(self, auto_schema: AutoSchema, direction: Direction) -> Any:
        return self.target.shape

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> Schema:
        shapes = Shapes(auto_schema.registry)
        if self.target.many:
            return {"type": "array", "items": shapes.schema_of(self.target.shape)}
        return shapes.object_of(self.target.shape)


class Shapes:
    """A converter from types to schemas. TypedDicts and enums become components."""

    def __init__(self, registry: ComponentRegistry) -> None:
        self.registry = registry

    def schema_of(self, hint: object) -> Schema:
        """Return the schema of a type. drf-spectacular handles types that this method does not know."""
        origin, args = get_origin(hint), get_args(hint)
        if hint in PLAIN:
            return dict(PLAIN[hint])
        if origin is Annotated:
            return self._with_types(*args)
        if origin is NotRequired:
            return self.schema_of(args[0])
        if origin in (Union, UnionType):
            return _one_of([self.schema_of(arg) for arg in args])
        if origin is list:
            return {"type": "array", "items": self.schema_of(args[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.schema_of(args[1]) or True}
        if origin is Literal:
            return {"type": "string", "enum": list(args)}
        if is_typeddict(hint) or is_typeddict(origin) or (isinstance(hint, type) and issubclass(hint, Enum)):
            return self._component(hint)
        return dict(resolve_type_hint(hint))

    def _with_types(self, hint: object, by_type: ShapesByType) -> Schema:
        types = {name: self.schema_of(shape) for name, shape in by_type.shapes.items()}
        return {**self.schema_of(hint), "x-types": types}

    def _component(self, hint: object) -> Schema:
        is_enum = isinstance(hint, type) and issubclass(hint, Enum)
        component = ResolvedComponent(name_of(hint), ResolvedComponent.SCHEMA, object=hint)
        if component in self.registry:
            return self.registry[component].ref
        self.registry.register(component)
        component.schema = enum_schema(hint) if is_enum else self.object_of(hint)
        return component.ref

    def object_of(self, shape: object) -> Schema:
        """Return the schema of a TypedDict, described by its docstring."""
        fields = get_type_hints(shape, include_extras=True)
        described: Schema = {
            "type": "object",
            "properties": {name: formatted(name, self.schema_of(hint)) for name, hint in fields.items()},
        }
        required = [name for name, hint in fields.items() if get_origin(hint) is not NotRequired]
        if required:
            described["required"] = required
        if documented := get_doc(shape):
            described["description"] = documented
        return described


def name_of(hint: Any) -> str:
    """Name a component: `Order` for OrderJson, `FulfillmentState` for the State of fulfillments."""
    name = str(hint.__name__).removesuffix("Json")
    if isinstance(hint, type) and issubclass(hint, Enum) and len(re.findall("[A-Z]", name)) == 1:
        name = hint.__module__.partition(".")[0].removesuffix("s").capitalize() + name
    return RENAMED.get(name, name)


def enum_schema(hint: type[Enum]) -> Schema:
    return {"type": "string", "enum": [member.value for member in hint], "description": get_doc(hint)}


def formatted(name: str, schema: Schema) -> Schema:
    """Add to a field's schema the format that follows from its name."""
    kinds = schema.get("type")
    kind = kinds if isinstance(kinds, str) else next((item for item in kinds or () if item != "null"), None)
    for pattern, of_kind, wanted in FORMATS:
        if kind == of_kind and "enum" not in schema and pattern.fullmatch(name):
            return {**schema, "format": wanted}
    return schema


def _one_of(schemas: list[Schema]) -> Schema:
    """Combine alternatives: plain types as a list of types, others with `anyOf`."""
    if all(set(schema) == {"type"} and isinstance(schema["type"], str) for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    if len(schemas) == 2 and schemas[1] == NULL and isinstance(schemas[0].get("type"), str):
        first = schemas[0]
        if "enum" not in first:
            return {**first, "type": [first["type"], "null"]}
    return {"anyOf": schemas}


def answers(shape: type, description: str, *, many: bool = False) -> OpenApiResponse:
    """Describe an answer by its TypedDict."""
    return OpenApiResponse(Shape(shape, many=many), description)
