"""Every write of a variant or a stock level stores the id of its transaction in `changed_in`."""

from __future__ import annotations

import pytest
from django.db import connection, transaction

from catalog.models import Variant
from inventory.models import StockLevel


def this_transaction() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::text::bigint")
        return int(cursor.fetchone()[0])


def run(query: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query)


COPIED = """
    INSERT INTO catalog_variant (supplier_id, sku, title, retail_price, model, description, description_extra,
        description_bullets, upc, ean, gtin, id_in_source, images, options, properties, listed {column})
    SELECT supplier_id, 'B', title, retail_price, model, description, description_extra,
        description_bullets, upc, ean, gtin, id_in_source, images, options, properties, listed {value}
    FROM catalog_variant
"""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("column", "value"), [("", ""), (", changed_in", ", 7"), (", changed_in", ", changed_in")]
)
def test_a_new_variant_has_its_own_transaction(acme, a_variant, column, value):
    a_variant(acme, "A")

    with transaction.atomic():
        run(COPIED.format(column=column, value=value))
        now = this_transaction()

    assert Variant.objects.get(sku="B").changed_in == now
    assert Variant.objects.get(sku="A").changed_in < now


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", ["title = 'New'", "title = title", "changed_in = 0", "changed_in = NULL"])
def test_each_write_of_a_variant_stores_its_own_transaction(acme, a_variant, change):
    a_variant(acme, "A")

    with transaction.atomic():
        run(f"UPDATE catalog_variant SET {change}")
        now = this_transaction()

    assert Variant.objects.get(sku="A").changed_in == now


@pytest.mark.django_db(transaction=True)
def test_an_upsert_of_an_existing_variant_stores_its_own_transaction(acme, a_variant):
    a_variant(acme, "B")

    with transaction.atomic():
        again = (
            COPIED.format(column="", value="") + "ON CONFLICT (supplier_id, sku) DO UPDATE SET title = 'New'"
        )
        run(again)
        now = this_transaction()

    assert Variant.objects.get(sku="B").changed_in == now


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("column", "value"), [("", ""), (", changed_in", ", 7")])
def test_new_stock_has_its_own_transaction(acme, a_variant, column, value):
    variant, warehouse = a_variant(acme, "A"), acme.warehouses.get(is_default=True)

    with transaction.atomic():
        run(
            f"INSERT INTO inventory_stocklevel (variant_id, warehouse_id, on_hand, reserved {column})"
            f" VALUES ({variant.pk}, {warehouse.pk}, 1, 0 {value})"
        )
        now = this_transaction()

    assert StockLevel.objects.get().changed_in == now
