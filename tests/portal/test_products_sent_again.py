"""A form of products is carried out once, even if a colleague undoes the change meanwhile."""

from __future__ import annotations

import re

import pytest

from catalog.models import Variant
from tests.portal.conftest import said
from tests.portal.test_products import LIST, row


@pytest.fixture
def lamp(acme, a_variant):
    return a_variant(acme, "LAMP", title="A", retail_price="20")


def form_id(page):
    [found] = re.findall(r'name="form_id" value="([^"]+)"', page.text)
    return {"form_id": found}


@pytest.mark.parametrize("on_list", [True, False])
def test_a_form_that_is_sent_again_changes_nothing(ana, lamp, on_list):
    url = LIST if on_list else f"{LIST}{lamp.pk}/"
    sent = {**form_id(ana.get(url)), **row(lamp, title="B")}
    ana.post(url, sent)
    assert Variant.objects.get().title == "B"
    Variant.objects.update(title="A")

    page = ana.post(url, sent, follow=True)

    assert "done only once: LAMP is changed." in said(page)[-1]
    assert Variant.objects.get().title == "A"
    ana.post(url, {**form_id(page), **row(lamp, title="C")})
    assert Variant.objects.get().title == "C"


def test_a_corrected_row_is_saved_after_an_error(ana, lamp):
    sent = form_id(ana.get(LIST))
    page = ana.post(LIST, {**sent, **row(lamp, retail_price="x")})
    assert form_id(page) != sent
    ana.post(LIST, {**form_id(page), **row(lamp, title="C")})
    assert Variant.objects.get().title == "C"
