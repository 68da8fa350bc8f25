"""Requests to every path of the service, with every kind of key (contract 1).

Add each new path to TENANCY: its route, its methods, and the scopes of each method. A key needs one of these
scopes. A method without scopes allows all keys of the party. Paths of objects are also requested with an
object of another party. The fixture `objects` has one object of each kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import Retailer, Supplier
from accounts.scopes import Scope
from fulfillments.models import Fulfillment
from tests.client import ApiClient
from tests.factories import ImportJobFactory, SavedMappingFactory, ShipmentFactory, WebhookFactory
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db

S, R = "v3/suppliers/<id:supplier_id>", "v3/retailers/<id:retailer_id>"
Needed = tuple[Scope, ...]
ANY: Needed = ()
F_READ, F_WRITE = (Scope.FULFILLMENTS_READ,), (Scope.FULFILLMENTS_WRITE,)
C_READ, C_WRITE = (Scope.CATALOG_READ,), (Scope.CATALOG_WRITE,)
I_READ, I_WRITE = (Scope.INVENTORY_READ,), (Scope.INVENTORY_WRITE,)
O_READ, O_WRITE = (Scope.ORDERS_READ,), (Scope.ORDERS_WRITE,)
UPLOAD_READ = C_READ + I_READ
JOB_READ, JOB_WRITE = C_READ + I_READ + F_READ, C_WRITE + I_WRITE + F_WRITE
STATUSES = (
    "accepted",
    "shipped",
    "out_of_stock",
    "missing_sku",
    "wrong_address",
    "canceled",
    "cancelation_not_allowed",
    "cancellation_not_allowed",
    "cancelation not allowed",
)

# Paths that need no key. Their tests are elsewhere. /metrics is open only to some addresses.
PUBLIC = frozenset({"", "healthz", "readyz", "statusz", "metrics", "v3/schema", "v3/docs", "oauth/token"})
PUBLIC |= {"v3/docs/<slug:name>", "v3/asyncapi", "docs/", "docs/<path:path>"}
# The admin has sessions and Django's permissions. tests/backoffice tests them.
STAFF = "admin/"
MEMBERS = "portal/"
"""The pages of members. tests/portal/test_tenancy.py requests each of them."""

TENANCY: dict[str, dict[str, Needed]] = {
    S: {"get": ANY},
    R: {"get": ANY},
    f"{S}/events": {"get": ANY},
    f"{R}/events": {"get": ANY},
    **{
        f"{party}/webhooks{path}": dict.fromkeys(methods, ANY)
        for party in (S, R)
        for path, methods in {
            "": ("get", "post"),
            "/<id:webhook_id>": ("get", "patch", "delete"),
            "/<id:webhook_id>/rotate": ("post",),
            "/<id:webhook_id>/test": ("post",),
            "/<id:webhook_id>/replay": ("post",),
            "/<id:webhook_id>/deliveries": ("get",),
        }.items()
    },
    f"{S}/uploads": {"get": UPLOAD_READ},
    f"{S}/importProducts": {"post": C_WRITE},
    f"{S}/importInventory": {"post": I_WRITE},
    f"{S}/imports": {"get": JOB_READ},
    f"{S}/imports/<id:import_id>": {"get": JOB_READ},
    f"{S}/imports/<id:import_id>/errors": {"get": JOB_READ},
    f"{S}/imports/<id:import_id>/cancel": {"post": JOB_WRITE},
    f"{S}/imports/<id:import_id>/approve": {"post": JOB_WRITE},
    f"{S}/imports/<id:import_id>/retry": {"post": JOB_WRITE},
    f"{S}/mappings": {"get": C_READ, "post": C_WRITE},
    f"{S}/mappings/<id:mapping_id>": {"get": C_READ, "put": C_WRITE, "delete": C_WRITE},
    f"{S}/importPolicy": {"get": I_READ, "put": I_WRITE},
    f"{S}/autoImports/products": {"get": C_READ, "put": C_WRITE},
    f"{S}/autoImports/inventory": {"get": I_READ, "put": I_WRITE},
    f"{S}/templates/products.csv": {"get": C_READ},
    f"{S}/templates/inventory.csv": {"get": I_READ},
    f"{S}/templates/tracking.csv": {"get": F_READ},
    f"{S}/variants": {"get": C_READ, "post": C_WRITE},
    f"{S}/variants/<id:variant_id>": {"get": C_READ, "put": C_WRITE, "patch": C_WRITE},
    "v3/variants/<id:variant_id>": {"get": C_READ},
    f"{S}/inventory": {"get": I_READ, "post": I_WRITE},
    f"{S}/inventory/movements": {"get": I_READ},
    f"{S}/scorecard": {"get": F_READ},
    f"{S}/warehouses": {"get": I_READ},
    f"{R}/variants": {"get": C_READ},
    f"{S}/fulfillments": {"get": F_READ},
    f"{S}/fulfillments/shipments": {"post": F_WRITE},
    f"{S}/fulfillments/rejections": {"post": F_WRITE},
    f"{S}/fulfillments/<id:fulfillment_id>": {"get": F_READ, "put": F_WRITE},
    f"{S}/fulfillments/<id:fulfillment_id>/packing-slip": {"get": F_READ},
    f"{S}/packing-slips": {"get": F_READ},
    f"{S}/fulfillments/<id:fulfillment_id>/carton-labels": {"get": F_WRITE},
    f"{S}/fulfillments/<id:fulfillment_id>/returns": {"post": F_WRITE},
    f"{S}/fulfillments/<id:fulfillment_id>/shipments/<id:shipment_id>": {"patch": F_WRITE},
    f"{S}/fulfillments/<id:fulfillment_id>/setStatus": {"put": F_WRITE},
    **{f"{S}/fulfillments/<id:fulfillment_id>/setStatus/{status}": {"put": F_WRITE} for status in STATUSES},
    f"{R}/orders": {"get": O_READ, "post": O_WRITE},
    f"{R}/orders/<id:order_id>": {"get": O_READ, "patch": O_WRITE},
    f"{R}/orders/<id:order_id>/cancel": {"post": O_WRITE},
    f"{R}/orders/<id:order_id>/routing": {"get": O_READ},
    f"{R}/order-filters": {"get": O_READ},
}
# A supplier's partners may read this path too; see tests/fulfillments/test_scorecard.py.
SHARED = f"{S}/scorecard"
WALK = [(route, method) for route, methods in TENANCY.items() for method in methods]


def patterns(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for each in (resolver or get_resolver("config.urls")).url_patterns:
        route = prefix + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from patterns(each, route)
        else:
            yield route, each


def test_every_url_is_in_the_table():
    found = {
        route: sorted(set(getattr(pattern.callback, "actions", {})) - {"head"})
        for route, pattern in patterns()
        if route not in PUBLIC and not route.startswith((STAFF, MEMBERS))
    }
    assert found == {route: sorted(methods) for route, methods in TENANCY.items()}


def filled(route: str, party: Supplier | Retailer, **ids: int) -> str:
    """Return the path of a route for a party. Objects without an id in `ids` do not exist."""
    ids[f"{party.role}_id"] = party.pk
    return "/" + re.sub(r"<id:(\w+)>", lambda found: str(ids.get(found[1], 999_999_999)), route)


def ask(client: ApiClient, method: str, path: str) -> tuple[int, dict[str, Any]]:
    answer = client.request(method.upper(), path, None if method == "get" else {})
    is_json = answer.headers.get("Content-Type") == "application/json" and not answer.streaming
    body = answer.json() if is_json else {}
    return answer.status_code, {**body, "request_id": ""} if isinstance(body, dict) else {}


@pytest.fixture
def cast(acme, rival, shop, boutique):
    return {"supplier": (acme, rival, shop), "retailer": (shop, boutique, acme)}


def role_of(route: str) -> str:
    return "retailer" if route.startswith(R) else "supplier"


@pytest.mark.parametrize(("route", "method"), WALK)
def test_every_path_answers_401_without_a_valid_key(route, method, cast, anonymous):
    own, _, _ = cast[role_of(route)]
    for client in (anonymous, ApiClient("fxk_0123456789ab_wrong"), ApiClient("x" * 300)):
        status, body = ask(client, method, filled(route, own))
        assert (status, body["code"]) == (401, "unauthorized")


@pytest.mark.parametrize(
    ("route", "method"), [each for each in WALK if each[0].startswith((S, R)) and each[0] != SHARED]
)
def test_a_key_of_another_party_gets_403_and_no_information(route, method, cast, client_for):
    own, other, other_role = cast[role_of(route)]
    nobody = type(own)(pk=999_999_999, name="nobody")
    for party in (other, other_role):
        client = client_for(party)
        there, gone = (ask(client, method, filled(route, each)) for each in (own, nobody))
        assert there[0] == 403
        assert there == gone


@pytest.mark.parametrize(("route", "method"), [each for each in WALK if TENANCY[each[0]][each[1]]])
def test_a_key_without_the_scope_gets_403(route, method, cast, client_for):
    own, _, _ = cast[role_of(route)]
    others = [scope.value for scope in Scope if scope not in TENANCY[route][method]]
    status, body = ask(client_for(own, scopes=others), method, filled(route, own))
    assert (status, body["code"]) == (403, "forbidden")


@pytest.mark.parametrize(("route", "method"), WALK)
def test_the_partys_own_key_with_only_that_scope_is_accepted(route, method, cast, client_for):
    own, _, _ = cast[role_of(route)]
    for scope in TENANCY[route][method] or (Scope.CATALOG_READ,):
        status, _ = ask(client_for(own, scopes=[scope.value]), method, filled(route, own))
        assert status not in (401, 403, 405)
        assert status < 500
        if "_id>" in route.removeprefix(S).removeprefix(R):
            assert status == 404


@pytest.fixture
def objects(acme, rival, shop, boutique, a_variant, client_for) -> dict[str, dict[str, int]]:
    """Create one object of each kind for Rival and Boutique, and return the ids by role."""
    variant = a_variant(rival, "R-1", stock=5)
    line = {"variant_id": variant.pk, "quantity": 1}
    pushed = client_for(boutique).post("orders", an_order(line)).json()
    fulfillment = Fulfillment.objects.for_supplier(rival).get()
    parcel = ShipmentFactory.create(fulfillment=fulfillment)
    found = {
        "shipment_id": parcel.pk,
        "variant_id": variant.pk,
        "order_id": pushed["order_id"],
        "fulfillment_id": fulfillment.pk,
        "import_id": ImportJobFactory.create(supplier=rival).pk,
        "mapping_id": SavedMappingFactory.create(supplier=rival).pk,
    }
    sold = WebhookFactory.create(retailer=None, supplier=rival, areas=["catalog"]).pk
    bought = WebhookFactory.create(retailer=boutique).pk
    return {"supplier": {**found, "webhook_id": sold}, "retailer": {**found, "webhook_id": bought}}


OF_OBJECTS = [each for each in WALK if re.search("_id>", each[0].removeprefix(S).removeprefix(R))]


@pytest.mark.parametrize(("route", "method"), OF_OBJECTS)
def test_another_partys_object_looks_like_a_missing_one(route, method, cast, objects, client_for):
    own, other, _ = cast[role_of(route)]
    client, objects = client_for(own), objects[role_of(route)]
    theirs = ask(client, method, filled(route, own, **objects))
    nobodys = ask(client, method, filled(route, own))
    assert theirs[0] == 404
    assert theirs == nobodys
    # The object exists: its owner finds it.
    assert ask(client_for(other), method, filled(route, other, **objects))[0] != 404
