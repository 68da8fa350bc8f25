"""The merge of rows beside concurrent changes, and checks in SQL."""

from __future__ import annotations

import random
import re
from contextlib import contextmanager

import factory
import pytest
from django.db import connection
from psycopg.sql import SQL, Identifier, Literal

from catalog.gtin import EAN, GTIN, UPC, error_in
from catalog.models import Variant
from imports.pipeline import batches
from imports.pipeline.barcode_columns import Barcode
from imports.staging_table import StagingTable
from inventory.models import StockLevel
from tests.factories import StockLevelFactory, SupplierFactory, VariantFactory

FILE = ["sku,title,retail_price", "A-1,Shirt,19.99", "A-2,Hat,5", "A-3,Belt,7"]


@pytest.fixture
def meanwhile(monkeypatch):
    """Return a function that plans a call.

    The call happens before a range is read, or after the rows of a range are looked up and before they are
    merged.
    """

    def at_that_moment(moment, work):
        step = getattr(batches, {"before": "land_range", "after": "gather"}[moment])

        def stepped(*args):
            if moment == "before":
                work()
            result = step(*args)
            if moment == "after":
                work()
            return result

        monkeypatch.setattr(batches, step.__name__, stepped)

    return at_that_moment


@pytest.mark.parametrize(
    ("there", "moment"), [(False, "before"), (False, "after"), (True, "before"), (True, "after")]
)
def test_a_variant_added_concurrently_is_updated(acme, a_variant, ran, meanwhile, there, moment):
    if there:
        a_variant(acme, "OTHER", title="Old", listed=False)
    meanwhile(moment, lambda: a_variant(acme, "A-2", description="By hand."))

    job = ran(acme, data=FILE)

    assert (job["status"], job["created"], job["updated"]) == ("succeeded", 2, 1), job
    found = Variant.objects.exclude(sku="OTHER").values_list("sku", "title", "description")
    assert sorted(found) == [
        ("A-1", "Shirt", ""),
        ("A-2", "Hat", "By hand."),
        ("A-3", "Belt", ""),
    ]


@pytest.mark.parametrize(
    ("there", "moment"), [(False, "before"), (False, "after"), (True, "before"), (True, "after")]
)
def test_stock_that_is_counted_concurrently_is_set(acme, a_variant, stocked, meanwhile, there, moment):
    first, second = a_variant(acme, "A-1"), a_variant(acme, "A-2")
    east = acme.warehouses.get(is_default=True)
    if there:
        a_variant(acme, "OTHER", stock=3)
    meanwhile(moment, lambda: StockLevelFactory.create(variant=second, warehouse=east, on_hand=1, reserved=1))

    job = stocked(acme, "sku,quantity\nA-1,5\nA-2,6\n")

    assert (job["status"], job["created"], job["updated"]) == ("succeeded", 1, 1), job
    counted = StockLevel.objects.exclude(variant__sku="OTHER").order_by("variant_id")
    found = counted.values_list("variant_id", "on_hand", "reserved")
    assert list(found) == [(first.pk, 5, 0), (second.pk, 6, 1)]


def test_the_first_file_of_a_supplier_is_checked_like_any_other(acme, ran, monkeypatch):
    monkeypatch.setattr("imports.pipeline.batches.STEP", 2)
    lines = ["sku,title,retail_price", "A-1,Shirt,19.99", "A-2,,5", "A-3,Belt,7", "A-4,Hat,x", "A-5,Tie,9"]

    job = ran(acme, data=lines)

    numbers = [
        job[name] for name in ("rows_total", "rows_done", "created", "updated", "unchanged", "rejected")
    ]
    assert numbers == [5, 5, 3, 0, 0, 2], job
    assert [(e["line"], e["field"]) for e in job["errors"]] == [(3, "title"), (5, "retail_price")]
    assert sorted(Variant.objects.values_list("sku", flat=True)) == ["A-1", "A-3", "A-5"]


