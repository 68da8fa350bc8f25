"""Keys, and the separation of the parties' data (contract 1)."""

from __future__ import annotations

import re

import pytest

from .http_client import Caller, fault, unique, well
from .steps import new_variant, one_fulfillment, order_body, push

NOBODY = 2_000_000_000
TRACE = "the-same-trace"
SUPPLIERS = [
    ("GET", ""),
    ("GET", "fulfillments"),
    ("GET", "fulfillments/1"),
    ("PUT", "fulfillments/1"),
    ("PUT", "fulfillments/1/setStatus/accepted"),
    ("PUT", "fulfillments/1/setStatus/shipped"),
    ("PUT", "fulfillments/1/setStatus/out_of_stock"),
    ("PUT", "fulfillments/1/setStatus/missing_sku"),
    ("PUT", "fulfillments/1/setStatus/wrong_address"),
    ("PUT", "fulfillments/1/setStatus"),
    ("PUT", "fulfillments/1/setStatus/canceled"),
    ("PUT", "fulfillments/1/setStatus/cancelation_not_allowed"),
    ("POST", "fulfillments/shipments"),
    ("POST", "fulfillments/rejections"),
    ("POST", "fulfillments/1/returns"),
    ("POST", "variants"),
    ("GET", "variants"),
    ("POST", "importProducts"),
    ("POST", "importInventory"),
    ("GET", "imports"),
    ("GET", "imports/1"),
    ("GET", "imports/1/errors"),
    ("POST", "imports/1/cancel"),
    ("POST", "imports/1/approve"),
    ("GET", "templates/products.csv"),
    ("GET", "templates/inventory.csv"),
    ("POST", "inventory"),
    ("GET", "inventory"),
    ("GET", "uploads"),
    ("GET", "events"),
]
RETAILERS = [
    ("GET", "variants"),
    ("POST", "orders"),
    ("GET", "orders"),
    ("GET", "orders/1"),
    ("POST", "orders/1/cancel"),
    ("GET", "order-filters"),
    ("GET", "events"),
]


def _without_request_id(answer):
    return {key: value for key, value in answer.json.items() if key != "request_id"}


@pytest.mark.parametrize(("method", "path"), SUPPLIERS)
def test_a_suppliers_path_without_a_key_is_refused(anyone, acme, method, path):
    """Contract 1: a request without a key gets 401 with `WWW-Authenticate: Bearer`."""
    answer = anyone.request(method, f"{acme.base}/{path}".rstrip("/"))
    fault(answer, 401, "unauthorized")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(("method", "path"), RETAILERS)
def test_a_retailers_path_without_a_key_is_refused(anyone, shop, method, path):
    """Contract 1: a request without a key gets 401 with `WWW-Authenticate: Bearer`."""
    answer = anyone.request(method, f"{shop.base}/{path}")
    fault(answer, 401, "unauthorized")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(("method", "path"), SUPPLIERS)
def test_a_suppliers_path_with_the_key_of_another_party_is_refused(acme, rival, shop, method, path):
    """Contract 1: a key of another party or role gets 403, whether or not the party in the path exists."""
    theirs = acme.request(method, f"{rival.base}/{path}".rstrip("/"))
    fault(theirs, 403, "forbidden")
    nobodys = acme.request(method, f"/v3/suppliers/{NOBODY}/{path}".rstrip("/"))
    fault(nobodys, 403, "forbidden")
    assert _without_request_id(theirs) == _without_request_id(nobodys)
    fault(shop.request(method, f"{rival.base}/{path}".rstrip("/")), 403, "forbidden")


