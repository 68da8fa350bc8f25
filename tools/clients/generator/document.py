"""The OpenAPI document in the form that the generators of both languages need."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Schema = dict[str, Any]
Role = Literal["supplier", "retailer"]

# An alternative path for old clients. The generated clients need only one path.
DIALECT = "/setStatus/cancellation_not_allowed"
# Paths below /v3/suppliers/ that retailers may read, too.
SHARED = ("/v3/suppliers/{supplier_id}/scorecard",)
JSON = "application/json"


@dataclass(frozen=True)
class ClientOperation:
    """One operation. Its `path` is relative to the party's path, or begins with `/v3`."""

    name: str
    about: str
    verb: str
    path: str
    ids: list[str]
    body: Schema | None
    needs_body: bool
    parameters: list[Schema]
    answer: Schema | None
    is_binary: bool
    has_if_match: bool
    item: Schema | None

    @property
    def iterated(self) -> str:
        """Return the name of the items of a list: `orders` for `list_orders`."""
        return self.name.partition("_")[2]


@dataclass(frozen=True)
class Document:
    """An OpenAPI 3.1 document of this service."""

    content: Schema

    @property
    def schemas(self) -> dict[str, Schema]:
        """Return the components by name."""
        found: dict[str, Schema] = self.content["components"]["schemas"]
        return found

    def operations(self, role: Role) -> list[ClientOperation]:
        """Return the operations of a role, in the document's order."""
        return [
            self._operation(path, verb, said, role)
            for path, item in self.content["paths"].items()
            if _concerns(path, role)
            for verb, said in item.items()
        ]

    def _operation(self, path: str, verb: str, said: Schema, role: Role) -> ClientOperation:
        inside = path.removeprefix(f"/v3/{role}s/{{{role}_id}}")
        body = said.get("requestBody", {})
        parameters = [each for each in said.get("parameters", ()) if each["in"] == "query"]
        answer = _answer(said)
        paged = {"cursor", "after"} & {each["name"] for each in parameters}
        return ClientOperation(
            name=said["operationId"].replace(f"_{role}_", "_"),
            about=said.get("description") or said.get("summary", ""),
            verb=verb.upper(),
            path=inside,
            ids=re.findall(r"\{(\w+)\}", inside),
            body=body.get("content", {}).get(JSON, {}).get("schema"),
            needs_body=bool(body.get("required")),
            parameters=[each for each in parameters if each["name"] != "cursor"],
            answer=answer,
            is_binary=any(not kind.startswith("text/") for kind in _success(said).get("content", ())),
            has_if_match=any(each["name"] == "If-Match" for each in said.get("parameters", ())),
            item=self._item(answer) if paged and answer else None,
        )

    def _item(self, answer: Schema) -> Schema:
        """Return the schema of a list's items."""
        schema = self.resolved(answer)
        rows = schema if schema["type"] == "array" else schema["properties"]["results"]
        found: Schema = rows["items"]
        return found

    def resolved(self, schema: Schema) -> Schema:
        """Return a schema, with its reference resolved."""
        return self.schemas[name_of(schema)] if "$ref" in schema else schema

    @property
    def decimals(self) -> list[str]:
        """Return the names of fields with decimal numbers. No schema may use such a name for an integer."""
        fields = [
            (name, kinds_of(each) + [kind for of in each.get("anyOf", ()) for kind in kinds_of(of)])
            for schema in self.schemas.values()
            for name, each in schema.get("properties", {}).items()
        ]
        found = {name for name, kinds in fields if "number" in kinds}
        assert not found & {name for name, kinds in fields if "integer" in kinds}
        return sorted(found)

    @cached_property
    def sent(self) -> set[str]:
        """Return the names of components in requests, whose fields accept more types than answers contain."""
        bodies = [
            content["schema"]
            for item in self.content["paths"].values()
            for said in item.values()
            for content in said.get("requestBody", {}).get("content", {}).values()
        ]
        found: set[str] = set()
        todo = [name for body in bodies for name in _references(body)]
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += _references(self.schemas[name])
        return found


def name_of(schema: Schema) -> str:
    """Return the name of the component to which a schema refers."""
    return str(schema["$ref"]).rpartition("/")[2]


def kinds_of(schema: Schema) -> list[str]:
    """Return the JSON types of a schema as a list."""
    said = schema.get("type", [])
    return [said] if isinstance(said, str) else list(said)


def _concerns(path: str, role: Role) -> bool:
    if path.endswith(DIALECT):
        return False
    # A supplier reads its variants below its own path, so only retailers need `/v3/variants/`.
    others = (*SHARED, "/v3/variants/") if role == "retailer" else ()
    return path.startswith((f"/v3/{role}s/", *others))


def _answer(said: Schema) -> Schema | None:
    """Return the schema of the successful answer, or None if the answer is not JSON."""
    found: Schema | None = _success(said).get("content", {}).get(JSON, {}).get("schema")
    return found


def _success(said: Schema) -> Schema:
    """Return the description of the successful answer."""
    found: Schema = next(each for status, each in said["responses"].items() if status.startswith("2"))
    return found


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for each in schema for name in _references(each)]
    if not isinstance(schema, dict):
        return []
    own = [name_of(schema)] if isinstance(schema.get("$ref"), str) else []
    return own + [name for each in schema.values() for name in _references(each)]
