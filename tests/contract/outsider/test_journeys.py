"""Longer sequences of requests for an order, which combine several rules (contract 3, 4, 7 and 10)."""

from __future__ import annotations

import http.client
import json
import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import urlsplit

from .http_client import done, encode, fault, unique, well
from .steps import (
    REFUSED,
    act,
    answer_cancel,
    bring_to,
    fulfillment,
    held_by,
    new_variant,
    numbers,
    one_fulfillment,
    push,
    read,
    state_of,
)


def shipped_so_far(supplier, held):
    return [line["quantity_shipped"] for line in fulfillment(supplier, held["id"])["lines"]]


def twin_lines(acme, shop, accept=True):
    """Push an order with two lines of the same SKU, with 1 and 2 units."""
    variant = new_variant(acme, stock=10)
    order = push(shop, *[{"variant_id": variant["id"], "quantity": quantity} for quantity in (1, 2)])
    held = held_by(acme, order)[0]
    if accept:
        done(act(acme, held["id"], "accepted", {}), "accepted")
    return variant, order, held


def test_a_parcel_by_sku_fills_both_lines_of_that_sku(acme, shop):
    """Contract 10: an item of a parcel names a SKU. Lines with the same SKU are filled one after another."""
    variant, order, held = twin_lines(acme, shop)
    parcels = [{"trackingNumber": "P-1", "items": [{"sku": variant["sku"], "quantity": 3}]}]
    done(acme.post("fulfillments/shipments", {"id": held["id"], "shipments": parcels}), "shipped")
    assert sum(shipped_so_far(acme, held)) == 3
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "shipped"
    assert [line["quantity_shipped"] for line in read(shop, order)["order_lines"]] == [1, 2]
    assert numbers(acme, variant["sku"]) == (7, 0)


def test_a_rejection_by_sku_takes_from_both_lines_of_that_sku(acme, shop):
    """Contract 10: an item of a partial rejection names a SKU, which may be on two lines."""
    variant, order, held = twin_lines(acme, shop)
    refused = [{"id": held["id"], "items": [{"sku": variant["sku"], "quantity": 2}]}]
    done(acme.post("fulfillments/rejections", refused), "lines_rejected")
    assert sum(line["quantity_rejected"] for line in fulfillment(acme, held["id"])["lines"]) == 2
    assert sum(line["quantity_rejected"] for line in read(shop, order)["order_lines"]) == 2


def test_a_cancel_by_sku_takes_from_both_lines_of_that_sku(acme, shop):
    """Contract 4: an element `{"sku", "quantity"}` may concern two lines."""
    variant, order, held = twin_lines(acme, shop)
    done(
        shop.post(f"orders/{order['id']}/cancel", {"lines": [{"sku": variant["sku"], "quantity": 3}]}),
        "cancel_requested",
    )
    done(answer_cancel(acme, held["id"], "canceled"), "canceled")
    assert state_of(shop, order) == "canceled"
    assert numbers(acme, variant["sku"]) == (10, 0)


def test_a_supplier_that_accepts_while_paging_misses_nothing(acme, shop):
    """Contract 3: pages skip no fulfillment, even if earlier items no longer match the filter."""
    made = {one_fulfillment(acme, shop)[1]["id"] for _ in range(4)}
    seen = set()
    wanted = json.dumps({"retailer_state": "ordered", "fulfillment_state": "new"})
    answer = acme.get("fulfillments", {"filter": wanted, "limit": 1 if len(made) > 100 else 50})
    while True:
        for each in well(answer):
            seen.add(each["id"])
            if each["id"] in made:
                done(act(acme, each["id"], "accepted", {}), "accepted")
        if not answer.next:
            break
        answer = acme.get(answer.next)
    assert made <= seen
    assert {fulfillment(acme, number)["fulfillment_state"] for number in made} == {"accepted"}


def test_a_refused_cancel_of_a_half_shipped_order_is_shipped_in_the_end(acme, shop):
    """Contract 3: after a refused cancellation, the supplier continues to ship.

    Contract 4: an order with some shipped units is `partially_shipped`.
    """
    order, held = one_fulfillment(acme, shop, quantity=5)
    act(acme, held["id"], "accepted", {})
    lines = [{"id": held["lines"][0]["id"], "quantity": 2}]
    done(act(acme, held["id"], "shipped", {"tracking_number": "T-1", "lines": lines}), "shipped")
    done(shop.post(f"orders/{order['id']}/cancel"), "cancel_requested")
    done(answer_cancel(acme, held["id"], REFUSED), "cancelation_not_allowed")
    assert state_of(shop, order) == "partially_shipped"
    done(act(acme, held["id"], "shipped", {"tracking_number": "T-2"}), "shipped")
    assert shipped_so_far(acme, held) == [5]
    assert state_of(shop, order) == "completed"