@pytest.mark.parametrize(("method", "path"), RETAILERS)
def test_a_retailers_path_with_the_key_of_another_party_is_refused(acme, shop, boutique, method, path):
    """Contract 1: a key of another party or role gets 403, whether or not the party in the path exists."""
    theirs = boutique.request(method, f"{shop.base}/{path}")
    fault(theirs, 403, "forbidden")
    nobodys = boutique.request(method, f"/v3/retailers/{NOBODY}/{path}")
    fault(nobodys, 403, "forbidden")
    assert _without_request_id(theirs) == _without_request_id(nobodys)
    fault(acme.request(method, f"{shop.base}/{path}"), 403, "forbidden")


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer nonsense",
        "Basic YTpi",
        "Bearer a b",
        "bearer\tx",
        "Token abc",
        "é",
        "Bearer é",
    ],
)
def test_an_invalid_key_is_refused(acme, header):
    """Contract 1: a wrong key gets 401 with `WWW-Authenticate: Bearer`."""
    answer = acme.get("fulfillments", Authorization=header)
    fault(answer, 401, "unauthorized")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_key_with_a_changed_last_letter_is_refused(acme):
    """Contract 1: a wrong key gets 401, even if its public prefix is correct."""
    wrong = acme.token[:-1] + ("a" if acme.token[-1] != "a" else "b")
    fault(acme.with_token(wrong).get("fulfillments"), 401, "unauthorized")
    fault(acme.with_token(acme.token + "x").get("fulfillments"), 401, "unauthorized")


def test_the_scheme_may_be_written_in_lower_case(acme):
    """RFC 9110: the scheme may have upper or lower case letters."""
    well(acme.get("fulfillments", {"limit": 1}, Authorization=f"bearer {acme.token}"))


def test_a_key_in_the_query_is_no_key(anyone, acme):
    """Contract 1: a key is sent only in the header `Authorization: Bearer <key>`."""
    fault(anyone.get(f"{acme.base}/fulfillments", {"api_key": acme.token}), 401, "unauthorized")


def test_a_fulfillment_of_another_supplier_is_a_404_like_one_that_does_not_exist(acme, rival, shop):
    """Contract 1: the answer has the same bytes as for a missing object, except `request_id`."""
    _, held = one_fulfillment(rival, shop)
    calls = [
        ("GET", "fulfillments/{}", None),
        ("PUT", "fulfillments/{}", {"invoice_id": "I"}),
        ("PUT", "fulfillments/{}/setStatus/accepted", {}),
        ("PUT", "fulfillments/{}/setStatus/shipped", {"tracking_number": "T"}),
        ("PUT", "fulfillments/{}/setStatus/out_of_stock", None),
        ("PUT", "fulfillments/{}/setStatus", {"status": "canceled"}),
        ("PUT", "fulfillments/{}/setStatus/canceled", None),
        ("PATCH", "fulfillments/{}/shipments/1", {"tracking_number": "T"}),
        ("POST", "fulfillments/{}/returns", {"reason": "x", "return_lines": [{"sku": "x", "quantity": 1}]}),
    ]
    for method, path, body in calls:
        theirs = acme.request(method, path.format(held["id"]), body, {"X-Request-Id": TRACE})
        nobodys = acme.request(method, path.format(NOBODY), body, {"X-Request-Id": TRACE})
        fault(theirs, 404, "not_found")
        _same_bytes(theirs, nobodys, held["id"])
    assert well(rival.get(f"fulfillments/{held['id']}"))["fulfillment_state"] == "new"


def test_an_order_of_another_retailer_is_a_404_like_one_that_does_not_exist(rival, shop, boutique):
    """Contract 1: the answer has the same bytes as for a missing object, except `request_id`."""
    variant = new_variant(rival, stock=5)
    order = push(shop, {"variant_id": variant["id"], "quantity": 1})
    for method, path in [("GET", "orders/{}"), ("POST", "orders/{}/cancel")]:
        theirs = boutique.request(method, path.format(order["id"]), None, {"X-Request-Id": TRACE})
        nobodys = boutique.request(method, path.format(NOBODY), None, {"X-Request-Id": TRACE})
        fault(theirs, 404, "not_found")
        _same_bytes(theirs, nobodys, order["id"])
    assert well(shop.get(f"orders/{order['id']}"))["processing_state"] == "received"


