"""A supplier's clerk tries a stock file as the page proposes it."""

from __future__ import annotations

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from imports.models import ImportDraft, ImportJob
from tests.factories import WarehouseFactory
from tests.imports.test_stock_exports import LONG
from tests.portal.conftest import said

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def west(acme, a_variant):
    a_variant(acme, "LAMP", stock=5)
    return WarehouseFactory.create(supplier=acme, name="West")


def upload(client, content):
    """Upload a stock file. Return the URL of its page and the choices that a browser sends for it."""
    file = SimpleUploadedFile("stock.csv", content)
    page = client.post("/portal/files/", {"kind": "inventory", "file": file}, follow=True)
    lists = re.findall(r'<select name="([^"]+)"[^>]*>(.*?)</select>', page.text, re.S)
    return page.request["PATH_INFO"], {name: _selected(options) for name, options in lists}


def _selected(options):
    values = re.findall(r'<option value="([^"]*)"( selected)?', options)
    return next((value for value, selected in values if selected), values[0][0])


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (
            b"sku,quantity,warehouse\nLAMP,7,West\n",
            {"warehouse_field": "warehouse"},
        ),
        (f"{LONG}lamp,Lamp,,,,,,,LAMP,,,West,,,,7,7\n".encode(), {"mapping": "shopify"}),
    ],
)
def test_the_warehouse_of_a_row_is_proposed_if_the_file_names_it(ana, west, content, options):
    url, proposed = upload(ana, content)
    assert proposed["warehouse"] == "column"

    ana.post(url, {"do": "try", **proposed})
    stored = ImportDraft.objects.get().body
    assert "warehouse_id" not in stored
    assert options.items() <= stored.items()


def test_a_warehouse_that_does_not_exist_any_more_is_not_replaced_by_the_default(ana, west):
    url, proposed = upload(ana, b"sku,quantity\nLAMP,7\n")
    page = ana.post(url, {"do": "try", **proposed, "warehouse": "999999"}, follow=True)

    assert said(page) == ["Warehouse: Select a valid choice. 999999 is not one of the available choices."]
    assert not ImportJob.objects.exists()
