"""Values of a product row that must agree with each other, and with stored values of absent columns."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from catalog.models import Variant

GTIN, OTHER = "036000291452", "042100005264"


def faults(job):
    return [(each["field"], each["code"]) for each in job["errors"]]


def test_a_upc_that_contradicts_the_stored_gtin_is_rejected(acme, a_variant, ran):
    a_variant(acme, "A-1", upc=GTIN, gtin=GTIN)

    job = ran(acme, data=["sku,upc", f"A-1,{OTHER}"])

    assert faults(job) == [("upc", "contradiction")]
    assert job["errors"][0]["message"] == f"upc is another number than the stored gtin, {GTIN}. Send both."
    assert Variant.objects.get().upc == GTIN


@pytest.mark.parametrize("row", [["sku,upc,gtin", f"A-1,{OTHER},{OTHER}"], ["sku,upc", "A-1,"]])
def test_a_upc_may_change_with_its_gtin_and_may_be_cleared(acme, a_variant, ran, row):
    a_variant(acme, "A-1", upc=GTIN, gtin=GTIN)

    assert ran(acme, data=row)["updated"] == 1


def test_an_empty_upc_is_cleared_if_the_file_has_a_gtin_column(acme, a_variant, ran):
    a_variant(acme, "A-1", upc=GTIN)

    assert ran(acme, data=["sku,upc,gtin", "A-1,,"])["updated"] == 1
    assert Variant.objects.get().upc == ""


@pytest.mark.parametrize("row", [["sku,upc,gtin", f"A-1,,{GTIN}"], ["sku,gtin", f"A-1,{GTIN}"]])
def test_a_gtin_fills_in_its_upc(acme, a_variant, ran, row):
    a_variant(acme, "A-1", upc=OTHER)

    ran(acme, data=row)

    assert Variant.objects.get().upc == GTIN


def test_a_dry_run_counts_no_change_if_the_upc_is_empty_because_the_gtin_says_it(acme, a_variant, ran):
    a_variant(acme, "A-1", upc=GTIN, gtin=GTIN)
    row = ["sku,upc,ean,gtin", f"A-1,,,{GTIN}"]

    counted = [
        (job["updated"], job["unchanged"]) for job in (ran(acme, data=row, dry_run=True), ran(acme, data=row))
    ]

    assert counted == [(0, 1), (0, 1)]


@pytest.mark.parametrize(("upc", "code"), [(OTHER, "contradiction"), ("12", "invalid_barcode")])
def test_a_wrong_upc_beside_the_stored_gtin_is_rejected(acme, a_variant, ran, upc, code):
    a_variant(acme, "A-1", upc=GTIN, gtin=GTIN)

    job = ran(acme, data=["sku,upc,gtin", f"A-1,{upc},{GTIN}"])

    assert job["errors"][0]["code"] == code


@pytest.mark.parametrize(
    ("stored", "row", "field", "message"),
    [
        (
            {"special_sale_price_start": datetime(2026, 5, 1, tzinfo=UTC)},
            ["sku,special_sale_price_end", "A-1,2026-04-01"],
            "special_sale_price_end",
            "special_sale_price_end is before the stored special_sale_price_start. Send both.",
        ),
        (
            {"special_sale_price_end": datetime(2026, 4, 1, tzinfo=UTC)},
            ["sku,special_sale_price_start", "A-1,2026-05-01"],
            "special_sale_price_start",
            "special_sale_price_start is after the stored special_sale_price_end. Send both.",
        ),
    ],
)
def test_a_sale_that_would_end_before_its_start_is_rejected(
    acme, a_variant, ran, stored, row, field, message
):
    a_variant(acme, "A-1", **stored)

    job = ran(acme, data=row)

    assert (faults(job), job["errors"][0]["message"]) == ([(field, "invalid")], message)


def test_both_dates_of_a_sale_may_move_together(acme, a_variant, ran):
    a_variant(acme, "A-1", special_sale_price_start=datetime(2026, 5, 1, tzinfo=UTC))
    dates = "2026-03-01,2026-04-01"

    assert ran(acme, data=["sku,special_sale_price_start,special_sale_price_end", f"A-1,{dates}"])["updated"]


def test_an_unreadable_date_is_rejected_for_this_reason_alone(acme, a_variant, ran):
    a_variant(acme, "A-1", special_sale_price_start=datetime(2026, 5, 1, tzinfo=UTC))

    job = ran(acme, data=["sku,special_sale_price_end", "A-1,soon"])

    assert faults(job) == [("special_sale_price_end", "invalid_date")]
    assert "stored" not in job["errors"][0]["message"]
