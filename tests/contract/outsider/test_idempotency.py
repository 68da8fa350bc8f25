"""The header `Idempotency-Key` (contract 2 and 12)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from .http_client import fault, unique, well
from .steps import act, fulfillment, new_variant, one_fulfillment, order_body, push

REPLAYED = "Idempotent-Replayed"


def variant_body(**fields):
    return {"sku": unique("IDEM"), "title": "x", "retail_price": 1} | fields


def test_the_first_answer_is_replayed(acme):
    """Contract 2: a repetition gets the stored answer, with the header `Idempotent-Replayed: true`."""
    key, body = unique("key"), variant_body()
    first = acme.post("variants", body, Idempotency_Key=key)
    second = acme.post("variants", body, Idempotency_Key=key)
    assert first.status == second.status == 201
    assert first.raw == second.raw
    assert first.headers[REPLAYED] is None
    assert second.headers[REPLAYED] == "true"


def test_without_a_key_the_same_post_is_done_again(acme):
    """Contract 5: without a key, the repetition runs, and gets 409 `sku_exists`."""
    body = variant_body()
    assert acme.post("variants", body).status == 201
    assert acme.post("variants", body).status == 409


def test_an_order_push_is_replayed_with_its_headers(acme, shop):
    """Contract 2: the stored answer is 201 with `Location`, and not 200 `order_exists`."""
    key, body = unique("key"), order_body({"variant_id": new_variant(acme, stock=5)["id"], "quantity": 1})
    first = shop.post("orders", body, Idempotency_Key=key)
    second = shop.post("orders", body, Idempotency_Key=key)
    assert (first.status, first.raw, first.headers["Location"]) == (
        second.status,
        second.raw,
        second.headers["Location"],
    )
    assert second.headers[REPLAYED] == "true"


@pytest.mark.parametrize("kind", ["validation_error", "sku_exists"])
def test_refusals_are_stored_too(acme, kind):
    """Contract 12: answers with 400 or 409 are stored too."""
    taken = new_variant(acme)["sku"]
    body = variant_body(sku=taken) if kind == "sku_exists" else variant_body(retail_price=-1)
    key = unique("key")
    first, second = (acme.post("variants", body, Idempotency_Key=key) for _ in range(2))
    fault(first, 409 if kind == "sku_exists" else 400, kind)
    assert (first.status, first.json["code"]) == (second.status, second.json["code"])
    assert second.headers[REPLAYED] == "true"


def test_another_body_under_the_same_key_is_a_conflict(acme):
    """Contract 2: another body with the same key gets 422 `idempotency_conflict`."""
    key = unique("key")
    assert acme.post("variants", variant_body(), Idempotency_Key=key).status == 201
    fault(acme.post("variants", variant_body(), Idempotency_Key=key), 422, "idempotency_conflict")


def test_the_same_key_on_another_path_is_a_conflict(acme, shop):
    """Contract 12: the same key on another path gets `idempotency_conflict`."""
    key = unique("key")
    variant = new_variant(acme, stock=5)
    first, second = (push(shop, {"variant_id": variant["id"], "quantity": 1}) for _ in range(2))
    assert shop.post(f"orders/{first['id']}/cancel", Idempotency_Key=key).status == 200
    fault(shop.post(f"orders/{second['id']}/cancel", Idempotency_Key=key), 422, "idempotency_conflict")


def test_keys_are_per_party(acme, rival):
    """Contract 2: two parties may use the same key."""
    key, body = unique("key"), variant_body()
    mine, theirs = (each.post("variants", body, Idempotency_Key=key) for each in (acme, rival))
    assert mine.status == theirs.status == 201
    assert theirs.headers[REPLAYED] is None
    assert mine.json["id"] != theirs.json["id"]


def test_concurrent_requests_with_one_key_run_once(acme):
    """Contract 2: one of several concurrent requests runs. The others get 409 `in_progress`.

    A request that arrives after the end of the first request gets the stored answer.
    """
    key, body = unique("key"), variant_body()
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: acme.post("variants", body, Idempotency_Key=key), range(4)))
    assert {answer.status for answer in answers} <= {201, 409}, [str(each) for each in answers]
    assert all(answer.json["code"] == "in_progress" for answer in answers if answer.status == 409)
    assert len([each for each in answers if each.status == 201 and not each.headers[REPLAYED]]) == 1
    assert acme.post("variants", body, Idempotency_Key=key).headers[REPLAYED] == "true", (
        "the answer in_progress must not be stored"
    )


@pytest.mark.parametrize("key", ["x" * 256, "x" * 5000])
def test_a_key_that_is_too_long_is_refused(acme, key):
    """Contract 2: a key has at most 255 characters."""
    fault(acme.post("variants", variant_body(), Idempotency_Key=key), 400, "validation_error")


def test_a_key_of_255_characters_is_accepted(acme):
    """Contract 2: a key has at most 255 characters."""
    assert acme.post("variants", variant_body(), Idempotency_Key=unique("k").ljust(255, "x")).status == 201


def test_a_403_and_a_401_are_not_stored(acme, rival, anyone):
    """Contract 12: answers with 401 and 403 are not stored."""
    key, body = unique("key"), variant_body()
    assert anyone.post(f"{acme.base}/variants", body, Idempotency_Key=key).status == 401
    assert acme.post(f"{rival.base}/variants", body, Idempotency_Key=key).status == 403
    assert acme.post("variants", body, Idempotency_Key=key).status == 201


def test_a_key_works_on_every_post(acme, shop):
    """Contract 2: each POST accepts an `Idempotency-Key`."""
    order, held = one_fulfillment(acme, shop)
    act(acme, held["id"], "accepted", {})
    act(acme, held["id"], "shipped", {"tracking_number": "T"})
    sku = held["lines"][0]["sku"]
    calls = [
        (
            acme,
            f"fulfillments/{held['id']}/returns",
            {"reason": "x", "return_lines": [{"sku": sku, "quantity": 1}]},
        ),
        (
            acme,
            "inventory",
            {"warehouse_id": acme.warehouses[0], "id_type": "sku", "inventories": [{"id": sku, "amount": 3}]},
        ),
        (acme, "importProducts", {"data": ["sku,title,retail_price", f"{unique('I')},x,1"]}),
        (shop, f"orders/{order['id']}/cancel", {}),
    ]
    for party, path, body in calls:
        key = unique("key")
        first, second = (party.post(path, body, Idempotency_Key=key) for _ in range(2))
        assert (first.status, first.raw.replace(first.headers["X-Request-Id"].encode(), b"")) == (
            second.status,
            second.raw.replace(second.headers["X-Request-Id"].encode(), b"").replace(
                first.headers["X-Request-Id"].encode(), b""
            ),
        )
        assert second.headers[REPLAYED] == "true", path
    assert fulfillment(acme, held["id"])["lines"][0]["quantity_returned"] == 1
    assert well(acme.get("imports", {"limit": 1}))
