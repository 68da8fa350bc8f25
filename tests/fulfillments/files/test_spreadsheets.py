"""Numbers in a file for `tracking/` as spreadsheets and data frames write them (contract 15)."""

from __future__ import annotations

import csv
import io

import pytest

from fulfillments.models import Shipment
from imports.models import Reject
from tests.fulfillments.files.conftest import text_of
from tests.orders.fixtures import state_of
from tests.orders.push_bodies import an_order


@pytest.mark.parametrize("spoilt", ["1.23457E+15", '"1,23457E+15"', "9.4e+21", "7E+11"])
@pytest.mark.parametrize("action", ["accept", "ship"])
def test_a_tracking_number_whose_digits_a_spreadsheet_lost_is_refused(put, work, spoilt, action):
    job = put(f"{work.pk},{action},{spoilt},UPS,,,,")

    reject = Reject.objects.get(job=job)
    assert (reject.field, reject.code) == ("tracking_number", "damaged_text")
    assert "as text" in reject.message
    assert state_of(work) == "new"
    assert not Shipment.objects.exists()


@pytest.mark.parametrize("honest", ["12E45", "1Z999E+1", "E+15"])
def test_a_tracking_number_that_only_resembles_one_is_kept(put, work, honest):
    put(f"{work.pk},ship,{honest},UPS,,,,")

    assert Shipment.objects.get().tracking_number == honest


def test_whole_numbers_may_be_written_with_a_zero_behind_the_point(put, work):
    lamp = work.lines.first()
    job = put(f"{work.pk}.0,ship,1Z1,UPS,{lamp.pk}.0,,2.00,")

    assert (job.status, job.updated) == ("succeeded", 1)
    assert Shipment.objects.get().items == [{"line": lamp.pk, "quantity": 2}]


@pytest.mark.parametrize("quantity", ["1.5", "0.0", "-1", "1e0", "9999999999.0", "1."])
def test_any_other_quantity_is_refused(put, work, quantity):
    job = put(f"{work.pk},ship,1Z1,UPS,,LAMP,{quantity},")

    assert (Reject.objects.get(job=job).field, Reject.objects.get(job=job).code) == ("quantity", "invalid")


@pytest.mark.parametrize("sku", ["-100", "=A1", "'-9", "@home"])
def test_a_sku_is_accepted_as_the_orders_folder_shows_it(put, acme, shop, client_for, a_variant, sku):
    a_variant(acme, sku, stock=5)
    client_for(shop).post("orders", an_order({"sku": sku, "quantity": 1}))
    [shown] = csv.DictReader(io.StringIO(text_of(acme, "new.csv")))

    job = put(f"{shown['fulfillment_id']},ship,1Z1,UPS,,{shown['sku']},1,")

    assert shown["sku"] == f"'{sku}"
    assert (job.status, job.updated) == ("succeeded", 1)


def test_a_row_with_a_separately_sorted_column_ships_nothing(put, work):
    """A spreadsheet sorted the column of the ids without the other columns."""
    lamp, mat = work.lines.order_by("pk")
    job = put(
        f"{work.pk},ship,T1,UPS,{lamp.pk},{mat.sku},1,", f"{work.pk},ship,T2,UPS,{mat.pk},{lamp.sku},1,"
    )

    assert list(Reject.objects.filter(job=job).values_list("field", "code")) == [("sku", "invalid")] * 2
    assert not Shipment.objects.exists()


def test_a_damaged_sku_beside_a_line_id_is_ignored(put, work):
    """A spreadsheet removes the leading zeros of a sku."""
    lamp = work.lines.order_by("pk")[0]
    put(f"{work.pk},ship,T1,UPS,{lamp.pk},12,1,")

    assert Shipment.objects.get().items == [{"line": lamp.pk, "quantity": 1}]
