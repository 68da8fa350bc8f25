"""Reading variants: lists, filters, selected fields, and the parties that may see a variant (contract 10)."""

from __future__ import annotations

import re

import pytest

from accounts.models import Partnership
from accounts.scopes import Scope


def next_of(answer):
    match = re.search(r'<([^>]+)>; rel="next"', answer.get("Link", ""))
    return match[1].replace("http://testserver", "") if match else None


def test_the_pages_of_a_list_contain_every_row(acme, rival, client_for, a_variant):
    skus = [a_variant(acme, f"A-{number}").sku for number in range(5)]
    a_variant(rival, "R-1")
    client = client_for(acme)

    found, url = [], f"{client.base}/variants?limit=2"
    while url:
        answer = client.get(url)
        found += [each["sku"] for each in answer.json()]
        url = next_of(answer)

    assert found == skus


def test_a_page_costs_three_queries(acme, client_for, a_variant, django_assert_num_queries):
    for number in range(4):
        a_variant(acme, f"A-{number}")
    client = client_for(acme)
    client.get("variants")

    with django_assert_num_queries(3):  # queries: the key, the variants, their restock dates
        assert len(client.get("variants").json()) == 4


@pytest.mark.parametrize(
    ("filters", "skus"),
    [
        ({"sku": "A"}, ["A"]),
        ({"upc": "036000291452"}, ["B"]),
        ({"model": "M"}, ["A", "B"]),
        ({"listed": "false"}, ["C"]),
        ({"model": "M", "listed": "true"}, ["A", "B"]),
        ({"filter": '{"sku": "C"}'}, ["C"]),
        ({"updated_at__gt": "2999-01-01T00:00:00Z"}, []),
        # PostgreSQL does not accept this offset from UTC, which no country uses.
        ({"updated_at__gt": "2999-01-01T00:00:00-21:53"}, []),
        ({"_": "1700000000000"}, ["A", "B", "C"]),
    ],
)
def test_filters_narrow_the_list(acme, client_for, a_variant, filters, skus):
    a_variant(acme, "A", model="M")
    a_variant(acme, "B", model="M", upc="036000291452")
    a_variant(acme, "C", listed=False)

    answer = client_for(acme).get("variants", filters)

    assert [each["sku"] for each in answer.json()] == skus


@pytest.mark.parametrize(
    "filters",
    [{"listed": "maybe"}, {"sku": "A\0"}, {"skus": "A"}, {"updated_at_gt": "2026-01-01"}, {"limit": "501"}],
)
def test_a_filter_that_is_not_understood_is_refused(acme, client_for, filters):
    assert client_for(acme).get("variants", filters).status_code == 400


def test_the_parameter_fields_selects_the_fields_of_variants(acme, client_for, a_variant):
    variant = a_variant(acme, "A")
    client = client_for(acme)

    assert client.get("variants", {"fields": "sku, id"}).json() == [{"id": variant.pk, "sku": "A"}]
    assert client.get(f"/v3/variants/{variant.pk}", {"fields": "title"}).json() == {"title": "Acme A"}
    unknown = client.get("variants", {"fields": "sku,colour"})
    assert unknown.status_code == 400
    assert unknown.json()["errors"][0]["field"] == "fields"
    assert "colour" in unknown.json()["message"]


def test_a_retailer_reads_the_listed_variants_of_active_partners(
    acme, rival, boutique, client_for, a_variant
):
    theirs, foreign = a_variant(rival, "R"), a_variant(acme, "A")
    delisted = a_variant(rival, "R-2", listed=False)
    client = client_for(boutique)

    assert client.get(f"/v3/variants/{theirs.pk}").json()["sku"] == "R"
    absent = client.get("/v3/variants/999999999")
    assert absent.status_code == 404
    for hidden in (foreign, delisted):
        answer = client.get(f"/v3/variants/{hidden.pk}")
        assert {**answer.json(), "request_id": ""} == {**absent.json(), "request_id": ""}
    Partnership.objects.filter(retailer=boutique).update(is_active=False)
    assert client.get(f"/v3/variants/{theirs.pk}").status_code == 404


def test_a_rival_cannot_find_out_that_a_variant_exists(acme, rival, client_for, a_variant):
    variant = a_variant(acme, "A")
    client = client_for(rival)

    assert client.get(f"variants/{variant.pk}").status_code == 404
    assert client.get(f"/v3/variants/{variant.pk}").status_code == 404
    assert client.request("PATCH", f"variants/{variant.pk}", {"title": "Mine"}).status_code == 404
    assert client.get(f"/v3/suppliers/{acme.pk}/variants").status_code == 403
    assert client.post(f"/v3/suppliers/{acme.pk}/variants", {}).status_code == 403
    variant.refresh_from_db()
    assert variant.title == "Acme A"


def test_a_key_reads_variants_only_with_the_scope(acme, client_for, a_variant):
    variant = a_variant(acme, "A")
    reader = client_for(acme, scopes=[Scope.CATALOG_READ])
    stock_keeper = client_for(acme, scopes=[Scope.INVENTORY_WRITE])

    assert reader.get("variants").status_code == 200
    assert reader.post("variants", {}).status_code == 403
    assert reader.request("PATCH", f"variants/{variant.pk}", {}).status_code == 403
    assert stock_keeper.get("variants").status_code == 403


def test_other_methods_are_refused(acme, client_for, a_variant):
    variant = a_variant(acme, "A")

    assert client_for(acme).request("DELETE", f"variants/{variant.pk}").status_code == 405
