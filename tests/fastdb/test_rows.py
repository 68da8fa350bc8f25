"""`as_rows` makes a queryset yield the values of `values_list` as instances of a given NamedTuple."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, NamedTuple, TypedDict

import pytest
from django.db.models import F, QuerySet
from django.db.models.functions import Upper

from catalog.models import Variant
from fastdb.columns import Json, Moment, Number
from fastdb.compiled import CompiledQuery, Param
from fastdb.rows import answering, as_rows, grouped

pytestmark = pytest.mark.django_db


class VariantRow(NamedTuple):
    sku: str
    supplier__name: str
    shouted: Annotated[str, Upper("title")]
    retail_price: Number
    wholesale_price: Number | None
    options: Json[list[Any]]
    more: Annotated[Json[list[Any]], F("properties")]
    since: Annotated[Moment | None, F("special_sale_price_start")]
    until: Annotated[Moment | None, F("special_sale_price_end")]


class SkuRow(NamedTuple):
    sku: str


@CompiledQuery
def compiled() -> QuerySet[Variant, VariantRow]:
    return as_rows(Variant.objects.filter(sku=Param("sku")), VariantRow)


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda: as_rows(Variant.objects.all(), VariantRow), id="queryset"),
        pytest.param(lambda: compiled(sku="A"), id="compiled"),
    ],
)
def test_rows_are_of_the_class_and_hold_each_column_as_its_type_says(read, acme, a_variant):
    a_variant(
        acme,
        "A",
        title="Lamp",
        retail_price="19.90",
        options=[{"name": "size"}],
        special_sale_price_start=datetime(2026, 11, 1, tzinfo=UTC),
    )

    (row,) = read()

    assert type(row) is VariantRow
    assert row == VariantRow(
        sku="A",
        supplier__name="Acme",
        shouted="LAMP",
        retail_price=Decimal("19.9"),
        wholesale_price=None,
        options=[{"name": "size"}],
        more=[],
        since="2026-11-01T00:00:00.000000Z",
        until=None,
    )
    assert str(row.retail_price) == "19.9"


def test_rows_are_still_a_queryset(acme, a_variant):
    for sku in ("A", "B", "C"):
        a_variant(acme, sku)

    rows = as_rows(Variant.objects.all(), VariantRow).filter(sku__gt="A").order_by("-sku")

    assert [row.sku for row in rows] == ["C", "B"]
    assert rows[0].sku == "C"
    assert [row.sku for row in rows[1:]] == ["B"]
    assert rows.count() == 2
    assert [row.sku for row in rows.iterator()] == ["C", "B"]
    last = rows.last()
    assert last is not None
    assert last.sku == "B"


def test_two_row_classes_do_not_affect_each_other(acme, a_variant):
    class NameRow(NamedTuple):
        name: Annotated[str, F("supplier__name")]

    a_variant(acme, "A")

    assert list(as_rows(Variant.objects.all(), SkuRow)) == [SkuRow("A")]
    assert list(as_rows(Variant.objects.all(), NameRow)) == [NameRow("Acme")]


def test_rows_are_grouped_by_id_and_a_missing_id_gives_an_empty_list():
    groups = grouped([SkuRow("A"), SkuRow("BB"), SkuRow("C")], lambda row: len(row.sku))

    assert groups[1] == [SkuRow("A"), SkuRow("C")]
    assert groups[3] == []


# --- Answers -------------------------------------------------------------------------------------


class PriceJson(TypedDict):
    wholesale_price: Any
    sku: str


class PriceRow(NamedTuple):
    pk: int
    sku: str
    wholesale_price: Annotated[Any, Number]


def test_an_answer_has_its_own_fields_in_its_own_order():
    price_json = answering(PriceRow, PriceJson)

    assert list(price_json(PriceRow(7, "A", None)).items()) == [("wholesale_price", None), ("sku", "A")]


class OtherJson(PriceJson):
    pk: str
    title: str


def test_an_answer_type_that_does_not_match_its_row_is_refused_at_its_definition():
    with pytest.raises(TypeError, match="PriceRow does not match OtherJson: pk, title"):
        answering(PriceRow, OtherJson)
