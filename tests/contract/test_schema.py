"""The OpenAPI document is valid, complete and easy to use, and describes the answers of the service."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from drf_spectacular.validation import validate_schema
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api import docs
from config.wsgi import application
from tests.client import ApiClient
from tests.contract.test_tenancy import TENANCY
from tests.factories import SavedMappingFactory
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db

EXAMPLES = 5
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
ALIKE = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
METHODS = ("get", "put", "post", "patch", "delete")
DIALECT = "https://json-schema.org/draft/2020-12/schema"
# The keywords that schemas may use. `nullable` is missing, because only OpenAPI 3.0 has it.
KEYWORDS = {
    *("$ref", "type", "enum", "format", "description", "example", "default", "readOnly", "writeOnly"),
    *("properties", "required", "additionalProperties", "items", "anyOf", "oneOf", "allOf"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern"),
    *("minItems", "maxItems"),
    *("deprecated", "x-also"),  # `x-also` names the canonical form of a dialect
    "x-types",  # `x-types` has the schema of each event type's data
}


@functools.cache
def as_read() -> Any:
    docs.document.cache_clear()  # other tests may have generated a document with paths of their own
    return schemathesis.openapi.from_wsgi("/v3/schema", application)


@pytest.fixture
def described(db) -> Any:
    """Return the document that schemathesis has read from the service."""
    return as_read()


@pytest.fixture
def document(described) -> dict[str, Any]:
    raw: dict[str, Any] = described.raw_schema
    return raw


@pytest.fixture
def operations(document) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, item[method])
        for path, item in document["paths"].items()
        for method in METHODS
        if method in item
    ]


def test_the_document_is_valid_openapi(document):
    validate_schema(document)


def test_a_pull_has_no_documented_default_limit(document):
    pull = document["paths"]["/v3/retailers/{retailer_id}/variants"]["get"]
    [limit] = [each["schema"] for each in pull["parameters"] if each["name"] == "limit"]
    assert (limit["maximum"], "default" in limit) == (500, False)


def test_each_schema_is_json_schema_2020_12_without_older_keywords(document):
    for name, schema in document["components"]["schemas"].items():
        jsonschema_rs.meta.validate({"$schema": DIALECT, **schema})
        for node in nodes(schema):
            assert set(node) <= KEYWORDS, f"{name}: {set(node) - KEYWORDS}"


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and all schemas inside this schema."""
    if not isinstance(schema, dict):
        return
    yield schema
    for each in schema.get("properties", {}).values():
        yield from nodes(each)
    for key in ("items", "additionalProperties"):
        yield from nodes(schema.get(key))
    for key in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(key, ()):
            yield from nodes(each)


def test_the_id_of_an_operation_is_a_verb_with_its_object(operations):
    ids = {operation["operationId"] for _, _, operation in operations}
    assert {
        *("list_fulfillments", "get_fulfillment", "accept_fulfillment", "ship_fulfillment", "reject_lines"),
        *("push_order", "get_order", "list_orders", "cancel_order", "pull_variants", "create_token"),
        *("create_variant", "change_variant", "push_inventory", "import_products", "import_inventory"),
    } <= ids
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)+", each) for each in ids), sorted(ids)


def test_each_operation_has_one_tag_with_an_explanation(document, operations):
    explained = {tag["name"] for tag in document["tags"] if tag["description"] != tag["name"]}
    for path, _, operation in operations:
        assert len(operation["tags"]) == 1
        assert set(operation["tags"]) <= explained, f"{path}: see api.openapi.naming.TAGS"
    assert {"Supplier fulfillments", "Retailer orders"} <= explained


def test_every_parameter_has_its_limits_and_ids_are_integers(operations):
    for path, _, operation in operations:
        for each in operation.get("parameters", ()):
            schema, name = each["schema"], f"{path} {each['name']}"
            assert each.get("description") or {"enum", "$ref"} & set(schema), f"{name} is not explained"
            limits = {"enum", "$ref", "maximum", "maxLength", "format"} & set(schema)
            assert limits or schema["type"] == "boolean", f"{name} has no limits"
            if each["in"] == "path":
                assert (schema["type"], schema["minimum"]) == ("integer", 1)


