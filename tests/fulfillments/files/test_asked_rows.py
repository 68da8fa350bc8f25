"""Rows of files in `orders/` show exactly the requested units, and the time of the request (contract 17)."""

from __future__ import annotations

import csv
import io

import pytest

from events.models import Event
from fulfillments.files.orders_folder import OrdersFolder
from fulfillments.models import Capture
from tests.fulfillments.files.conftest import text_of
from tests.orders.fixtures import OPERATOR, status


def rows_of(acme, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text_of(acme, name), newline="")))


def moment_of(type_: str) -> str:
    event = Event.objects.filter(type=type_).latest("id")
    return event.occurred_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@pytest.fixture
def ask_back(shop_api, work):
    """Return a function that requests the cancellation of some of Acme's units, as Shop."""

    def ask(quantity: int, sku: str = "LAMP") -> None:
        body = {"lines": [{"sku": sku, "quantity": quantity}]}
        assert shop_api.post(f"orders/{work.order_id}/cancel", body).json()["code"] == "cancel_requested"

    return ask


def test_canceling_has_a_row_for_each_line_with_the_requested_units(acme, work, ask_back):
    ask_back(1)

    [row] = rows_of(acme, "canceling.csv")
    lamp = work.lines.get(sku="LAMP")
    assert (row["fulfillment_id"], row["line_id"], row["sku"]) == (str(work.pk), str(lamp.pk), "LAMP")
    assert (row["quantity_cancel_requested"], row["quantity"]) == ("1", "1")


def test_rows_say_when_the_supplier_was_asked(acme, acme_api, work, ask_back):
    [asked] = {row["asked_at"] for row in rows_of(acme, "new.csv")}
    assert asked == moment_of("fulfillment.created")

    ask_back(1)
    [row] = rows_of(acme, "canceling.csv")
    assert row["asked_at"] == moment_of("fulfillment.cancelation_requested") > asked

    ask_back(2)  # this adds units to the waiting request
    [widened] = rows_of(acme, "canceling.csv")
    assert widened["asked_at"] == moment_of("fulfillment.cancelation_requested") > row["asked_at"]

    acme_api.put(status(work), {"status": "cancelation not allowed"})
    [again] = {row["asked_at"] for row in rows_of(acme, "new.csv")}
    assert again == moment_of("fulfillment.cancelation_refused")


def test_a_new_row_has_its_first_asked_at_again_after_a_part_was_canceled(acme, acme_api, work, ask_back):
    [asked] = {row["asked_at"] for row in rows_of(acme, "new.csv")}
    ask_back(1)
    acme_api.put(status(work), {"status": "canceled"})

    assert [(row["quantity"], row["asked_at"]) for row in rows_of(acme, "new.csv")] == [
        ("2", asked),
        ("2", asked),
    ]


def test_the_number_of_queries_does_not_grow_with_the_orders(
    acme, a_variant, push, django_assert_num_queries
):
    a_variant(acme, "LAMP", stock=10)
    for _ in range(3):
        push({"sku": "LAMP", "quantity": 1})
    make = OrdersFolder().files(acme.pk)["new.csv"]

    with django_assert_num_queries(7):
        make()


def test_units_added_after_the_file_was_made_are_not_captured(
    acme, acme_api, rival, a_variant, push, work_of
):
    a_variant(acme, "LAMP", stock=1, wholesale_price="1")
    lamp = a_variant(rival, "LAMP", stock=1, wholesale_price="9")
    lamp.stock.get().count(0, by=OPERATOR)
    a_variant(rival, "RUG", stock=5)
    order = push({"sku": "LAMP", "quantity": 1}, {"sku": "RUG", "quantity": 1})
    lamp.stock.get().count(5, by=OPERATOR)
    new = OrdersFolder().files(rival.pk)["new.csv"]
    seen = new()
    acme_api.put(status(work_of(order, acme), "out_of_stock"))
    assert work_of(order, rival).lines.count() == 2

    seen.on_read()
    assert not Capture.objects.exists()
    new().on_read()
    assert Capture.objects.get().fulfillment_id == work_of(order, rival).pk
