"""A compiled query yields the items of its queryset, and its statement is written once."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from django.db.models import OuterRef, QuerySet, Subquery

from accounts.models import ApiKey, Supplier
from catalog.models import Variant
from fastdb.compiled import CompiledQuery, Param, any_of
from fastdb.rows import as_rows
from tests.factories import IssuedKeyFactory


@CompiledQuery
def keys() -> QuerySet[ApiKey]:
    return ApiKey.objects.select_related("supplier", "retailer").filter(prefix=Param("prefix"))


class PriceRow(NamedTuple):
    sku: str
    options: Any  # the value of a JSON column may have any type
    retail_price: Decimal


@CompiledQuery
def prices() -> QuerySet[Variant, PriceRow]:
    listed = Variant.objects.filter(any_of("sku", "skus"), supplier_id=Param("supplier")).order_by("sku")
    return as_rows(listed, PriceRow)


def test_instances_come_with_their_relations(acme, django_assert_num_queries):
    key, _ = IssuedKeyFactory.create(party=acme)
    with django_assert_num_queries(1):  # the supplier is read by the same query
        (found,) = keys(prefix=key.prefix)
        assert (found, found.supplier, found.retailer) == (key, acme, None)
        assert not found._state.adding
        assert found._state.db == "default"


@CompiledQuery
def suppliers() -> QuerySet[Any]:
    first = Variant.objects.filter(supplier_id=OuterRef("pk")).order_by("sku").values("sku")[:1]
    return Supplier.objects.filter(name=Param("name")).annotate(first_sku=Subquery(first))


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
    assert rows == [PriceRow("A", [{"name": "size"}], Decimal("1.50")), PriceRow("B", [], Decimal("19.99"))]
    assert type(rows[0]) is PriceRow


def test_nothing_is_found_for_an_empty_list(acme, a_variant):
    a_variant(acme, "A")
    assert prices(skus=[], supplier=acme.pk) == []


def test_each_call_is_given_its_own_values(acme, rival, a_variant):
    a_variant(acme, "A")
    a_variant(rival, "B")
    assert [row.sku for row in prices(skus=["A", "B"], supplier=rival.pk)] == ["B"]
    assert [row.sku for row in prices(skus=["A", "B"], supplier=acme.pk)] == ["A"]


def test_a_value_never_becomes_part_of_the_statement(acme, a_variant):
    a_variant(acme, "A")
    assert prices(skus=["A') OR true --"], supplier=acme.pk) == []
    assert keys(prefix="' OR true --") == []


def test_the_statement_is_written_once(acme, monkeypatch):
    keys(prefix="nobody")
    monkeypatch.setattr(keys, "_build", lambda: pytest.fail("written again"))
    assert keys(prefix="nobody") == []
