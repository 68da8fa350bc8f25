"""Columns read through typed rows have the values that Django reads."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from catalog.models import Variant
from fastdb.columns import Number, parsed, text_of
from fastdb.rows import as_rows
from imports.models import ImportJob
from tests.factories import ImportJobFactory

pytestmark = pytest.mark.django_db


class PriceRow(NamedTuple):
    retail_price: Number


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        [{"name": "Gruß", "value": 'a "quoted" \\ one\n☃ 🎁'}],
        {"address1": "", "nested": {"deep": [1, 2.5, -0.1, None, True, 2**60]}},
        "text",
        12,
        False,
    ],
    ids=str,
)
def test_a_json_column_read_as_text_equals_djangos_value(acme, value):
    job = ImportJobFactory.create(supplier=acme, options=value)

    (text,) = ImportJob.objects.annotate(as_text=text_of("options")).values_list("as_text", flat=True)

    assert parsed(text) == ImportJob.objects.get(pk=job.pk).options == value
    assert type(parsed(text)) is type(value)


@pytest.mark.parametrize("price", ["0", "0.0001", "5", "19.9", "1200", "9999999999.9999"])
def test_a_decimal_column_comes_as_the_api_writes_it(acme, a_variant, price):
    a_variant(acme, "A", retail_price=price)

    (row,) = as_rows(Variant.objects.all(), PriceRow)

    assert str(row.retail_price) == price
