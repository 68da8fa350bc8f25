"""Pages stay small: at most 150 KB of HTML, and 30 KB of scripts."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders

from catalog.models import Variant
from tests.factories import OrderFactory, SupplierFactory, VariantFactory

HTML, SCRIPTS = 150_000, 30_000


@pytest.fixture
def _full_lists(acme, shop):
    OrderFactory.create_in_bulk(120, retailer=shop)
    VariantFactory.create_in_bulk(120, supplier=acme)
    SupplierFactory.create_in_bulk(120)


@pytest.mark.usefixtures("_full_lists")
@pytest.mark.parametrize(
    "path",
    ["", "desk/", "orders/order/", "catalog/variant/", "accounts/supplier/", "accounts/partnership/add/"],
)
def test_a_page_is_at_most_150_kb(admin_client, path):
    assert len(admin_client.get(f"/admin/{path}").content) < HTML


def test_the_scripts_of_a_page_are_at_most_30_kb():
    own = [*Path(settings.BASE_DIR, "ui").rglob("*.js"), *Path(settings.BASE_DIR, "backoffice").rglob("*.js")]
    assert sum(path.stat().st_size for path in own) < SCRIPTS


@pytest.mark.usefixtures("_full_lists")
@pytest.mark.parametrize(
    "path",
    [
        *("", "desk/", "orders/order/", "catalog/variant/", "catalog/variant/{}/change/"),
        *("accounts/partnership/add/", "accounts/apikey/add/", "accounts/contact/add/"),
    ],
)
def test_a_page_loads_at_most_30_kb_of_scripts(admin_client, path):
    variant = Variant.objects.earliest("pk")
    page = admin_client.get(f"/admin/{path.format(variant.pk)}")
    assert page.status_code == 200
    scripts = re.findall(r'<script[^>]* src="/static/([^"]+)"', page.text)
    assert "ui/theme.js" in scripts
    files = [finders.find(name) for name in scripts]
    assert sum(Path(file).stat().st_size for file in files if file) < SCRIPTS
    assert all(files)


@pytest.mark.usefixtures("_full_lists")
def test_long_names_in_lists_have_a_title_and_cells_have_labels(admin_client, acme):
    name = "Donaudampfschifffahrtselektrizitäten GmbH & Co."
    SupplierFactory.create(name=name)
    page = admin_client.get("/admin/accounts/supplier/", {"q": "Donau"}).text
    assert 'title="Donaudampfschifffahrtselektrizitäten GmbH &amp; Co."' in page
    assert 'data-label="Name"' in page


def test_an_operator_has_one_way_to_save_and_no_menu_of_actions(operator, order):
    form = operator.get("/admin/catalog/variant/1/change/", follow=True).text
    assert "_addanother" not in form
    page = operator.get("/admin/orders/order/").text
    assert '<select name="action"' not in page
    assert '<button name="action" value="hold">' in page