def test_a_partial_cancel_approved_after_a_partial_shipment_leaves_the_rest(acme, shop):
    """Contract 3: if units are still open after an approval, the earlier state is restored."""
    order, held = one_fulfillment(acme, shop, quantity=5)
    act(acme, held["id"], "accepted", {})
    line = held["lines"][0]["id"]
    act(acme, held["id"], "shipped", {"tracking_number": "T-1", "lines": [{"id": line, "quantity": 2}]})
    mine = order["order_lines"][0]["id"]
    done(
        shop.post(f"orders/{order['id']}/cancel", {"lines": [{"id": mine, "quantity": 1}]}),
        "cancel_requested",
    )
    done(answer_cancel(acme, held["id"], "canceled"), "canceled")
    assert fulfillment(acme, held["id"])["fulfillment_state"] == "accepted"
    done(act(acme, held["id"], "shipped", {"tracking_number": "T-2"}), "shipped")
    assert shipped_so_far(acme, held) == [4]
    assert state_of(shop, order) == "completed"
    assert numbers(acme, held["lines"][0]["sku"]) == (6, 0)


def test_out_of_stock_after_a_partial_shipment_keeps_the_shipped_units(acme, shop):
    """Contract 3: an accepted fulfillment can become `out_of_stock`. Shipped units stay shipped.

    An operator or the retailer decides about the other units.
    """
    order, held = one_fulfillment(acme, shop, quantity=5)
    act(acme, held["id"], "accepted", {})
    line = held["lines"][0]["id"]
    act(acme, held["id"], "shipped", {"tracking_number": "T-1", "lines": [{"id": line, "quantity": 2}]})
    done(act(acme, held["id"], "out_of_stock"), "out_of_stock")
    assert shipped_so_far(acme, held) == [2]
    assert fulfillment(acme, held["id"])["fulfillment_state"] in ("out_of_stock", "shipped")
    assert state_of(shop, order) == "exception"
    assert numbers(acme, held["lines"][0]["sku"]) == (0, 0)
    assert well(shop.post(f"orders/{order['id']}/cancel"))["code"] in ("order_canceled", "cancel_requested")
    after = read(shop, order)
    assert after["processing_state"] == "completed"
    kept = after["order_lines"][0]
    assert (kept["quantity_shipped"], kept["quantity_canceled"]) == (2, 3)


def test_an_order_is_not_routed_again_to_a_supplier_that_rejected_it(acme, rival, shop):
    """Contract 3 and 12: a supplier that rejected a line does not get the line again.

    An order without another candidate is in `exception`.
    """
    sku = unique("TWIN")
    new_variant(acme, stock=5, sku=sku, wholesale_price=1)
    new_variant(rival, stock=5, sku=sku, wholesale_price=2)
    order = push(shop, {"sku": sku, "quantity": 2})
    done(act(acme, held_by(acme, order)[0]["id"], "out_of_stock"), "out_of_stock")
    order = read(shop, order)
    done(act(rival, held_by(rival, order)[0]["id"], "missing_sku"), "missing_sku")
    order = read(shop, order)
    assert order["processing_state"] == "exception"
    assert [each["state"] for each in order["fulfillments"]] == ["out_of_stock", "missing_sku"]
    done(shop.post(f"orders/{order['id']}/cancel"), "order_canceled")
    assert state_of(shop, order) == "canceled"
    assert numbers(rival, sku)[1] == 0


def test_a_line_larger_than_each_warehouse_keeps_its_sums(acme, shop):
    """Contract 4: no more than the stock is reserved. The fulfillments have exactly the ordered units."""
    variant = new_variant(acme, stock=3)
    well(
        acme.post(
            "inventory",
            {
                "warehouse_id": acme.warehouses[1],
                "id_type": "sku",
                "inventories": [{"id": variant["sku"], "amount": 3}],
            },
        )
    )
    order = push(shop, {"variant_id": variant["id"], "quantity": 5})
    held = held_by(acme, order)
    assert sum(line["quantity"] for each in held for line in each["lines"]) == 5
    kept = order["order_lines"][0]
    assert kept["quantity_reserved"] + kept["short"] == 5
    assert (
        numbers(acme, variant["sku"], 0)[1] + numbers(acme, variant["sku"], 1)[1] == kept["quantity_reserved"]
    )
    for each in held:
        bring_to("shipped", acme, shop, order, each["id"])
    assert state_of(shop, order) == "completed"


