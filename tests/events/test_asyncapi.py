"""`/v3/asyncapi` describes every type of event, and real events fit its schemas."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from django.test import Client

from accounts.scopes import Role, Scope
from events.data_types import DATA_TYPES
from events.models import areas_of
from events.webhooks.types import TESTED, types_of
from tests.orders.fixtures import acme_api, an_order_at_acme, push, shop_api, status, work, work_of  # noqa: F401

KEYS = {"asyncapi", "info", "defaultContentType", "channels", "operations", "components"}


@pytest.fixture
def document() -> dict[str, Any]:
    body: dict[str, Any] = Client().get("/v3/asyncapi").json()
    return body


def references(node: Any) -> list[str]:
    if isinstance(node, list):
        return [each for child in node for each in references(child)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
    return own + [each for child in node.values() for each in references(child)]


def resolved(document: dict[str, Any], reference: str) -> Any:
    node: Any = document
    for part in reference.removeprefix("#/").split("/"):
        node = node[part]
    return node


def test_the_document_has_the_structure_of_asyncapi_3(document):
    assert set(document) == KEYS
    assert document["asyncapi"] == "3.0.0"
    assert {"title", "version"} <= set(document["info"])
    for operation in document["operations"].values():
        assert operation["action"] == "send"
        assert resolved(document, operation["channel"]["$ref"])["messages"]
    for reference in references(document):
        assert resolved(document, reference), reference
    for message in document["components"]["messages"].values():
        assert jsonschema_rs.meta.is_valid(message["payload"])


def test_each_role_has_exactly_the_types_that_its_webhooks_can_choose(document):
    for role in Role:
        channel = document["channels"][f"{role.value}Events"]
        assert set(channel["messages"]) == {*types_of(role, areas_of(Scope)), TESTED}


def test_the_data_of_every_type_is_described_here_and_in_the_openapi_document(document):
    openapi = Client().get("/v3/schema").json()
    types = openapi["components"]["schemas"]["Event"]["properties"]["data"]["x-types"]

    assert set(DATA_TYPES) == set(types) == set(document["components"]["messages"])
    for name, schema in types.items():
        ours, theirs = resolved(document, schema["$ref"]), resolved(openapi, schema["$ref"])
        assert ours["properties"].keys() == theirs["properties"].keys(), name


def test_real_events_fit_their_schemas(document, work, an_order_at_acme, acme_api, shop_api):  # noqa: F811
    """Check that the schema describes every field of an event, and that every required field is present."""
    acme_api.put(status(work, "accepted"), {"tracking_number": "A"})
    lamp = work.lines.order_by("pk")[0].pk
    acme_api.put(status(work, "shipped"), {"tracking_number": "A", "lines": [{"id": lamp, "quantity": 1}]})
    shop_api.post(f"orders/{an_order_at_acme.pk}/cancel", {"cancel_id": "C", "reason": "no"})
    acme_api.put(status(work), {"status": "cancelation not allowed"})
    acme_api.put(status(work, "out_of_stock"))

    seen = set()
    for client in (acme_api, shop_api):
        for event in client.get("events").json()["results"]:
            message = document["components"]["messages"][event["type"]]
            whole = {**message["payload"], "components": document["components"]}
            assert [
                each.message for each in jsonschema_rs.Draft202012Validator(whole).iter_errors(event)
            ] == []
            if event["type"] in DATA_TYPES:
                assert set(event["data"]) <= set(DATA_TYPES[event["type"]].__annotations__), event
                seen.add(event["type"])
    assert {"order.created", "order.processing", "fulfillment.shipped", "fulfillment.rejected"} <= seen


def test_the_document_is_public_and_cachable():
    answer = Client().get("/v3/asyncapi")
    again = Client().get("/v3/asyncapi", headers={"If-None-Match": answer.headers["ETag"]})
    assert (answer.headers["Content-Type"], again.status_code) == ("application/json", 304)