def test_rows_changed_during_an_import_are_compared_again(acme, a_variant, ran, meanwhile):
    a_variant(acme, "A-1", title="Old", retail_price="1")
    meanwhile("before", lambda: Variant.objects.filter(sku="A-1").update(title="Shirt", retail_price="19.99"))

    job = ran(acme, data=FILE)

    assert (job["created"], job["updated"], job["unchanged"]) == (2, 0, 1), job


@contextmanager
def plans_of(begins):
    """Collect the plans of statements that begin with this text. For `CREATE … AS`, explain the query."""
    found: list[str] = []

    def explain(execute, query, params, many, context):
        text = query.as_string(connection.connection) if hasattr(query, "as_string") else query
        text = " ".join(text.split())
        if text.startswith(begins):
            asked = text.removeprefix(begins) if begins.endswith(" AS ") else text
            with connection.connection.cursor() as cursor:
                found.append("\n".join(line for (line,) in cursor.execute(f"EXPLAIN {asked}".encode())))
        return execute(query, params, many, context)

    with connection.execute_wrapper(explain):
        yield found


@pytest.fixture
def plans():
    """Collect the plans by which the database finds the variants of each range."""
    with plans_of("CREATE TEMP TABLE import_batch ON COMMIT DROP AS ") as found:
        yield found


@pytest.fixture
def plans_of_rejects():
    with plans_of("WITH b AS (DELETE FROM pg_temp.import_batch") as found:
        yield found


def test_a_supplier_without_statistics_is_looked_up_by_sku(acme, rival, a_variant, ran, plans):
    other = SupplierFactory.create()
    for supplier in (rival, other):  # both suppliers have the skus of the file
        VariantFactory.create_in_bulk(len(MANY), supplier=supplier, sku=factory.Iterator(SKUS))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE catalog_variant")
    a_variant(acme, "A-0")

    job = ran(acme, data=FILE)

    assert job["created"] == 3
    assert plans
    assert all(re.search(r"variant_sku_\w+ on .*\n *Index Cond: .*\bsku\)", plan) for plan in plans), plans[0]


@pytest.fixture
def misled(monkeypatch):
    """Give the planner the statistics of an unlucky sample, in which each range of a file is empty."""
    index = StagingTable.index

    def indexed(staging):
        with connection.cursor() as cursor:
            cursor.execute(f"UPDATE {staging.name} SET line = line + 1000000")
            index(staging)
            cursor.execute(f"UPDATE {staging.name} SET line = line - 1000000")

    monkeypatch.setattr(StagingTable, "index", indexed)


MANY = range(2000)
SKUS = [f"A-{number}" for number in MANY]


@pytest.mark.usefixtures("misled")
def test_changed_rows_are_found_by_position_with_any_statistics(acme, a_variant, stocked, plans):
    VariantFactory.create_in_bulk(len(MANY), supplier=acme, sku=factory.Iterator(SKUS))
    stocked(acme, "sku,quantity\n" + "".join(f"A-{n},5\n" for n in MANY))
    plans.clear()

    job = stocked(acme, "sku,quantity\n" + "".join(f"A-{n},6\n" for n in MANY))

    assert job["updated"] == len(MANY), job
    assert len(plans) == 1
    assert "TID Cond: (ctid = " in plans[0], plans[0]


@pytest.mark.usefixtures("misled")
def test_rows_that_are_wrong_are_not_compared_with_all_others(acme, ran, plans_of_rejects):
    job = ran(acme, data=["sku,title,retail_price", *(f"A-{n},Shirt,x" for n in MANY)])

    assert job["rejected"] == len(MANY), job
    assert len(plans_of_rejects) == 1
    assert "Hash Cond: (b.line = s.line)" in plans_of_rejects[0], plans_of_rejects[0]


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

    assert refused == {number for number in numbers if number and error_in(number, lengths)}
    assert 0 < len(refused) < len(numbers) - 20
