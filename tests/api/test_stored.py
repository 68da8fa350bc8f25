"""JSON columns read as text say what Django reads from them."""

from __future__ import annotations

import pytest

from api.stored import parsed, text_of
from imports.models import ImportJob

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        [{"name": "Gruß", "value": 'a "quoted" \\ one\n☃ 🎁'}],
        {"address1": "", "nested": {"deep": [1, 2.5, -0.1, 1e30, None, True, 2**60]}},
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
