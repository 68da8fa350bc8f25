"""How rows land when others write at the same moment, and checks that are done in SQL."""

from __future__ import annotations

import random

import pytest
from django.db import connection
from psycopg.sql import SQL, Identifier, Literal

from catalog.gtin import EAN, GTIN, UPC, fault_of
from catalog.models import Variant
from imports import batches
from imports.columns import Barcode
from inventory.models import StockLevel

FILE = ["sku,title,retail_price", "A-1,Shirt,19.99", "A-2,Hat,5", "A-3,Belt,7"]


@pytest.fixture
def meanwhile(monkeypatch):
    """Do something after a range's rows were looked up, and before they land."""

    def at_that_moment(work):
        gather = batches.gather

        def gathered(*args):
            gather(*args)
            work()

        monkeypatch.setattr("imports.batches.gather", gathered)

    return at_that_moment


def test_a_variant_that_somebody_adds_meanwhile_is_updated(acme, a_variant, ran, meanwhile):
    meanwhile(lambda: a_variant(acme, "A-2", description="By hand."))

    job = ran(acme, data=FILE)

    assert (job["status"], job["created"], job["updated"]) == ("succeeded", 2, 1), job
    assert sorted(Variant.objects.values_list("sku", "title", "description")) == [
        ("A-1", "Shirt", ""),
        ("A-2", "Hat", "By hand."),
        ("A-3", "Belt", ""),
    ]


def test_stock_that_somebody_counts_meanwhile_is_set(acme, a_variant, stocked, meanwhile):
    first, second = a_variant(acme, "A-1"), a_variant(acme, "A-2")
    east = acme.warehouses.get(is_default=True)
    meanwhile(lambda: StockLevel.objects.create(variant=second, warehouse=east, on_hand=1, reserved=1))

    job = stocked(acme, "sku,quantity\nA-1,5\nA-2,6\n")

    assert (job["status"], job["created"], job["updated"]) == ("succeeded", 1, 1), job
    found = StockLevel.objects.order_by("variant_id").values_list("variant_id", "on_hand", "reserved")
    assert list(found) == [(first.pk, 5, 0), (second.pk, 6, 1)]


@pytest.mark.django_db
@pytest.mark.parametrize("lengths", [UPC, EAN, GTIN])
def test_sql_and_python_agree_on_check_digits(lengths):
    chance = random.Random(7)
    numbers = [
        "".join(chance.choices("0123456789", k=chance.choice([7, 8, 11, 12, 13, 14, 15])))
        for _ in range(2000)
    ]
    numbers += ["", "0" * 12, "9" * 13, "99999999999997", "03600029145a", "03600029145٢", "036000291452 "]
    suspect = Barcode("code", lengths=lengths).suspect(Identifier("code"))

    with connection.cursor() as cursor:
        cursor.execute(
            SQL("SELECT code FROM unnest({}::text[]) AS given (code) WHERE {}").format(
                Literal(numbers), suspect
            )
        )
        refused = {code for (code,) in cursor.fetchall()}

    assert refused == {number for number in numbers if number and fault_of(number, lengths)}
    assert 0 < len(refused) < len(numbers) - 20
