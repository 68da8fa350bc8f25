"""The pictures of README, operators.md and guides, taken by `make screenshots` from pages with demo data."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from django.conf import settings as project

from accounts.models import Member, Retailer, Supplier
from backoffice.navigation.counting import count_waiting
from events.models import Event
from imports.pipeline.job_runner import run_job
from tests.client import ApiClient
from tests.factories import SlipTemplateFactory
from tests.orders.push_bodies import an_order
from tools.demo import cast

FOLDER = Path(project.BASE_DIR) / "docs" / "images"
SIZE = {"width": 1040, "height": 580}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not os.environ.get("SCREENSHOTS"), reason="SCREENSHOTS is not set"),
]
EXPORT = [
    "Handle,Title,Option1 Name,Option1 Value,Variant Price,Image Src,Status",
    "mug,Enamel mug,Color,Blue,14.00,https://pics.example.com/1.jpg,active",
    "mug,,,White,14.00,https://pics.example.com/2.jpg,",
    "mug,,,,,https://pics.example.com/3.jpg,",
    "tent,Tent for two,,,about 129,,active",
]


@pytest.fixture
def pages(client_for, settings, tmp_path, monkeypatch) -> dict[str, str]:
    """A morning's work of the cast, and the pages that show it."""
    settings.UPLOADS_DIR = tmp_path
    monkeypatch.setattr("imports.wake.wake", run_job)
    cast.create()
    acme, shop = (client_for(each) for each in parties())
    pushed = [push(shop, f"SO-10{number}", sku) for number, sku in enumerate(("LAN-01", "BLK-RED", "KET-1L"))]
    work = acme.get("fulfillments").json()
    acme.put(f"fulfillments/{work[0]['id']}/setStatus/accepted")
    body = {"tracking_number": "1Z999AA10123456784", "carrier": "UPS"}
    acme.put(f"fulfillments/{work[0]['id']}/setStatus/shipped", body)
    acme.put(f"fulfillments/{work[1]['id']}/setStatus/wrong_address")
    shop.post(f"orders/{pushed[2]}/cancel")
    job = acme.post("importProducts", {"mapping": "shopify", "data": EXPORT}).json()["id"]
    Event.publish()
    count_waiting()
    return {
        "home": "/admin/",
        "desk": "/admin/desk/",
        "search": "/admin/search/?q=lan&all=1",
        "order": f"/admin/orders/order/{pushed[0]}/change/",
        "import": f"/admin/imports/importjob/{job}/change/",
        "errors": "/v3/docs/errors#busy",
    }


def parties() -> tuple[Supplier, Retailer]:
    return Supplier.objects.get(name="Acme"), Retailer.objects.get(name="Shop")


def push(shop: ApiClient, number: str, sku: str) -> int:
    answer = shop.post("orders", an_order({"sku": sku, "quantity": 2}, retailer_order_id=number))
    order_id: int = answer.json()["order_id"]
    return order_id


def test_the_readmes_pictures_are_taken(browser, pages):
    FOLDER.mkdir(exist_ok=True)
    browser.start_as("olga")
    browser.page.set_viewport_size(SIZE)
    for name, path in pages.items():
        browser.open(path)
        taken = browser.page.screenshot(path=str(FOLDER / f"{name}.png"))
        assert len(taken) > 10_000, name


@pytest.fixture
def portal_pages(client_for, settings, tmp_path) -> dict[str, str]:
    """Orders of Shop in several states, and the pages that show them."""
    settings.UPLOADS_DIR = tmp_path
    cast.create()
    acme, shop = (client_for(each) for each in parties())
    skus = ("LAN-01", "BLK-RED", "KET-1L", "R-STOVE")
    pushed = [push(shop, f"SO-10{number}", sku) for number, sku in enumerate(skus)]
    work = acme.get("fulfillments").json()
    body = {"tracking_number": "1Z999AA10123456784", "carrier": "UPS"}
    acme.put(f"fulfillments/{work[0]['id']}/setStatus/accepted")
    acme.put(f"fulfillments/{work[0]['id']}/setStatus/shipped", body)
    acme.put(f"fulfillments/{work[1]['id']}/setStatus/wrong_address")
    shop.post(f"orders/{pushed[2]}/cancel")
    return {
        "portal-retailer-today": "/portal/",
        "portal-retailer-orders": "/portal/purchases/?tab=all",
        "portal-retailer-order": f"/portal/purchases/{pushed[1]}/",
        "portal-retailer-catalog": "/portal/catalog/?q=blanket",
    }


def test_the_pictures_of_the_guide_for_retailers_are_taken(browser, portal_pages):
    owner = Member.objects.filter(retailer=parties()[1]).select_related("user")[0]
    browser.start_as(owner.user.username)
    browser.page.set_viewport_size(SIZE)
    for name, path in portal_pages.items():
        browser.open(path)
        taken = browser.page.screenshot(path=str(FOLDER / f"{name}.png"))
        assert len(taken) > 10_000, name


def test_a_packing_slip_is_taken(client_for, settings):
    cast.create()
    acme, shop = (client_for(each) for each in parties())
    SlipTemplateFactory.create(
        retailer=parties()[1], header="Shop\nHarbour Street 1, Portland", footer="Thank you for your order."
    )
    push(shop, "SO-1024", "LAN-01")
    [work] = acme.get("fulfillments").json()
    slip = acme.get(f"fulfillments/{work['id']}/packing-slip").content

    name = FOLDER / "packing-slip"
    program = ["pdftoppm", "-png", "-r", "90", "-singlefile", "-", str(name)]
    subprocess.run(program, input=slip, check=True)

    assert name.with_suffix(".png").stat().st_size > 10_000
