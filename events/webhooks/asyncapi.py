"""The AsyncAPI document of all events at /v3/asyncapi, generated from the tables of event types."""

from __future__ import annotations

import functools

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from drf_spectacular.plumbing import ComponentRegistry

from accounts.scopes import Role, Scope
from api.docs import public_document
from api.errors import only_read
from api.openapi.shapes import Shapes
from api.renderers import encode
from events.data_types import DATA_TYPES
from events.models import areas_of
from events.serializers import EventJson
from events.webhooks.described import HEADERS
from events.webhooks.types import TESTED, types_of

Schema = dict[str, object]


@functools.cache
def document() -> bytes:
    """Return the document. It changes only with the code."""
    registry = ComponentRegistry()
    shapes = Shapes(registry)
    event = shapes.schema_of(EventJson)
    of_role = {role: [*types_of(role, areas_of(Scope)), TESTED] for role in Role}
    messages = {
        name: _message(name, event, shapes.schema_of(DATA_TYPES[name]))
        for name in sorted({name for names in of_role.values() for name in names})
    }
    schemas = {component.name: component.schema for component in registry._components.values()}
    return encode(
        {
            "asyncapi": "3.0.0",
            "info": {
                "title": "The Exchange: events",
                "version": settings.SPECTACULAR_SETTINGS["VERSION"],
                "description": "Events in the feed of a party, and in deliveries to its webhooks. Ignore "
                "types that you do not know: later versions may add types.",
            },
            "defaultContentType": "application/json",
            "channels": {f"{role.value}Events": _channel(role, names) for role, names in of_role.items()},
            "operations": {f"send{role.value.capitalize()}Events": _operation(role) for role in of_role},
            "components": {
                "messages": messages,
                "schemas": schemas,
                "messageTraits": {"signed": {"headers": _headers()}},
            },
        }
    )


def _message(name: str, event: Schema, data: Schema) -> Schema:
    own: Schema = {"type": {"const": name}, "data": data}
    payload = {"allOf": [event, {"type": "object", "properties": own}]}
    trait = {"$ref": "#/components/messageTraits/signed"}
    return {"name": name, "title": name, "payload": payload, "traits": [trait]}


def _headers() -> Schema:
    shown = {name: {"type": "string", "description": text} for name, text in HEADERS.items()}
    return {"type": "object", "properties": shown}


def _channel(role: Role, names: list[str]) -> Schema:
    return {
        "address": None,  # each party registers its own URL
        "title": f"Events of a {role.value}",
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in names},
    }


def _operation(role: Role) -> Schema:
    return {
        "action": "send",
        "channel": {"$ref": f"#/channels/{role.value}Events"},
        "summary": f"Deliver an event to a webhook of a {role.value}.",
    }


@only_read
def asyncapi(request: HttpRequest) -> HttpResponse:
    """Return the AsyncAPI 3.0 document as JSON."""
    return public_document(request, document())
