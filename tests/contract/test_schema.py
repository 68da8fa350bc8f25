"""The OpenAPI document describes what the service does, and the service does what it describes."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
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
from tests.contract.test_tenancy import TENANCY
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


@functools.cache
def as_read() -> Any:
    docs.document.cache_clear()  # other tests make it with a path of their own
    return schemathesis.openapi.from_wsgi("/v3/schema", application)


@pytest.fixture
def described(db) -> Any:
    """The document as schemathesis reads it from the service."""
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


def test_every_path_of_the_service_is_in_it(document):
    found = {
        (path, method) for path, item in document["paths"].items() for method in METHODS if method in item
    }
    expected = {
        ("/" + route.replace("<id:", "{").replace(">", "}"), method)
        for route, methods in TENANCY.items()
        for method in methods
    }
    assert found == expected | {("/oauth/token", "post")}


def test_every_operation_says_what_it_does_and_how_it_can_end(operations):
    ids = [operation["operationId"] for _, _, operation in operations]
    assert len(set(ids)) == len(ids)
    for path, method, operation in operations:
        assert operation.get("summary"), f"{method} {path} has no summary"
        statuses = set(operation["responses"])
        assert any(status.startswith("2") for status in statuses), f"{method} {path} never ends well"
        assert {"401", "429", "500", "503"} <= statuses, f"{method} {path} hides how it can fail"
        for status, response in operation["responses"].items():
            assert response["description"], f"{method} {path} {status} is not explained"


@pytest.fixture
def _in_this_transaction(ours):
    """A request through WSGI ends with its connection's end; here all share the test's own."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def ours(acme, shop, a_variant, client_for) -> dict[str, Any]:
    """What the generated requests may hit: one of everything, and the keys of both parties."""
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
            "import_id": job,
        },
        "supplier": supplier,
        "retailer": retailer,
    }


WALK = [(route, method) for route, methods in TENANCY.items() for method in methods]


@pytest.mark.usefixtures("_in_this_transaction")
@pytest.mark.parametrize(("route", "method"), [*WALK, ("oauth/token", "post")])
def test_no_generated_request_surprises(route, method, ours, described):
    """In-process and always the same: no 5xx, no status or body that the document does not have."""
    path = "/" + route.replace("<id:", "{").replace(">", "}")
    operation = described[path][method.upper()]
    client = ours["retailer" if "retailers" in route else "supplier"]

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
            case.path_parameters[name] = ours["ids"][name]
        # Called in process, schemathesis asks for gzip and does not unpack it.
        headers = {"Authorization": f"Bearer {client.secret}", "Accept-Encoding": "identity"}
        response = case.call(headers=headers)
        case.validate_response(response, checks=list(CHECKS))

    sane()
    odd()