def test_no_post_has_query_parameters(operations):
    """A repetition under an Idempotency-Key may have another query (accounts.idempotency)."""
    for path, method, operation in operations:
        places = {parameter["in"] for parameter in operation.get("parameters", ())}
        assert method != "post" or "query" not in places, path


def test_enums_are_named_after_their_field(document):
    named = {name for name, each in document["components"]["schemas"].items() if "enum" in each}
    assert {"FulfillmentState", "ProcessingState", "OrderType", "ImportStatus"} <= named
    assert not any(re.search(r"\d|[0-9a-f]{3}Enum", name) for name in named)
    for schema in document["components"]["schemas"].values():
        for each in schema.get("properties", {}).values():
            assert "enum" not in each, "an enum must have a name"


def test_every_answer_names_its_headers(document, operations):
    known = document["components"]["headers"]
    for path, method, operation in operations:
        for status, response in operation["responses"].items():
            assert "X-Request-Id" in response["headers"], f"{method} {path} {status}"
            for name, header in response["headers"].items():
                assert "$ref" not in header or header["$ref"].rsplit("/", 1)[1] in known, name
        assert "Retry-After" in operation["responses"]["429"]["headers"]
        if "201" in operation["responses"]:
            assert "Location" in operation["responses"]["201"]["headers"]


def test_date_times_and_dates_have_their_formats(document):
    schemas = document["components"]["schemas"]
    assert schemas["Order"]["properties"]["created_at"]["format"] == "date-time"
    assert schemas["Order"]["properties"]["ship_until"]["format"] == "date"
    for name, schema in schemas.items():
        for field, each in schema.get("properties", {}).items():
            if field.endswith("_at") and "string" in each["type"]:
                assert "format" in each, f"{name}.{field}"


def test_the_document_names_the_server_that_it_came_from():
    for host in ("127.0.0.1", "localhost:8000"):
        servers = Client().get("/v3/schema", headers={"Host": host}).json()["servers"]
        assert [server["url"] for server in servers] == [f"http://{host}"]


def test_every_path_of_the_service_is_in_the_document(document):
    found = {
        (path, method) for path, item in document["paths"].items() for method in METHODS if method in item
    }
    expected = {
        ("/" + route.replace("<id:", "{").replace(">", "}"), method)
        for route, methods in TENANCY.items()
        for method in methods
        if " " not in route  # a route with a blank is an older spelling, which is not documented
    }
    assert found == expected | {("/oauth/token", "post")}


def test_every_operation_has_a_summary_and_all_its_answers(operations):
    ids = [operation["operationId"] for _, _, operation in operations]
    assert len(set(ids)) == len(ids)
    for path, method, operation in operations:
        assert operation.get("summary"), f"{method} {path} has no summary"
        statuses = set(operation["responses"])
        assert any(status.startswith("2") for status in statuses), f"{method} {path} has no 2xx answer"
        assert {"401", "429", "500", "503"} <= statuses, f"{method} {path} lacks an error answer"
        for status, response in operation["responses"].items():
            assert response["description"], f"{method} {path} {status} is not explained"


@pytest.fixture
def _in_this_transaction(ours):
    """Keep the database connection open.

    A request through WSGI would close the connection, and roll back the transaction of the test.
    """
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def ours(acme, shop, a_variant, client_for) -> dict[str, Any]:
    """Create one object of each kind for the generated requests. Return the ids and both parties' clients."""
    variant = a_variant(acme, "A-1", stock=50)
    supplier, retailer = client_for(acme, rate_limit="off"), client_for(shop, rate_limit="off")
    order = retailer.post("orders", an_order({"variant_id": variant.pk, "quantity": 2})).json()["order_id"]
    fulfillment = supplier.get("fulfillments").json()[0]["id"]
    job = supplier.post("importProducts", {"data": ["sku,title,retail_price", "A-2,Two,2"]}).json()["id"]
    return {
        "ids": {
            "supplier_id": acme.pk,
            "retailer_id": shop.pk,
            "variant_id": variant.pk,
            "order_id": order,
            "fulfillment_id": fulfillment,
            "shipment_id": _shipped(supplier, fulfillment),
            "import_id": job,
            "mapping_id": SavedMappingFactory.create(supplier=acme).pk,
        },
        "webhooks": {
            "supplier": supplier.post("webhooks", {"url": "https://acme.example/"}).json()["id"],
            "retailer": retailer.post("webhooks", {"url": "https://shop.example/"}).json()["id"],
        },
        "supplier": supplier,
        "retailer": retailer,
    }


