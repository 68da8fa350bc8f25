"""Many threads push orders, make moves and count stock at random, while a client polls the orders."""

from __future__ import annotations

import random
import threading
from collections import Counter
from datetime import UTC, datetime

import pytest

from catalog.models import Variant
from fulfillments.models import Fulfillment
from inventory.models import StockLevel
from orders.models import Order
from orders.services import correct_address, hold, release, route_again
from tests.client import ApiClient
from tests.factories import IssuedKeyFactory
from tests.interleaving import race
from tests.orders.fixtures import OPERATOR
from tests.orders.invariants import violations
from tests.orders.push_bodies import ADDRESS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.race]

STEPS, SKUS = 25, ["S-1", "S-2", "S-3", "S-4", "S-5"]

VERBS = [
    "accepted",
    "shipped",
    "shipped in part",
    "out_of_stock",
    "missing_sku",
    "wrong_address",
    "rejections",
    "returns",
    "answer",
]


@pytest.fixture
def stocked(acme, rival, a_variant):
    for supplier in (acme, rival):
        for number, sku in enumerate(SKUS):
            upc = f"03600029145{number}"
            a_variant(supplier, sku, stock=40, upc=upc, wholesale_price=number + 1)


def a_client(party):
    _, secret = IssuedKeyFactory.create(party=party, rate_limit="off")
    return ApiClient(secret, f"/v3/{party.role}s/{party.pk}")


def test_concurrent_work_ends_without_deadlock_and_every_counter_is_right(acme, rival, shop, stocked):
    answers: Counter[int] = Counter()
    done, left = threading.Event(), [6]
    lock = threading.Lock()

    def busy(work, seed):
        dice = random.Random(seed)
        try:
            for _ in range(STEPS):
                response = work(dice)
                answers[response.status_code] += 1
                assert response.status_code < 500, response.content
        finally:
            with lock:
                left[0] -= 1
                if not left[0]:
                    done.set()

    buyers, sellers = a_client(shop), {acme.pk: a_client(acme), rival.pk: a_client(rival)}

    def buy(dice):
        lines = [{"sku": sku, "quantity": dice.randint(1, 4)} for sku in dice.sample(SKUS, 3)]
        number = f"R-{dice.random()}"
        body = {"retailer_order_id": number, "shipping_address": ADDRESS, "order_lines": lines}
        return buyers.post("orders", body)

    def cancel(dice):
        order = Order.objects.order_by("?").first()
        if order is None:
            return buy(dice)
        part = {"lines": [{"id": order.lines.all()[dice.randrange(3)].pk, "quantity": 1}]}
        return buyers.post(f"orders/{order.pk}/cancel", dice.choice([{}, part]))

    def work(dice):
        fulfillment = Fulfillment.objects.order_by("?").first()
        if fulfillment is None:
            return buy(dice)
        supplier = sellers[fulfillment.supplier_id]
        path = f"fulfillments/{fulfillment.pk}/setStatus"
        line = dice.choice(list(fulfillment.lines.select_related("variant")))
        items = [{"sku": line.variant.sku, "quantity": 1}]
        verb = dice.choice([*VERBS, "accepted", "accepted", "answer", "answer"])
        if verb == "answer":
            status = dice.choice(["canceled", "cancelation not allowed"])
            return supplier.put(path, {"status": status})
        if verb == "rejections":
            refusal = {"id": fulfillment.pk, "rejectId": f"{dice.random()}", "items": items}
            return supplier.post("fulfillments/rejections", [refusal])
        if verb == "returns":
            body = {"reason": "broken", "return_lines": items}
            return supplier.post(f"fulfillments/{fulfillment.pk}/returns", body)
        if verb == "shipped in part":
            parcel = {"tracking_number": f"T-{dice.random()}", "lines": [{"id": line.pk, "quantity": 1}]}
            return supplier.put(f"{path}/shipped", parcel)
        return supplier.put(f"{path}/{verb}", {"tracking_number": f"T-{dice.random()}"})

    def operate(dice):
        """Hold, release or correct a random order, or route it again. List all delisted variants again."""
        order = Order.objects.order_by("?").first()
        if order is not None:
            with order.change(by=OPERATOR) as change:
                dice.choice([hold, release, route_again, correct])(change)
        for pk in Variant.objects.filter(listed=False).values_list("pk", flat=True):
            Variant.objects.filter(pk=pk).update(listed=True)
        return buyers.get("order-filters")

    def correct(change):
        correct_address(change, {"city": "Bath"})

    def count(dice):
        elements = [{"id": sku, "amount": dice.randint(0, 60)} for sku in dice.sample(SKUS, 5)]
        warehouse = StockLevel.objects.order_by("?")[0].warehouse
        body = {"warehouse_id": warehouse.pk, "id_type": "sku", "inventories": elements}
        return sellers[warehouse.supplier_id].post("inventory", body)

    def poll():
        last, seen = datetime(2000, 1, 1, tzinfo=UTC).isoformat(), {}
        while True:
            ending = done.is_set()
            page = buyers.get("orders", {"updated_at__gt": last, "ordering": "updated_at", "limit": 7}).json()
            for order in page["results"]:
                last, seen[order["id"]] = order["updated_at"], order
            if ending and not page["results"]:
                return seen

    workers = [(buy, 1), (buy, 2), (cancel, 3), (work, 4), (count, 5), (operate, 6)]
    seen = race(poll, *[lambda w=w, seed=seed: busy(w, seed) for w, seed in workers])[0]

    listed = {each["id"]: each for each in buyers.get("orders", {"limit": 500}).json()["results"]}
    assert seen == listed
    assert violations() == []
    assert answers[201] > STEPS
