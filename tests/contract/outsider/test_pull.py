"""The retailer's pull of variant groups (interface endpoint 14 and 2.4; contract 5 and 12)."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from .http_client import fault, unique, well
from .steps import TIME, new_variant, push, put_stock

GROUP = {
    "model": str,
    "special_sale_price_start": str | None,
    "special_sale_price_end": str | None,
    "available_inventory": int,
    "retailers_count": int,
    "retail_price_min": Decimal | int | None,
    "retail_price_max": Decimal | int | None,
    "wholesale_price_min": Decimal | int | None,
    "wholesale_price_max": Decimal | int | None,
    "title": str,
    "description": str,
    "description_extra": str,
    "description_bullets": list,
    "images": list,
    "variants": list,
}


def pull(retailer, **query):
    return well(retailer.get("variants", {"service_type": "ecommerce"} | query))


def group_of(retailer, number, **query):
    return next((group for group in pull(retailer, **query) if number in group["variants"]), None)


def test_every_group_has_the_fields_and_types_of_the_interface(acme, shop):
    """Interface 2.4 lists the fields and their types."""
    new_variant(acme)
    for group in pull(shop):
        for field, kind in GROUP.items():
            assert isinstance(group[field], kind), (field, group)
            assert not isinstance(group[field], bool), field
        assert all(isinstance(number, int) for number in group["variants"])
        assert all(isinstance(text, str) for text in group["description_bullets"] + group["images"])
        for field in ("special_sale_price_start", "special_sale_price_end"):
            assert group[field] is None or TIME.match(group[field])


def test_variants_of_one_model_are_one_group(acme, shop):
    """Contract 5: a group has a supplier's variants of one `model`.

    It has their lowest and highest prices, and the texts of the oldest variant.
    """
    model = unique("M")
    first = new_variant(
        acme, stock=3, model=model, title="Old", retail_price=Decimal("10.5"), wholesale_price=Decimal("4.1")
    )
    second = new_variant(
        acme, stock=4, model=model, title="New", retail_price=Decimal("19.99"), wholesale_price=Decimal("3.9")
    )
    group = group_of(shop, first["id"])
    assert group["model"] == model
    assert sorted(group["variants"]) == [first["id"], second["id"]]
    assert group["title"] == "Old"
    assert (group["retail_price_min"], group["retail_price_max"]) == (Decimal("10.5"), Decimal("19.99"))
    assert (group["wholesale_price_min"], group["wholesale_price_max"]) == (Decimal("3.9"), Decimal("4.1"))
    assert group["available_inventory"] == 7
    assert group["retailers_count"] == 1


def test_a_variant_with_no_model_is_its_own_group(acme, shop):
    """Contract 5: the `model` of this group is the variant's SKU."""
    variant = new_variant(acme)
    group = group_of(shop, variant["id"])
    assert group["model"] == variant["sku"]
    assert group["variants"] == [variant["id"]]


def test_two_suppliers_of_one_model_are_two_groups(acme, rival, shop):
    """Contract 5: a group has variants of one supplier. `retailers_count` counts its active partners."""
    model = unique("M")
    mine, theirs = new_variant(acme, model=model), new_variant(rival, model=model)
    assert group_of(shop, mine["id"])["variants"] == [mine["id"]]
    assert group_of(shop, theirs["id"])["retailers_count"] == 2


def test_stock_is_over_all_warehouses_less_reserved_units(acme, shop):
    """Contract 5: a group's stock is the sum of the available units of its listed variants.

    Contract 7: available units are on hand, not reserved, and not safety stock.
    """
    variant = new_variant(acme, stock=5)
    put_stock(acme, variant["sku"], 6, warehouse=1)
    assert group_of(shop, variant["id"])["available_inventory"] == 11
    push(shop, {"variant_id": variant["id"], "quantity": 4})
    assert group_of(shop, variant["id"])["available_inventory"] == 7


def test_bullets_are_given_or_the_lines_of_the_extra_description(acme, shop):
    """Contract 5: if no `description_bullets` are given, the lines of `description_extra` are used."""
    given = new_variant(acme, description_bullets=["a", "b"], description_extra="x\ny")
    lines = new_variant(acme, description_extra="x\ny")
    assert group_of(shop, given["id"])["description_bullets"] == ["a", "b"]
    assert group_of(shop, lines["id"])["description_bullets"] == ["x", "y"]


def test_sale_dates_are_the_earliest_start_and_the_latest_end(acme, shop):
    """Contract 5: if sale dates differ, a group shows the earliest start and the latest end."""
    model = unique("M")
    january, february, march = (f"2027-0{month}-01T00:00:00.000000Z" for month in (1, 2, 3))
    sale: dict[str, Any] = {"model": model, "special_sale_price": 1}
    one = new_variant(acme, special_sale_price_start=february, special_sale_price_end=march, **sale)
    new_variant(acme, special_sale_price_start=january, special_sale_price_end=february, **sale)
    group = group_of(shop, one["id"])
    assert (group["special_sale_price_start"], group["special_sale_price_end"]) == (january, march)


