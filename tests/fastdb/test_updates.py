"""Rows updated together equal rows saved one by one."""

from __future__ import annotations

from accounts.models import Supplier
from fastdb.updates import update
from orders.models import OrderLine
from tests.factories import OrderFactory, OrderLineFactory, SupplierFactory


def test_each_row_gets_its_own_values_and_the_others_stay(db, django_assert_num_queries):
    order = OrderFactory.create()
    lines = [OrderLineFactory.create(order=order, position=number, quantity=9) for number in range(3)]
    for number, line in enumerate(lines[:2], start=1):
        line.open, line.shipped, line.quantity = 9 - number, number, 1

    with django_assert_num_queries(1):
        update(lines[:2], ["open", "shipped"])

    stored = OrderLine.objects.order_by("pk").values_list("quantity", "open", "shipped")
    assert [*stored] == [(9, 8, 1), (9, 7, 2), (9, 9, 0)]


def test_texts_and_null_are_values_too(db):
    suppliers = [SupplierFactory.create(name=name) for name in ("A", "B")]
    for supplier, name in zip(suppliers, ("it's", '"C", {D}'), strict=True):
        supplier.name = name
    update(suppliers, ["name"])
    assert [*Supplier.objects.order_by("pk").values_list("name", flat=True)] == ["it's", '"C", {D}']


def test_an_empty_update_runs_no_statement(db, django_assert_num_queries):
    with django_assert_num_queries(0):
        update([], ["name"])
