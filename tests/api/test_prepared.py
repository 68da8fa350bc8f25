"""A prepared query yields what its queryset would, and its statement is written once."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db.models import OuterRef, QuerySet, Subquery

from accounts.models import ApiKey, Supplier
from api.prepared import Given, Prepared, any_of
from catalog.models import Variant


@Prepared
def keys() -> QuerySet[ApiKey]:
    return ApiKey.objects.select_related("supplier", "retailer").filter(prefix=Given("prefix"))


@Prepared
def prices() -> QuerySet[Variant, Any]:
    listed = Variant.objects.filter(any_of("sku", "skus"), supplier_id=Given("supplier")).order_by("sku")
    return listed.values_list("sku", "options", "retail_price", named=True)


def test_instances_come_with_their_relations(acme, django_assert_num_queries):
    key, _ = ApiKey.issue(acme, "ERP")
    with django_assert_num_queries(1):  # the supplier comes along
        (found,) = keys(prefix=key.prefix)
        assert (found, found.supplier, found.retailer) == (key, acme, None)
        assert not found._state.adding
        assert found._state.db == "default"


@Prepared
def suppliers() -> QuerySet[Any]:
    first = Variant.objects.filter(supplier_id=OuterRef("pk")).order_by("sku").values("sku")[:1]
    return Supplier.objects.filter(name=Given("name")).annotate(first_sku=Subquery(first))


def test_instances_come_with_their_annotations(acme, rival, a_variant):
    a_variant(acme, "B")
    a_variant(acme, "A")
    assert [each.first_sku for each in suppliers(name="Acme")] == ["A"]
    assert [each.first_sku for each in suppliers(name="Rival")] == [None]


def test_rows_are_converted_as_the_queryset_converts_them(acme, rival, a_variant):
    a_variant(acme, "A", options=[{"name": "size"}], retail_price="1.50")
    a_variant(acme, "B")
    a_variant(acme, "C")
    a_variant(rival, "A")
    rows = prices(skus=["A", "B"], supplier=acme.pk)
    assert [row.sku for row in rows] == ["A", "B"]
    assert rows[0].options == [{"name": "size"}]
    assert rows[0].retail_price == Decimal("1.50")


def test_nothing_is_found_for_an_empty_list(acme, a_variant):
    a_variant(acme, "A")
    assert prices(skus=[], supplier=acme.pk) == []


def test_each_call_is_given_its_own_values(acme, rival, a_variant):
    a_variant(acme, "A")
    a_variant(rival, "B")
    assert [row.sku for row in prices(skus=["A", "B"], supplier=rival.pk)] == ["B"]
    assert [row.sku for row in prices(skus=["A", "B"], supplier=acme.pk)] == ["A"]


def test_what_is_given_never_becomes_part_of_the_statement(acme, a_variant):
    a_variant(acme, "A")
    assert prices(skus=["A') OR true --"], supplier=acme.pk) == []
    assert keys(prefix="' OR true --") == []


def test_the_statement_is_written_once(acme, monkeypatch):
    keys(prefix="nobody")
    monkeypatch.setattr(keys, "_build", lambda: pytest.fail("written again"))
    assert keys(prefix="nobody") == []
