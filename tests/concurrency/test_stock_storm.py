"""Concurrent counts, files, parcels, rejections, returns and cancellations. The ledger explains all stock."""

from __future__ import annotations

import random
import threading
from collections import Counter, defaultdict
from contextlib import suppress
from datetime import datetime, timedelta

import pytest
from django.db import connection

from api.errors import ApiError
from fulfillments.models import Fulfillment, FulfillmentLine
from imports.models import ImportJob
from imports.pipeline.job_runner import run_job
from inventory.models import StockLevel, StockMovement
from orders.models import Order
from orders.services import hold, release, route_again
from tests.client import ApiClient
from tests.factories import IssuedKeyFactory, UploadFactory
from tests.interleaving import race
from tests.orders.fixtures import OPERATOR
from tests.orders.invariants import violations
from tests.orders.push_bodies import ADDRESS
from tests.orders.test_stock_ledger import now
from tests.upload_area import area_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.race]

STEPS, SKUS = 15, ["S-1", "S-2", "S-3", "S-4"]


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path, monkeypatch):
    settings.UPLOADS_DIR = tmp_path
    monkeypatch.setattr("imports.wake.wake", lambda job_id: None)


class Storm:
    """The clients that change stock at the same time.

    `counts` has the counted number and its moment, by request and SKU, or by import job and line.
    """

    def __init__(self, shop, suppliers):
        self.buyers = self._client(shop)
        self.suppliers = suppliers
        self.sellers = {each.pk: self._client(each) for each in suppliers}
        self.counts: dict[object, tuple[int, datetime]] = {}
        self.answers: Counter[str] = Counter()

    def _client(self, party):
        _, secret = IssuedKeyFactory.create(party=party, rate_limit="off")
        return ApiClient(secret, f"/v3/{party.role}s/{party.pk}")

    def go_on(self, verb, seed):
        dice = random.Random(seed)
        for _ in range(STEPS):
            with suppress(ApiError):  # an operator would see this error as a message
                answer = getattr(self, verb)(dice)
                if answer is not None:
                    assert answer.status_code < 500, answer.content
                    self.answers[f"{verb} {answer.status_code}"] += 1

    # --- Orders ----------------------------------------------------------------------------------

    def buy(self, dice):
        lines = [{"sku": sku, "quantity": dice.randint(1, 3)} for sku in dice.sample(SKUS, 2)]
        body = {"retailer_order_id": f"R-{dice.random()}", "shipping_address": ADDRESS, "order_lines": lines}
        return self.buyers.post("orders", body)

    def cancel(self, dice):
        order = Order.objects.order_by("?").first()
        return order and self.buyers.post(f"orders/{order.pk}/cancel")

    def sell(self, dice):
        work = Fulfillment.objects.order_by("?").first()
        if work is None:
            return self.buy(dice)
        seller, path = self.sellers[work.supplier_id], f"fulfillments/{work.pk}"
        line = dice.choice(list(work.lines.select_related("variant")))
        verb = dice.choice(["accepted", "accepted", "ship", "ship", "out_of_stock", "return", "answer"])
        if verb == "ship":
            body = {"tracking_number": f"T-{dice.random()}", "lines": [{"id": line.pk, "quantity": 1}]}
            return seller.put(f"{path}/setStatus/shipped", body)
        if verb == "return":
            line = FulfillmentLine.objects.filter(shipped__gt=0).order_by("?").first() or line
            seller, path = self.sellers[line.fulfillment.supplier_id], f"fulfillments/{line.fulfillment_id}"
            items = [{"sku": line.variant.sku, "quantity": 1, "restock": dice.random() < 0.7}]
            return seller.post(f"{path}/returns", {"reason": "broken", "return_lines": items})
        if verb == "answer":
            return seller.put(f"{path}/setStatus", {"status": "canceled"})
        return seller.put(f"{path}/setStatus/{verb}")

    # --- Stock -----------------------------------------------------------------------------------

    def count(self, dice):
        warehouse = dice.choice(list(StockLevel.objects.all())).warehouse
        name, as_of = f"count-{dice.random()}", now() - timedelta(seconds=dice.random() / 2)
        elements = [{"id": sku, "amount": dice.randint(0, 30)} for sku in dice.sample(SKUS, 3)]
        for each in elements:
            self.counts[name, each["id"]] = (each["amount"], as_of)
        body = {"warehouse_id": warehouse.pk, "inventories": elements, "as_of": as_of.isoformat()}
        return self.sellers[warehouse.supplier_id].post("inventory", body, X_Request_Id=name)

    def file(self, dice):
        """Upload a stock file, and import it a little later, so that the stock changes in between."""
        supplier = dice.choice(self.suppliers)
        counted = {sku: dice.randint(0, 30) for sku in dice.sample(SKUS, 3)}
        path, content = f"inventory/{dice.random()}.csv", "sku,quantity\n"
        content += "".join(f"{sku},{amount}\n" for sku, amount in counted.items())
        (area_of(supplier) / path).write_text(content)
        UploadFactory.create(supplier=supplier, path=path, size=len(content), uploaded_at=now())
        warehouse = supplier.warehouses.get(is_default=True)
        body = {"url": path, "warehouse_id": warehouse.pk, "mode": dice.choice(["delta", "delta", "full"])}
        threading.Event().wait(dice.random() / 10)
        answer = self.sellers[supplier.pk].post("importInventory", body)
        job = ImportJob.objects.get(pk=answer.json()["id"])
        for line, amount in enumerate(counted.values(), 2):
            self.counts[job.pk, line] = (amount, job.as_of)
        self.counts[job.pk, None] = (0, job.as_of)
        run_job(job.pk)
        job.refresh_from_db()
        assert job.status.startswith("succeeded"), job.error
        assert set(job.rejects.values_list("code", flat=True)) <= {"stale_count"}
        return answer

    def operate(self, dice):
        if dice.random() < 0.5:
            level = dice.choice(list(StockLevel.objects.all()))
            level.adjust(dice.choice([-1, 1, 2]), reason="found or broken", by=OPERATOR)
            return
        order = Order.objects.order_by("?").first()
        if order is not None:
            with order.change(by=OPERATOR) as change:
                dice.choice([hold, release, release, route_again, route_again])(change)


