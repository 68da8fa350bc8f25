"""What the document says, as both languages need it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Schema = dict[str, Any]
Role = Literal["supplier", "retailer"]

# Other spellings of a path that old clients have: one of them is enough.
DIALECTS = ("/setStatus/cancelation not allowed", "/setStatus/cancellation_not_allowed")
# A supplier's paths that retailers read, too.
SHARED = ("/v3/suppliers/{supplier_id}/scorecard",)
JSON = "application/json"


@dataclass(frozen=True)
class Operation:
    """One call. `path` begins after the party's own path, or with `/v3` where it is nobody's."""

    name: str
    about: str
    verb: str
    path: str
    ids: list[str]
    body: Schema | None
    needs_body: bool
    parameters: list[Schema]
    answer: Schema | None
    item: Schema | None

    @property
    def iterated(self) -> str:
        """What its pages are of: `orders` for list_orders."""
        return self.name.partition("_")[2]


@dataclass(frozen=True)
class Document:
    """An OpenAPI 3.1 document of this service."""

    content: Schema

    @property
    def schemas(self) -> dict[str, Schema]:
        """The components, by their names."""
        found: dict[str, Schema] = self.content["components"]["schemas"]
        return found

    def operations(self, role: Role) -> list[Operation]:
        """What a role may call, in the document's order."""
        return [
            self._operation(path, verb, said, role)
            for path, item in self.content["paths"].items()
            if _concerns(path, role)
            for verb, said in item.items()
        ]

    def _operation(self, path: str, verb: str, said: Schema, role: Role) -> Operation:
        inside = path.removeprefix(f"/v3/{role}s/{{{role}_id}}")
        body = said.get("requestBody", {})
        parameters = [each for each in said.get("parameters", ()) if each["in"] == "query"]
        answer = _answer(said)
        paged = {"cursor", "after"} & {each["name"] for each in parameters}
        return Operation(
            name=said["operationId"].replace(f"_{role}_", "_"),
            about=said.get("description") or said.get("summary", ""),
            verb=verb.upper(),
            path=inside,
            ids=re.findall(r"\{(\w+)\}", inside),
            body=body.get("content", {}).get(JSON, {}).get("schema"),
            needs_body=bool(body.get("required")),
            parameters=[each for each in parameters if each["name"] != "cursor"],
            answer=answer,
            item=self._item(answer) if paged and answer else None,
        )

    def _item(self, answer: Schema) -> Schema:
        """What the pages of a list hold."""
        schema = self.resolved(answer)
        rows = schema if schema["type"] == "array" else schema["properties"]["results"]
        found: Schema = rows["items"]
        return found

    def resolved(self, schema: Schema) -> Schema:
        """A schema, or the one that it refers to."""
        return self.schemas[name_of(schema)] if "$ref" in schema else schema

    @cached_property
    def sent(self) -> set[str]:
        """The components that requests are made of: there more may be given than answers hold."""
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
    """The component that a reference names."""
    return str(schema["$ref"]).rpartition("/")[2]


def kinds_of(schema: Schema) -> list[str]:
    """The types of a schema."""
    said = schema.get("type", [])
    return [said] if isinstance(said, str) else list(said)


def _concerns(path: str, role: Role) -> bool:
    if path.endswith(DIALECTS):
        return False
    # A supplier reads its variants below its own path.
    others = (*SHARED, "/v3/variants/") if role == "retailer" else ()
    return path.startswith((f"/v3/{role}s/", *others))


def _answer(said: Schema) -> Schema | None:
    """What a success looks like; None where it is no JSON."""
    good = next(each for status, each in said["responses"].items() if status.startswith("2"))
    found: Schema | None = good.get("content", {}).get(JSON, {}).get("schema")
    return found


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for each in schema for name in _references(each)]
    if not isinstance(schema, dict):
        return []
    own = [name_of(schema)] if isinstance(schema.get("$ref"), str) else []
    return own + [name for each in schema.values() for name in _references(each)]