def test_an_import_job_of_another_supplier_is_a_404(acme, rival):
    """Contract 1: an object of another party gets 404."""
    body = {"data": ["sku,title,retail_price", f"{unique('I')},x,1"]}
    job = well(rival.post("importProducts", body), 201)
    for method, path in [("GET", "imports/{}"), ("GET", "imports/{}/errors"), ("POST", "imports/{}/cancel")]:
        theirs = acme.request(method, path.format(job["id"]), None, {"X-Request-Id": TRACE})
        nobodys = acme.request(method, path.format(NOBODY), None, {"X-Request-Id": TRACE})
        assert theirs.status == 404, theirs
        _same_bytes(theirs, nobodys, job["id"])


def test_a_variant_of_another_supplier_or_of_no_partner_is_a_404(acme, rival, shop, boutique):
    """Contract 10 and 12: only the supplier and its active partners can read a variant. Others get 404."""
    variant = new_variant(acme)
    path = f"/v3/variants/{variant['id']}"
    assert well(acme.get(path))["sku"] == variant["sku"]
    assert well(shop.get(path))["sku"] == variant["sku"]
    for outsider in (rival, boutique):
        theirs = outsider.get(path, X_Request_Id=TRACE)
        nobodys = outsider.get(f"/v3/variants/{NOBODY}", X_Request_Id=TRACE)
        fault(theirs, 404, "not_found")
        _same_bytes(theirs, nobodys, variant["id"])


def test_a_variant_without_a_key_is_refused(anyone, acme):
    """Contract 1: a request without a key gets 401."""
    fault(anyone.get(f"/v3/variants/{new_variant(acme)['id']}"), 401, "unauthorized")


def test_boutique_neither_sees_nor_orders_from_acme(acme, boutique):
    """Contract 1: a retailer sees and orders only variants of suppliers with an active partnership."""
    variant = new_variant(acme, stock=5)
    for line in (
        {"sku": variant["sku"], "quantity": 1},
        {"variant_id": variant["id"], "quantity": 1},
        {"supplier_id": acme.id, "sku": variant["sku"], "quantity": 1},
    ):
        fault(boutique.post("orders", order_body(line)), 400, "validation_error")
    pulled = well(boutique.get("variants", {"service_type": "ecommerce"}))
    assert variant["id"] not in [number for group in pulled for number in group["variants"]]


def test_suppliers_capture_only_their_own_fulfillments(acme, rival, shop):
    """Contract 1: each supplier's fulfillments are its own."""
    _, held = one_fulfillment(rival, shop)
    answer = acme.get("fulfillments", {"fulfillment_state": "new", "limit": 500})
    while True:
        assert held["id"] not in [each["id"] for each in well(answer)]
        if not answer.next:
            break
        answer = acme.get(answer.next)


def test_two_retailers_may_use_the_same_order_number(rival, shop, boutique):
    """Contract 4: `retailer_order_id` is unique only among the orders of one retailer."""
    variant = new_variant(rival, stock=5)
    number = unique("SAME")
    mine = push(shop, {"variant_id": variant["id"], "quantity": 1}, retailer_order_id=number)
    theirs = push(boutique, {"variant_id": variant["id"], "quantity": 1}, retailer_order_id=number)
    assert mine["id"] != theirs["id"]


def _same_bytes(theirs, nobodys, number):
    """Check that two answers are equal, except for the requested number in the message."""
    assert theirs.status == nobodys.status
    # Match the number only as a whole word, because `v3` in the path contains a digit.
    shown, wanted = (rb"\b%d\b" % each for each in (number, NOBODY))
    assert re.sub(shown, b"N", theirs.raw) == re.sub(wanted, b"N", nobodys.raw)


def test_demo_json_has_every_value_that_a_client_needs(acme, rival, shop, boutique):
    """Contract 11: demo.json has the data of clients for two suppliers and two retailers."""
    assert len({party.token for party in (acme, rival, shop, boutique)}) == 4
    assert all(isinstance(party, Caller) and party.id > 0 for party in (acme, rival, shop, boutique))
