"""The health checks, OpenAPI document, documentation and demo.json of the service (contract 11 and 12)."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from urllib.parse import urlencode

import pytest

from .http_client import Caller, well
from .steps import bring_to, fulfillment, new_variant, one_fulfillment

SUPPLIER = "/v3/suppliers/{}"
PATHS = {
    "/v3/suppliers/{}/fulfillments": {"get"},
    "/v3/suppliers/{}/fulfillments/{}": {"get", "put"},
    "/v3/suppliers/{}/fulfillments/{}/setStatus": {"put"},
    "/v3/suppliers/{}/fulfillments/{}/setStatus/accepted": {"put"},
    "/v3/suppliers/{}/fulfillments/{}/setStatus/shipped": {"put"},
    "/v3/suppliers/{}/fulfillments/{}/setStatus/out_of_stock": {"put"},
    "/v3/suppliers/{}/fulfillments/{}/setStatus/missing_sku": {"put"},
    "/v3/suppliers/{}/fulfillments/{}/setStatus/wrong_address": {"put"},
    "/v3/suppliers/{}/fulfillments/{}/setStatus/canceled": {"put"},
    "/v3/suppliers/{}/fulfillments/{}/setStatus/cancelation_not_allowed": {"put"},
    "/v3/suppliers/{}/fulfillments/{}/setStatus/cancellation_not_allowed": {"put"},
    "/v3/suppliers/{}/fulfillments/shipments": {"post"},
    "/v3/suppliers/{}/fulfillments/rejections": {"post"},
    "/v3/suppliers/{}/fulfillments/{}/returns": {"post"},
    "/v3/suppliers/{}/fulfillments/{}/shipments/{}": {"patch"},
    "/v3/suppliers/{}": {"get"},
    "/v3/suppliers/{}/variants": {"get", "post"},
    "/v3/variants/{}": {"get"},
    "/v3/suppliers/{}/importProducts": {"post"},
    "/v3/suppliers/{}/importInventory": {"post"},
    "/v3/suppliers/{}/imports": {"get"},
    "/v3/suppliers/{}/imports/{}": {"get"},
    "/v3/suppliers/{}/imports/{}/errors": {"get"},
    "/v3/suppliers/{}/imports/{}/cancel": {"post"},
    "/v3/suppliers/{}/imports/{}/approve": {"post"},
    "/v3/suppliers/{}/templates/products.csv": {"get"},
    "/v3/suppliers/{}/templates/inventory.csv": {"get"},
    "/v3/suppliers/{}/inventory": {"get", "post"},
    "/v3/suppliers/{}/uploads": {"get"},
    "/v3/suppliers/{}/events": {"get"},
    "/v3/retailers/{}/variants": {"get"},
    "/v3/retailers/{}/orders": {"get", "post"},
    "/v3/retailers/{}/orders/{}": {"get"},
    "/v3/retailers/{}/orders/{}/cancel": {"post"},
    "/v3/retailers/{}/order-filters": {"get"},
    "/v3/retailers/{}/events": {"get"},
    "/oauth/token": {"post"},
}
STATES = [
    "new",
    "accepted",
    "shipped",
    "out_of_stock",
    "missing_sku",
    "wrong_address",
    "canceling",
    "canceled",
    "cancelation not allowed",
]
CODES = [
    "accepted",
    "shipped",
    "out_of_stock",
    "missing_sku",
    "wrong_address",
    "canceled",
    "cancelation_not_allowed",
    "order_created",
    "order_exists",
    "cancel_requested",
    "order_canceled",
    "unchanged",
    "invalid_json",
    "validation_error",
    "missing_parameter",
    "id_mismatch",
    "invalid_filter",
    "invalid_cursor",
    "unauthorized",
    "forbidden",
    "not_found",
    "method_not_allowed",
    "not_acceptable",
    "unsupported_media_type",
    "invalid_transition",
    "order_conflict",
    "sku_exists",
    "insufficient_stock",
    "in_progress",
    "idempotency_conflict",
    "too_large",
    "rate_limited",
    "busy",
    "unavailable",
    "internal_error",
    "invoice_saved",
    "lines_rejected",
    "return_recorded",
]


@pytest.fixture(scope="module")
def schema(anyone):
    answer = anyone.get("/v3/schema", Accept="application/json")
    if answer.headers.get_content_type() not in ("application/json", "application/vnd.oai.openapi+json"):
        answer = anyone.get("/v3/schema?format=json", Accept="*/*")
    assert answer.status == 200, answer
    return answer.json


@pytest.fixture(scope="module")
def operations(schema):
    """Return the operations of the OpenAPI document by path and method.

    `{}` replaces each placeholder in a path. A path that ends with a status is also returned with each value
    of the status.
    """
    found: dict[str, dict[str, object]] = {}
    for path, methods in schema["paths"].items():
        for spelt in _spelt(path, methods):
            found.setdefault(spelt.rstrip("/"), {}).update(methods)
    return found


def _spelt(path, methods):
    bare = re.sub(r"\{[^}]*\}", "{}", path)
    yield bare
    last = re.search(r"setStatus/\{([^}]*)\}/?$", path)
    if last:
        for operation in methods.values():
            for parameter in operation.get("parameters", []) if isinstance(operation, dict) else []:
                if parameter.get("name") == last[1]:
                    for value in parameter["schema"].get("enum", []):
                        yield bare.rstrip("/").removesuffix("{}") + value


def test_the_service_is_alive_and_ready(anyone):
    """Contract 11 and 17: `GET /healthz` answers 200. `GET /readyz` answers 200 if the database answers."""
    assert anyone.get("/healthz").status == 200
    assert anyone.get("/readyz").status == 200


def test_the_schema_is_open_api_3_and_public(schema):
    """Contract 11 and 12: `GET /v3/schema` is an OpenAPI 3 document, and public."""
    assert schema["openapi"].startswith("3.")


@pytest.mark.parametrize("path", PATHS)
def test_the_schema_names_every_path_and_method(operations, path):
    """Contract 10: all these paths are in the schema of the API."""
    assert path in operations, f"{path} is not in the schema"
    assert PATHS[path] <= set(operations[path])


def _text(schema):
    return json.dumps(schema, default=str)


@pytest.mark.parametrize("state", STATES)
def test_the_schema_names_every_state(schema, state):
    """Contract 3: the schema names all states of fulfillments."""
    assert f'"{state}"' in _text(schema)


@pytest.mark.parametrize(
    "state",
    ["received", "processing", "partially_shipped", "exception", "canceling", "completed", "canceled"],
)
def test_the_schema_names_every_state_of_an_order(schema, state):
    """Contract 4 lists the values of `processing_state`."""
    assert f'"{state}"' in _text(schema)


def test_the_schema_names_every_code(schema):
    """Contract 2 and 12 define the codes. Developers of clients look for them in the schema.

    Interface 7 does not list them.
    """
    assert not [code for code in CODES if not re.search(rf"\b{code}\b", _text(schema))]


@pytest.mark.parametrize(
    "state",
    ["queued", "running", "awaiting_approval", "succeeded", "succeeded_with_errors", "failed", "canceled"],
)
def test_the_schema_names_every_state_of_a_job(schema, state):
    """Contract 6 lists the states of an import job."""
    assert f'"{state}"' in _text(schema)


def _resolved(schema, node):
    while "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        node = schema["components"]["schemas"][name]
    return node


def _properties(schema, node):
    node = _resolved(schema, node)
    found = dict(node.get("properties", {}))
    for part in node.get("allOf", []) + node.get("oneOf", []) + node.get("anyOf", []):
        found |= _properties(schema, part)
    if node.get("type") == "array":
        found |= _properties(schema, node["items"])
    return found


def _answer_of(schema, operation, status="200"):
    return operation["responses"][status]["content"]["application/json"]["schema"]


@pytest.mark.parametrize(
    ("path", "see"),
    [
        ("/v3/suppliers/{}/fulfillments/{}", "fulfillment"),
        ("/v3/variants/{}", "variant"),
        ("/v3/retailers/{}/orders/{}", "order"),
        ("/v3/retailers/{}/order-filters", "counts"),
        ("/v3/suppliers/{}/imports/{}", "job"),
    ],
)
def test_the_schema_names_every_field_of_an_answer(schema, operations, acme, shop, path, see):
    """Contract 10: the schema describes all fields of the answers."""
    order, held = one_fulfillment(acme, shop)
    bring_to("shipped", acme, shop, order, held["id"])
    answered = {
        "fulfillment": lambda: fulfillment(acme, held["id"]),
        "variant": lambda: well(acme.get(f"/v3/variants/{new_variant(acme)['id']}")),
        "order": lambda: well(shop.get(f"orders/{order['id']}")),
        "counts": lambda: well(shop.get("order-filters")),
        "job": lambda: well(
            acme.get(f"imports/{well(acme.post('importProducts', {'data': ['sku,title']}), 201)['id']}")
        ),
    }[see]()
    _compare(schema, _answer_of(schema, operations[path]["get"]), answered, see)


TAKEN = {
    "POST /v3/suppliers/{}/variants": """
        sku model retail_price wholesale_price title description description_extra upc ean id_in_source
        weight images special_sale_price special_sale_price_start special_sale_price_end
        description_bullets gtin options properties listed
    """,
    "POST /v3/retailers/{}/orders": """
        retailer_order_id id_in_source billing_address shipping_address first_name last_name address1
        address2 country state city zip_code phone_number email company_name shipping_method_code
        shipping_paid shipping_tax sales_division_code sales_order_number gift_message is_gift
        ship_until original_created_at order_lines notes type
    """,
    "POST /v3/retailers/{}/orders/{}/cancel": "reason lines",
    "PUT /v3/suppliers/{}/fulfillments/{}/setStatus/accepted": "tracking_number data",
    "PUT /v3/suppliers/{}/fulfillments/{}/setStatus/shipped": "tracking_number data carrier lines",
    "PUT /v3/suppliers/{}/fulfillments/{}/setStatus": "supplier_id fulfillment_id status",
    "PUT /v3/suppliers/{}/fulfillments/{}": "invoice_id",
    "POST /v3/suppliers/{}/fulfillments/shipments": "id shipments",
    "POST /v3/suppliers/{}/fulfillments/rejections": "id rejectId reason items",
    "POST /v3/suppliers/{}/fulfillments/{}/returns": "reason return_id return_lines",
    "POST /v3/suppliers/{}/importProducts": """
        file_url data field_mapping math_transformer url file_type schema
    """,
    "POST /v3/suppliers/{}/importInventory": """
        protocol url file_type amount_field id_field id_type warehouse_id warehouse_field mode
    """,
    "POST /v3/suppliers/{}/inventory": "warehouse_id id_type inventories",
    "POST /oauth/token": "grant_type client_id client_secret scope",
}
ASKED = {
    "/v3/suppliers/{}/fulfillments": "filter fulfillment_state retailer_state limit cursor",
    "/v3/retailers/{}/orders": "filter sort updated_at__gt processing_state ordering limit cursor",
    "/v3/retailers/{}/variants": "service_type limit updated_since",
    "/v3/suppliers/{}/variants": "fields limit",
    "/v3/variants/{}": "fields",
    "/v3/suppliers/{}/inventory": "warehouse_id sku limit",
    "/v3/suppliers/{}/events": "after type limit",
    "/v3/retailers/{}/events": "after type limit",
}


@pytest.mark.parametrize("call", TAKEN)
def test_the_schema_names_every_field_of_a_body(schema, operations, call):
    """Interface 4, contract 3-7 and 10: the schema has the fields of each body."""
    method, path = call.split()
    content = operations[path][method.lower()]["requestBody"]["content"]
    body = content.get("application/json") or content["application/x-www-form-urlencoded"]
    named = set(_properties(schema, body["schema"]))
    assert set(TAKEN[call].split()) <= named, set(TAKEN[call].split()) - named


@pytest.mark.parametrize("path", ASKED)
def test_the_schema_names_every_parameter(operations, path):
    """Interface 4, contract 3-5, 9 and 12: the schema has the parameters of each list."""
    named = {each["name"] for each in operations[path]["get"]["parameters"]}
    assert set(ASKED[path].split()) <= named, set(ASKED[path].split()) - named


def _compare(schema, node, value, where):
    known = _properties(schema, node)
    if isinstance(value, dict) and known:
        assert set(value) <= set(known), f"{where}: not in the schema: {set(value) - set(known)}"
        for name, part in value.items():
            _compare(schema, known[name], part, f"{where}.{name}")
    elif isinstance(value, list):
        for part in value:
            _compare(schema, node, part, f"{where}[]")


def test_every_operation_documents_its_errors(operations):
    """Contract 2: every endpoint can answer with an error."""
    for path in PATHS:
        for method in PATHS[path]:
            named = operations[path][method]["responses"]
            if path != "/oauth/token":
                assert "401" in named or "default" in named or "4XX" in named, (method, path, list(named))


def test_an_answers_success_status_is_in_the_schema(operations):
    """Interface 4, contract 12: endpoints 8, 9 and 15 answer 201, the others 200."""
    for path in ("/v3/suppliers/{}/variants", "/v3/suppliers/{}/importProducts", "/v3/retailers/{}/orders"):
        assert "201" in operations[path]["post"]["responses"], path
    for path in ("/v3/suppliers/{}/importInventory", "/v3/suppliers/{}/inventory", "/v3/retailers/{}/orders"):
        assert "200" in operations[path]["post"]["responses"], path


def test_the_documents_name_this_service(anyone):
    answer = anyone.get("/docs/guides/suppliers/", Accept="text/html")
    assert answer.status == 200, answer
    assert f"{anyone.origin}/v3/suppliers/1" in answer.text


def test_the_docs_page_loads_nothing_from_other_hosts(anyone):
    """Contract 11: the service serves all assets of `GET /v3/docs` itself.

    Contract 12: the page is public.
    """
    answer = anyone.get("/v3/docs", Accept="text/html,application/xhtml+xml,*/*;q=0.8")
    assert answer.status == 200, answer
    assert answer.headers.get_content_type() == "text/html"
    for address in re.findall(r'(?:src|href)="([^"#]+)"', answer.text):
        if address.startswith("data:"):
            continue
        assert not re.match(r"(https?:)?//", address) or address.startswith(anyone.origin), address
        found = anyone.get(address if address.startswith("/") else f"/v3/{address}", Accept="*/*")
        assert found.status == 200, found


def test_the_metrics_answer_on_this_machine(anyone):
    """Contract 11: `GET /metrics` serves Prometheus, only on internal addresses."""
    answer = anyone.get("/metrics", Accept="*/*")
    assert answer.status in (200, 403, 404), answer
    if answer.status == 200:
        assert "# HELP" in answer.text


def test_demo_json_is_private_and_complete(demo):
    """Contract 11: `DATA_DIR/demo.json` has the mode 0600, and all data that clients need."""
    path = Path(os.environ.get("DEMO_JSON") or "var/demo.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert set(demo) >= {"base_url", "admin", "sftp", "suppliers", "retailers"}
    assert {each["name"] for each in demo["suppliers"]} >= {"Acme", "Rival"}
    assert {each["name"] for each in demo["retailers"]} >= {"Shop", "Boutique"}
    for supplier in demo["suppliers"]:
        assert set(supplier) >= {
            "id",
            "name",
            "api_key",
            "client_id",
            "client_secret",
            "sftp_username",
            "sftp_password",
            "warehouses",
        }
        assert len(supplier["warehouses"]) == 2
    for retailer in demo["retailers"]:
        assert set(retailer) >= {"id", "name", "api_key", "client_id", "client_secret"}
    assert set(demo["admin"]) >= {"url", "username", "password"}
    assert demo["sftp"]["host_key"].startswith("ssh-ed25519 ")


def test_the_operator_can_log_in(demo):
    """Contract 11: demo.json has the login of an operator for the admin."""
    nobody = Caller(demo["base_url"])
    page = nobody.request("GET", demo["admin"]["url"] + "login/", None, {"Accept": "text/html"})
    assert page.status == 200, page
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    cookie = re.search(r"csrftoken=([^;]+)", page.headers["Set-Cookie"])
    assert token, page
    assert cookie, page
    body = urlencode(
        {
            "username": demo["admin"]["username"],
            "password": demo["admin"]["password"],
            "csrfmiddlewaretoken": token[1],
            "next": "/admin/",
        }
    )
    answer = nobody.request(
        "POST",
        demo["admin"]["url"] + "login/",
        body.encode(),
        {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": f"csrftoken={cookie[1]}",
            "Referer": demo["admin"]["url"],
            "Accept": "text/html",
        },
    )
    assert answer.status == 302, answer
