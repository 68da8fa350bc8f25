"""What columns are read as says what Django reads from them."""

from __future__ import annotations

import pytest

from api.renderers import number
from api.stored import number_of, parsed, text_of
from catalog.models import Variant
from imports.models import ImportJob

pytestmark = pytest.mark.django_db


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
def test_a_json_column_read_as_text_holds_what_django_reads(acme, value):
    job = ImportJob.objects.create(supplier=acme, kind="products", options=value)

    (text,) = ImportJob.objects.annotate(told=text_of("options")).values_list("told", flat=True)

    assert parsed(text) == ImportJob.objects.get(pk=job.pk).options == value
    assert type(parsed(text)) is type(value)


@pytest.mark.parametrize("price", ["0", "0.0001", "5", "19.9", "1200", "9999999999.9999"])
def test_a_decimal_column_comes_as_the_api_writes_it(acme, a_variant, price):
    a_variant(acme, "A", retail_price=price)

    ((told, stored),) = Variant.objects.annotate(told=number_of("retail_price")).values_list(
        "told", "retail_price"
    )

    assert str(told) == str(number(stored)) == price