def test_a_price_that_no_variant_has_is_null(acme, shop):
    """Contract 12: the lowest and highest price are null if no variant has the price."""
    group = group_of(shop, new_variant(acme)["id"])
    assert group["wholesale_price_min"] is None
    assert group["wholesale_price_max"] is None


def test_the_service_type_is_required(shop):
    """Contract 5: a pull without `service_type` gets 400."""
    fault(shop.get("variants"), 400, "missing_parameter", "service_type")


@pytest.mark.parametrize("kind", ["retail", "", "ECOMMERCE1", "ecommerce,wholesale"])
def test_another_service_type_is_refused_with_the_list(shop, kind):
    """Contract 5: an unknown `service_type` gets 400, and the answer lists the known types."""
    answer = shop.get("variants", {"service_type": kind})
    fault(answer, 400, ("validation_error", "missing_parameter"), "service_type")
    assert all(name in answer.text for name in ("ecommerce", "marketplace", "wholesale")), answer


@pytest.mark.parametrize("kind", ["ecommerce", "marketplace", "wholesale"])
def test_the_three_service_types_are_accepted(shop, kind):
    """Contract 5: `service_type` is `ecommerce`, `marketplace` or `wholesale`."""
    assert isinstance(well(shop.get("variants", {"service_type": kind})), list)


def test_the_pages_together_have_the_same_groups_as_the_whole_array(acme, shop):
    """Contract 5: the answer is the whole array. With `limit`, it has pages with `Link: rel="next"`."""
    for _ in range(3):
        new_variant(acme)
    whole = [tuple(group["variants"]) for group in pull(shop)]
    answer = shop.get("variants", {"service_type": "ecommerce", "limit": min(500, max(2, len(whole) // 5))})
    paged = []
    while True:
        paged += [tuple(group["variants"]) for group in well(answer)]
        if not answer.next:
            break
        answer = shop.get(answer.next)
    assert sorted(paged) == sorted(whole) or set(whole) <= set(paged)
    assert len(paged) == len(set(paged))


def test_nothing_new_is_a_304(acme, shop):
    """Contract 5: if nothing is new, a request with the `ETag` as `If-None-Match` gets 304."""
    new_variant(acme)
    for _ in range(200):  # a concurrent test may change the catalog between the two requests
        tag = shop.get("variants", {"service_type": "ecommerce"}).headers["ETag"]
        assert tag
        answer = shop.get("variants", {"service_type": "ecommerce"}, If_None_Match=tag)
        if answer.status == 304:
            break
    assert answer.status == 304, answer
    assert answer.raw == b""
    new_variant(acme)
    answer = shop.get("variants", {"service_type": "ecommerce"}, If_None_Match=tag)
    assert well(answer)
    assert answer.headers["ETag"] != tag


def test_a_stock_change_changes_the_etag(acme, shop):
    """Contract 5: a change of stock changes the answer, so the `ETag` changes too."""
    variant = new_variant(acme, stock=5)
    tag = shop.get("variants", {"service_type": "ecommerce"}).headers["ETag"]
    put_stock(acme, variant["sku"], 6)
    assert shop.get("variants", {"service_type": "ecommerce"}, If_None_Match=tag).status == 200


def test_updated_since_shows_changes(acme, shop):
    """Contract 5: with `updated_since`, the answer has only changed groups."""
    old = new_variant(acme, stock=1)
    since = _now(shop)
    assert group_of(shop, old["id"], updated_since=since) is None
    put_stock(acme, old["sku"], 2)
    assert group_of(shop, old["id"], updated_since=since) is not None
    new = new_variant(acme)
    assert group_of(shop, new["id"], updated_since=since) is not None


@pytest.mark.parametrize("value", ["yesterday", "", "2026-99-01", "12"])
def test_an_updated_since_that_is_no_time_is_refused(shop, value):
    """Contract, head: unclear input gets a clear error that names the field."""
    answer = shop.get("variants", {"service_type": "ecommerce", "updated_since": value})
    fault(answer, 400, ("validation_error", "missing_parameter", "invalid_filter"), "updated_since")


def test_text_with_script_is_returned_as_it_was_sent(acme, shop):
    """Contract 2: answers are JSON, so texts are not escaped for HTML."""
    title = "<script>alert('1')</script> ' \" \\ & €"
    assert group_of(shop, new_variant(acme, title=title)["id"])["title"] == title


def _now(shop):
    """Return the time of this host, because the header `Date` of an answer has only whole seconds."""
    time.sleep(0.05)
    moment = datetime.now(UTC)
    time.sleep(0.05)
    return (moment + timedelta(0)).isoformat().replace("+00:00", "Z")
