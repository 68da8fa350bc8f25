"""The list of products after an error: the page also shows the wrong rows, and saves all changed rows."""

from __future__ import annotations

from decimal import Decimal

import pytest

from catalog.models import Variant
from portal.listing import PAGE
from tests.factories import VariantFactory
from tests.portal.conftest import said
from tests.portal.test_products import LIST, row


@pytest.fixture
def products(acme):
    return [VariantFactory.create(supplier=acme, retail_price=Decimal(20)) for _ in range(PAGE + 2)]


def test_a_page_with_rows_with_errors_above_the_list_saves_every_row(ana, products):
    older, newest = products[:2], products[-1]
    page = ana.post(LIST, {k: v for each in older for k, v in row(each, retail_price="x").items()})
    shown = [product.variant for product, _ in page.context["rows"]]
    assert len(shown) == PAGE + 2

    typed = {each.pk: {"title": f"New {each.pk}"} for each in [*older, newest]}
    sent = {k: v for each in shown for k, v in row(each, **typed.get(each.pk, {})).items()}
    page = ana.post(LIST, sent, follow=True)

    assert said(page) == ["3 products changed."]
    assert {*Variant.objects.filter(title__startswith="New ").values_list("pk", flat=True)} == {*typed}


def test_a_form_with_more_rows_than_a_page_can_have_is_refused(ana, products):
    sent = {f"{products[0].pk + number}-title": "x" for number in range(101)}

    assert said(ana.post(LIST, sent, follow=True)) == ["There are 101 rows. Save at most 100 at a time."]
