"""Products from files, over the API."""

from __future__ import annotations

from decimal import Decimal

from catalog.models import Variant

HEADER = "sku,title,retail_price,description\n"


def test_a_file_in_the_upload_area_becomes_variants(acme, upload, ran):
    path = upload(acme, HEADER + 'A-1,Shirt,19.99,"Soft, red"\nA-2,Hat,5,\n')

    job = ran(acme, file_url=path)

    assert job["status"] == "succeeded", job
    assert (job["rows_total"], job["created"], job["rejected"]) == (2, 2, 0)
    shirt = Variant.objects.get(supplier=acme, sku="A-1")
    assert (shirt.title, shirt.retail_price, shirt.description) == ("Shirt", Decimal("19.99"), "Soft, red")


def test_the_same_file_twice_changes_nothing_the_second_time(acme, upload, ran):
    path = upload(acme, HEADER + "A-1,Shirt,19.99,Soft\nA-2,Hat,5,\n")
    ran(acme, file_url=path)
    before = list(Variant.objects.order_by("id").values())

    job = ran(acme, file_url=path)

    assert (job["unchanged"], job["created"], job["updated"]) == (2, 0, 0)
    assert list(Variant.objects.order_by("id").values()) == before


def test_lines_in_the_request_are_imported_like_a_file(acme, ran):
    job = ran(acme, data=["sku,title,retail_price", "A-1,Shirt,19.99"])

    assert (job["status"], job["source"], job["created"]) == ("succeeded", "data", 1)


def test_good_rows_land_and_bad_ones_are_reported_with_their_lines(acme, ran):
    job = ran(
        acme,
        data=[
            "sku,title,retail_price,upc",
            "A-1,Shirt,19.99,036000291452",
            ",Nameless,1,",
            "A-3,,1,",
            "A-4,Hat,cheap,",
            "A-5,Hat,1,036000291453",
            "A-6,Hat,1",
        ],
    )

    assert job["status"] == "succeeded_with_errors"
    assert (job["created"], job["rejected"], job["rows_total"]) == (1, 5, 6)
    assert [(e["line"], e["field"], e["code"]) for e in job["errors"]] == [
        (3, "sku", "required"),
        (4, "title", "required"),
        (5, "retail_price", "not_a_number"),
        (6, "upc", "check_digit"),
        (7, "", "ragged"),
    ]