def test_a_chunked_body_is_read(acme):
    """RFC 9112: a client may send `Transfer-Encoding: chunked`."""
    place = urlsplit(acme.origin)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
    body = encode({"sku": unique("CHUNK"), "title": "x", "retail_price": 1})
    headers = {
        "Authorization": f"Bearer {acme.token}",
        "Content-Type": "application/json",
        "Accept": "application/json",
    }
    try:
        connection.request(
            "POST", f"{acme.base}/variants", iter([body[:10], body[10:]]), headers, encode_chunked=True
        )
        reply = connection.getresponse()
        assert reply.status == 201, reply.read()
        reply.read()
    finally:
        connection.close()


def test_one_connection_serves_many_requests(acme):
    """RFC 9112: a connection stays open for further requests, even after errors."""
    place = urlsplit(acme.origin)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
    headers = {
        "Authorization": f"Bearer {acme.token}",
        "Content-Type": "application/json",
        "Accept": "application/json",
    }
    try:
        for method, path, body, expected in (
            ("GET", "fulfillments?limit=1", None, 200),
            ("POST", "variants", b"{", 400),
            ("POST", "nonsense", b'{"a": 1}', 404),
            ("GET", "fulfillments?limit=1", None, 200),
        ):
            connection.request(method, f"{acme.base}/{path}", body, headers)
            reply = connection.getresponse()
            assert (reply.status, bool(reply.read())) == (expected, True)
    finally:
        connection.close()


def test_returns_by_sku_are_spread_over_two_lines(acme, shop):
    """Contract 10: a return by SKU may concern two lines.

    In both lines together, the returned units never exceed the shipped units.
    """
    variant, _, held = twin_lines(acme, shop)
    done(act(acme, held["id"], "shipped", {"tracking_number": "T"}), "shipped")
    path = f"fulfillments/{held['id']}/returns"
    done(
        acme.post(path, {"reason": "x", "return_lines": [{"sku": variant["sku"], "quantity": 3}]}),
        "return_recorded",
    )
    answer = acme.post(path, {"reason": "x", "return_lines": [{"sku": variant["sku"], "quantity": 1}]})
    assert answer.status in (400, 409), answer
    fault(answer, answer.status, ("validation_error", "invalid_transition"))


def test_concurrent_moves_of_all_parties_keep_all_sums_correct(acme, shop):
    """Contract 3, 4 and 7: each of several concurrent moves is done or refused.

    Nothing is counted twice.
    """
    variant = new_variant(acme, stock=100)
    orders = [push(shop, {"variant_id": variant["id"], "quantity": 4}) for _ in range(4)]
    jobs = []
    for order in orders:
        held = held_by(acme, order)[0]
        number, line, own = held["id"], held["lines"][0]["id"], order["order_lines"][0]["id"]
        path = f"orders/{order['id']}/cancel"
        part = [{"id": number, "items": [{"sku": variant["sku"], "quantity": 1}]}]
        jobs += [
            partial(act, acme, number, "accepted", {}),
            partial(
                act, acme, number, "shipped", {"tracking_number": "A", "lines": [{"id": line, "quantity": 1}]}
            ),
            partial(shop.post, path, {"lines": [{"id": own, "quantity": 1}]}),
            partial(answer_cancel, acme, number, "canceled"),
            partial(
                act, acme, number, "shipped", {"tracking_number": "B", "lines": [{"id": line, "quantity": 2}]}
            ),
            partial(acme.post, "fulfillments/rejections", part),
            partial(answer_cancel, acme, number, REFUSED),
            partial(shop.post, path, {}),
        ]
    random.Random(5).shuffle(jobs)
    with ThreadPoolExecutor(4) as pool:
        answers = [each.result() for each in [pool.submit(job) for job in jobs]]
    assert {answer.status for answer in answers} <= {200, 400, 409}, [str(each) for each in answers]
    shipped = reserved = 0
    for order in orders:
        after = read(shop, order)
        kept, held = after["order_lines"][0], held_by(acme, order)[0]
        line = held["lines"][0]
        gone = [line[f"quantity_{what}"] for what in ("shipped", "canceled", "rejected")]
        assert sum(gone) <= 4, held
        assert kept["quantity_shipped"] == line["quantity_shipped"]
        assert line["quantity_shipped"] == sum(
            item["quantity"] for each in held["shipments"] for item in each.get("items", [])
        )
        assert kept["quantity_reserved"] <= 4 - line["quantity_shipped"] - line["quantity_canceled"]
        assert (after["processing_state"] == "canceling") == (held["fulfillment_state"] == "canceling")
        shipped, reserved = shipped + line["quantity_shipped"], reserved + kept["quantity_reserved"]
    on_hand, held_back = numbers(acme, variant["sku"])
    assert held_back == reserved
    assert on_hand <= 100 - shipped or on_hand == 0, "an out-of-stock rejection sets on_hand to 0"