def _shipped(supplier: ApiClient, fulfillment: int) -> int:
    """Ship one unit of a fulfillment, and return the id of the shipment."""
    path = f"fulfillments/{fulfillment}"
    [line] = supplier.get(path).json()["lines"]
    supplier.put(f"{path}/setStatus/accepted")
    units = {"tracking_number": "T-1", "lines": [{"id": line["id"], "quantity": 1}]}
    supplier.put(f"{path}/setStatus/shipped", units)
    return int(supplier.get(path).json()["shipments"][0]["id"])


WALK = [(route, method) for route, methods in TENANCY.items() for method in methods if " " not in route]


@pytest.mark.usefixtures("_in_this_transaction")
@pytest.mark.parametrize("route", [route for route, method in WALK if method == "get"])
def test_a_near_miss_of_a_documented_parameter_of_a_read_is_refused(route, ours, document):
    """Ignoring a misspelled parameter would, for example, list everything (contract 2)."""
    path = "/" + route.replace("<id:", "{").replace(">", "}")
    role = "retailer" if "retailers" in route else "supplier"
    ids = {**ours["ids"], "webhook_id": ours["webhooks"][role]}
    client, url = ours[role], re.sub(r"\{(\w+)\}", lambda found: str(ids[found[1]]), path)
    names = [
        each["name"] for each in document["paths"][path]["get"].get("parameters", ()) if each["in"] == "query"
    ]
    for name in names:
        letter_lost = name[:-1] if len(name) > 3 else name.upper()
        for near in {name.capitalize(), letter_lost} - {*names}:
            answer = client.get(url, {near: "1"})
            assert answer.status_code == 400, f"{near}: {answer.status_code}"
            assert [(each["field"], each["code"]) for each in answer.json()["errors"]] == [(near, "unknown")]
        twice = client.get(f"{url}?{name}=1&{name}=2")
        assert (twice.status_code, twice.json()["code"]) == (400, "invalid_filter"), name
    assert client.get(url, {"_": "1700000000000"}).status_code == client.get(url).status_code


@pytest.mark.fuzz
@pytest.mark.usefixtures("_in_this_transaction")
@pytest.mark.parametrize(("route", "method"), [*WALK, ("oauth/token", "post")])
def test_generated_requests_get_documented_answers(route, method, ours, described):
    """No generated request gets a 5xx answer, or a status or body that the document does not describe.

    The requests are the same in each run, and are handled in this process.
    """
    path = "/" + route.replace("<id:", "{").replace(">", "}")
    operation = described[path][method.upper()]
    role = "retailer" if "retailers" in route else "supplier"
    client, ids = ours[role], {**ours["ids"], "webhook_id": ours["webhooks"][role]}

    @ALIKE
    @given(case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
    def sane(case):
        ask(case)

    @ALIKE
    @given(case=operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    def odd(case):
        ask(case)

    def ask(case):
        for name in case.path_parameters or {}:
            case.path_parameters[name] = ids[name]
        # The document describes only answers with all fields, so leave `fields` out.
        (case.query or {}).pop("fields", None)
        # In process, schemathesis would accept gzip without decompressing the answer.
        headers = {"Authorization": f"Bearer {client.secret}", "Accept-Encoding": "identity"}
        response = case.call(headers=headers)
        case.validate_response(response, checks=list(CHECKS))

    sane()
    odd()


def test_the_token_operation_promises_nothing_about_keys_that_it_ignores(document):
    operation = document["paths"]["/oauth/token"]["post"]
    assert "Idempotency-Key` has no effect" in operation["description"]
    assert not {"403", "404", "409", "422"} & operation["responses"].keys()
    assert "Idempotent-Replayed" not in operation["responses"]["200"]["headers"]
