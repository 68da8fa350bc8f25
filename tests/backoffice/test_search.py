"""The search box finds records by any part of their names, ignores case, and reads only indexes."""

from __future__ import annotations

import factory
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.actors import Actor, ActorKind
from events.recording import record
from tests.backoffice.conftest import do
from tests.factories import (
    ImportJobFactory,
    IssuedKeyFactory,
    OrderFactory,
    UploadFactory,
    VariantFactory,
)

SEARCH = "/admin/search/"
BY_PREFIX = {"orders_searchentry", "orders_order", "catalog_variant"}
MANY = {
    *("orders_order", "orders_searchentry", "fulfillments_fulfillment", "fulfillments_shipment"),
    *("catalog_variant", "imports_importjob", "sftp_ingest_upload", "events_event"),
}


def found(client, term):
    """Return the names of the found records, by the title of their group."""
    page = client.get(SEARCH, {"q": term, "all": 1})
    assert page.status_code == 200
    return {group.title: [hit.name for hit in group.hits] for group in page.context["groups"]}


def test_an_order_is_found_by_its_numbers_and_its_customer(operator, shop, acme, a_variant, pushed):
    a_variant(acme, "LAN-1", stock=10)
    order = pushed(shop, {"sku": "LAN-1", "quantity": 1}, sales_order_number="SO-9")
    address = order.shipping_address
    name = f"{address['first_name']} {address['last_name']}"
    for term in (
        order.retailer_order_id.lower(),
        order.retailer_order_id[:-1],
        "so-9",
        name.upper(),
        address["last_name"][:4].lower(),
        address["email"][:6].upper(),
    ):
        assert found(operator, term)["Orders"] == [order.retailer_order_id], term
    assert found(operator, "nobody of that name") == {}


def test_a_corrected_address_finds_its_order_under_both_names(operator, order, fulfillment, client_for, acme):
    client_for(acme).put(f"fulfillments/{fulfillment.pk}/setStatus/wrong_address")
    before = order.shipping_address["last_name"]
    corrected = {**order.shipping_address, "last_name": "Ångström"}
    do(operator, order, "correct-address", **{name: str(value) for name, value in corrected.items()})

    assert found(operator, "ÅNGST")["Orders"] == [order.retailer_order_id]
    assert found(operator, before)["Orders"] == [order.retailer_order_id]


def test_an_order_is_found_by_any_part_of_its_number_and_of_a_name(operator, shop):
    OrderFactory.create(
        retailer=shop, retailer_order_id="SH-100874", shipping_address={"last_name": "Zimmermann"}
    )
    for inside in ("100874", "0087", "mermann"):
        assert found(operator, inside)["Orders"] == ["SH-100874"], inside


def test_the_newest_orders_of_a_customer_come_first(operator, shop):
    address = {"first_name": "Ada", "last_name": "Byron"}
    orders = OrderFactory.create_in_bulk(12, retailer=shop, shipping_address=address)
    [group] = operator.get(SEARCH, {"q": "ada byron"}).context["groups"]
    newest = sorted((order.pk for order in orders), reverse=True)[:10]
    assert [hit.url for hit in group.hits] == [f"/admin/orders/order/{number}/change/" for number in newest]
    assert group.more


def test_a_variant_is_found_by_sku_article_number_and_title(operator, acme, a_variant):
    a_variant(acme, "LAN-1", upc="036000291452", title="Storm Lantern", listed=False)
    a_variant(acme, "100%_A", title="Percent")
    for term in ("lan", "0360002", "036000291452", "storm lan", "LANTERN", "ntern", "an-"):
        assert found(operator, term)["Variants"] == ["LAN-1"], term
    assert found(operator, "100%_a")["Variants"] == ["100%_A"]
    assert found(operator, "100a") == {}


def test_a_parcel_is_found_by_its_tracking_number(operator, fulfillment, client_for, acme):
    supplier = client_for(acme)
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/accepted")
    supplier.put(f"fulfillments/{fulfillment.pk}/setStatus/shipped", {"tracking_number": "1Z999AA"})
    for term in ("1z99", "99AA"):
        assert found(operator, term)["Fulfillments and parcels"] == [f"Fulfillment {fulfillment.pk}"]