@pytest.fixture
def storm(acme, rival, shop, a_variant):
    for supplier in (acme, rival):
        for number, sku in enumerate(SKUS):
            a_variant(supplier, sku, stock=30, upc=f"03600029145{number}", wholesale_price=number + 1)
    return Storm(shop, [acme, rival])


VERBS = ("buy", "buy", "sell", "sell", "cancel", "count", "count", "file", "operate")


def test_the_ledger_explains_all_concurrent_stock_changes(storm):
    race(*[lambda v=verb, seed=seed: storm.go_on(v, seed) for seed, verb in enumerate(VERBS)])

    assert violations() == []  # `violations` includes the checks of `reconcile`
    assert [*_promised_otherwise(), *_moved_otherwise(), *_counted_otherwise(storm)] == []
    assert storm.answers["file 200"] == STEPS, storm.answers


# --- The same numbers, computed independently -----------------------------------------------------

PROMISED = """
    SELECT l.variant_id, l.warehouse_id, l.reserved, coalesce(sum(p.reserved), 0)
    FROM inventory_stocklevel l
    LEFT JOIN (SELECT fl.*, f.warehouse_id FROM fulfillments_fulfillmentline fl
               JOIN fulfillments_fulfillment f ON f.id = fl.fulfillment_id) p
        ON p.variant_id = l.variant_id AND p.warehouse_id = l.warehouse_id
    GROUP BY l.id HAVING l.reserved <> coalesce(sum(p.reserved), 0)
"""
MOVED = """
    SELECT kind, sum(moved), (SELECT -sum(shipped) FROM fulfillments_fulfillmentline)
    FROM inventory_stockmovement WHERE kind = 'ship' GROUP BY kind
    UNION ALL
    SELECT kind, sum(moved), (
        SELECT sum((item->>'restocked')::int) FROM fulfillments_return r, jsonb_array_elements(r.items) item)
    FROM inventory_stockmovement WHERE kind = 'return' GROUP BY kind
"""


def _promised_otherwise():
    with connection.cursor() as cursor:
        cursor.execute(PROMISED)
        yield from cursor.fetchall()


def _moved_otherwise():
    """Yield the differences of the ledger from the units in parcels and from the restocked units."""
    with connection.cursor() as cursor:
        cursor.execute(MOVED)
        yield from [row for row in cursor.fetchall() if row[1] != row[2]]


def _counted_otherwise(storm):
    """Yield each count after which the stock level is not the counted number plus the units moved since the
    count.

    Also yield each count that was applied after a later count.
    """
    skus = dict(StockLevel.objects.values_list("variant_id", "variant__sku"))
    before: dict[tuple[int, int], list[StockMovement]] = defaultdict(list)
    last: dict[tuple[int, int], datetime] = {}
    for each in StockMovement.objects.order_by("id"):
        stock = each.variant_id, each.warehouse_id
        key = (each.import_id, each.line) if each.import_id else (each.request_id, skus[each.variant_id])
        if each.kind == "count":
            amount, as_of = storm.counts[key]
            since = sum(other.moved for other in before[stock] if other.occurred_at > as_of)
            if each.on_hand != max(amount + since, 0):
                yield f"{stock}: {each.on_hand} on hand, of {amount} counted and {since} since"
            if last.get(stock, as_of) > as_of:
                yield f"{stock}: a count of {as_of} after one of {last[stock]}"
            last[stock] = as_of
        elif each.kind == "refuse":
            last[stock] = max(last.get(stock, each.occurred_at), each.occurred_at)
        before[stock].append(each)