def test_a_file_is_found_by_its_name_with_and_without_its_folder(operator, acme):
    job = ImportJobFactory.create(supplier=acme, source="products/Spring.csv")
    UploadFactory.create(supplier=acme, path="products/Spring.csv")
    for term in ("spring", "products/spr"):
        groups = found(operator, term)
        assert (groups["Imports"], groups["Uploads"]) == ([f"Import {job.pk}"], ["products/Spring.csv"])
    assert found(operator, "ring.c")["Imports"] == [f"Import {job.pk}"]
    assert found(operator, "inventory/spring") == {}


def test_a_request_is_found_by_its_id_and_a_partner_by_name_or_key(operator, acme):
    key, _ = IssuedKeyFactory.create(party=acme)
    record("supplier.created", by=Actor(ActorKind.SYSTEM, "system:x", "Req-77"), supplier=acme)
    assert found(operator, "req-7")["Requests"] == ["Req-77"]
    assert found(operator, "acm")["Suppliers"] == ["Acme"]
    assert found(operator, key.prefix)["API keys"] == [key.prefix]


def test_an_exact_match_is_opened_at_once(operator, shop):
    first, _ = OrderFactory.create_in_bulk(
        2, retailer=shop, retailer_order_id=factory.Iterator(["R-1", "R-10"])
    )
    exact = operator.get(SEARCH, {"q": "r-1"})
    assert exact.headers["Location"] == f"/admin/orders/order/{first.pk}/change/"
    assert operator.get(SEARCH, {"q": "r-"}).status_code == 200
    assert found(operator, "r-1")["Orders"] == ["R-1", "R-10"]


@pytest.mark.parametrize("term", ["", "  ", "\0", "%", "'", "x" * 5000, "9" * 30, "\U0010ffff", "/", "a/"])
def test_the_search_accepts_any_term(operator, term):
    assert operator.get(SEARCH, {"q": term, "all": 1}).status_code == 200


def test_only_users_with_the_right_may_search(client, support, order):
    assert client.get(SEARCH, {"q": "R"}).status_code == 302
    assert found(support, order.retailer_order_id)["Orders"] == [order.retailer_order_id]


def test_a_search_has_a_fixed_number_of_queries_and_reads_only_indexes(operator, shop, acme, order):
    VariantFactory.create_in_bulk(3000, supplier=acme)
    numbers = factory.Sequence(lambda n: f"Bulk-{n}")
    OrderFactory.create_in_bulk(3000, retailer=shop, retailer_order_id=numbers)
    ImportJobFactory.create_in_bulk(3000, supplier=acme)
    UploadFactory.create_in_bulk(3000, supplier=acme)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    asked_for = set()
    for term in ("bulk-12", "sku-1", "17", "036000", "a", "products/a", "r"):
        with CaptureQueriesContext(connection) as asked:
            operator.get(SEARCH, {"q": term, "all": 1})
        statements = [each["sql"] for each in asked if each["sql"].startswith(("SELECT", "(SELECT"))]
        asked_for.add(len(statements) - (3 if term.isdecimal() else 0))
        for statement in statements:
            if " LIKE " not in statement:  # a LIKE may scan a small table: a trigram index costs more
                assert not read_whole(statement, "on") & BY_PREFIX
            assert not read_whole(statement, "off") & MANY, (term, statement)
    assert len(asked_for) == 1


def read_whole(statement, seqscan):
    """Return the tables that PostgreSQL would read completely, with sequential scans allowed or forbidden."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL enable_seqscan = {seqscan}")
        cursor.execute(f"EXPLAIN (COSTS OFF) {statement}")
        plan = [line for (line,) in cursor.fetchall()]
        cursor.execute("RESET enable_seqscan")
    return {line.split(" on ")[1].split()[0] for line in plan if "Seq Scan on" in line}


def test_the_search_box_gets_pages_and_hits_that_the_person_may_open(operator, support, order):
    hits = operator.get(f"{SEARCH}hits/", {"q": order.retailer_order_id}).text
    assert f"/admin/orders/order/{order.pk}/change/" in hits
    assert "<html" not in hits
    pages = operator.get(f"{SEARCH}hits/").text
    assert "/admin/import-file/" in pages
    assert "/admin/import-file/" not in support.get(f"{SEARCH}hits/").text
    assert "No results" in operator.get(f"{SEARCH}hits/", {"q": "nothing of that name"}).text
