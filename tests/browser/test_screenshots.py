"""The pictures of README, operators.md and guides, taken by `make screenshots` from the demo's market.

Each picture shows a whole page, in a light and in a dark theme. `<name>-dark.png` has the dark theme.
Pictures of the guide for clerks are light only, and its sheets are drawn from the real files.
"""

from __future__ import annotations

import csv
import io
import os
import subprocess
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project
from django.core.management import call_command
from django.db import transaction
from django.db.models import Count
from openpyxl import load_workbook
from openpyxl.utils import get_column_letter
from PIL import Image

from accounts.actors import Actor
from accounts.models import Member, Retailer, Supplier
from backoffice.market import sum_up
from backoffice.navigation.counting import count_waiting
from events.models import Event
from fulfillments.files.orders_folder import OrdersFolder
from fulfillments.models import Fulfillment
from imports.error_report import report_for_people
from imports.kinds import kind_of
from imports.models import ImportJob
from imports.pipeline.job_runner import run_job
from imports.services import start_import
from orders.models import Order
from sftp_ingest.area import contents
from tests.factories import ImportDraftFactory, SlipTemplateFactory
from tests.orders.push_bodies import an_order
from tools import docs_site
from tools.demo import cast
from tools.demo.market import cast as market

FOLDER = Path(project.BASE_DIR) / "docs" / "images"
SIZE = {"width": 1366, "height": 768}
COLORS = 96
FILE = b"""\
sku,title,retail_price,Colour
BB-MUG-03,"Stoneware mug, moss",22.00,green
BB-MUG-04,"Stoneware mug, clay",ask us,brown
BB-BWL-07,"Serving bowl, 28 cm",54.00,white
"""
ORDER_COLUMNS = (
    *("fulfillment_id", "retailer_order_id", "sku", "title", "quantity", "last_name", "city", "zip_code"),
    *("action", "tracking_number"),
)
LEAST, MOST = 5_000, 220_000
"""Limits in bytes: a smaller picture shows an empty page, and a larger picture makes the README slow."""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not os.environ.get("SCREENSHOTS"), reason="SCREENSHOTS is not set"),
]


@pytest.fixture
def living_market(settings, tmp_path) -> None:
    """Create the demo's market, and run its imports."""
    settings.UPLOADS_DIR = tmp_path / "uploads"
    settings.UPLOADS_DIR.mkdir()
    call_command("demo_data", "--with-market", verbosity=0)
    for job in ImportJob.objects.order_by("id"):
        run_job(job.pk)
    Event.publish()
    count_waiting()
    sum_up()


def an_order_to_show() -> Order:
    """Return a completed order with several fulfillments: its page has parcels and a history."""
    several = Order.objects.annotate(parts=Count("fulfillments")).filter(parts=2)
    return several.filter(processing_state="completed").latest("id")


BOTH = (("light", ""), ("dark", "-dark"))
LIGHT = BOTH[:1]


def take(browser: Any, name: str, path: str, *, whole: bool = True, themes: Any = BOTH) -> None:
    """Take pictures of a page in these themes.

    Without `whole`, a picture shows only the area in the window.
    """
    for scheme, ending in themes:
        browser.page.emulate_media(color_scheme=scheme)
        browser.page.set_viewport_size(SIZE)
        browser.open(path)
        if not whole:  # reload: a new `#section` alone would keep the page and its old theme
            browser.page.evaluate("localStorage.clear()")
            browser.page.reload()
        browser.page.wait_for_load_state("networkidle")
        if whole:  # enlarge the window to the whole page, so that the menu at the side has the same height
            height = browser.page.evaluate("document.documentElement.scrollHeight")
            browser.page.set_viewport_size({**SIZE, "height": height})
        save(browser.page.screenshot(), FOLDER / f"{name}{ending}.png")


def save(png: bytes, path: Path) -> None:
    """Write a picture with few colors, so that the file is small."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)
    assert LEAST < path.stat().st_size < MOST, (path.name, path.stat().st_size)


SHEET = """<style>
 body { margin: 0; padding: 16px; font: 14px Liberation Sans, Arial, sans-serif; }
 table { border-collapse: collapse; }
 td, th { border: 1px solid #c8ccd0; padding: 5px 9px; max-width: 520px; text-align: left; }
 th { font-weight: normal; }
 th { background: #eef0f2; color: #555; text-align: center; }
 .typed { background: #fff6d6; }
</style>"""


def take_sheet(
    browser: Any, name: str, rows: Sequence[Sequence[str]], shown: Sequence[str], typed: int = 0
) -> None:
    """Draw these columns of a table as a spreadsheet program shows them.

    The last `typed` columns of the table are marked.
    """
    numbers = [rows[0].index(column) for column in shown]
    heads = "".join(f"<th>{get_column_letter(number + 1)}" for number in numbers)
    lines = []
    for position, row in enumerate(rows, start=1):
        marked = [number >= len(row) - typed for number in numbers]
        cells = zip((row[number] for number in numbers), marked, strict=True)
        drawn = "".join(f"<td{' class=typed' if mark else ''}>{escape(cell)}" for cell, mark in cells)
        lines.append(f"<tr><th>{position}{drawn}")
    browser.page.emulate_media(color_scheme="light")
    browser.page.set_viewport_size(SIZE)
    browser.page.set_content(f"{SHEET}<table><tr><th>{heads}{''.join(lines)}</table>")
    table = browser.page.locator("table").bounding_box()
    size = {"width": round(table["width"]) + 34, "height": round(table["height"]) + 34}
    browser.page.set_viewport_size(size)
    save(browser.page.screenshot(), FOLDER / f"{name}.png")


def imported(supplier: Supplier, kind: str, source: str, lines: Sequence[str]) -> ImportJob:
    """Import a file that the supplier has uploaded by SFTP, and return the job."""
    job = start_import(
        supplier,
        kind,
        source=source,
        blob=contents.write(["\n".join(lines).encode()]),
        options=kind_of(kind).importer.check(supplier, {}),
        by=Actor.system("upload"),
    )
    run_job(job.pk)
    job.refresh_from_db()
    return job


def test_the_operators_pictures_are_taken(browser, living_market):
    draft = ImportDraftFactory.create(
        supplier=Supplier.objects.get(name="Bluebird Ceramics"),
        name="autumn.csv",
        blob=contents.write([FILE]),
    )
    imported = ImportJob.objects.get(supplier__name="Nordic Home")
    browser.start_as("olga")
    take(browser, "home", "/admin/")
    take(browser, "desk", "/admin/desk/")
    take(browser, "search", "/admin/search/?q=lumen&all=1")
    take(browser, "order", f"/admin/orders/order/{an_order_to_show().pk}/change/")
    take(browser, "import", f"/admin/imports/importjob/{imported.pk}/change/")
    take(browser, "mapping", f"/admin/import-file/{draft.pk}/")


def test_the_picture_of_an_error_is_taken(browser, settings, tmp_path):
    settings.DOCS_SITE = tmp_path / "docs"
    assert docs_site.build(settings.DOCS_SITE, strict=True) == 0
    take(browser, "errors", "/docs/errors/#order_conflict", whole=False)


def owner_of(party: Supplier | Retailer) -> str:
    found = Member.objects.filter(**{party.role.value: party}).select_related("user")
    with transaction.atomic():
        member = found.first() or cast.owner(party)
    name: str = member.user.username
    return name


def test_the_portals_pictures_are_taken(browser, living_market):
    retailer = Retailer.objects.get(name=market.RETAILERS[0][0])
    order = Order.objects.filter(retailer=retailer, processing_state="exception").earliest("id")
    browser.start_as(owner_of(retailer))
    take(browser, "portal-retailer-today", "/portal/")
    take(browser, "portal-retailer-orders", "/portal/purchases/?tab=all&q=HF-10144")
    take(browser, "portal-retailer-order", f"/portal/purchases/{order.pk}/")
    take(browser, "portal-retailer-catalog", "/portal/catalog/?q=oak")


def test_the_picture_of_a_suppliers_morning_is_taken(browser, living_market):
    supplier = Supplier.objects.get(name="Nordic Home")
    order = Fulfillment.objects.filter(supplier=supplier, state="new").earliest("id")
    browser.start_as(owner_of(supplier))
    take(browser, "portal-supplier-today", "/portal/")
    take(browser, "portal-supplier-order", f"/portal/orders/{order.pk}/")
    take(browser, "portal-supplier-quick-ship", "/portal/quick-ship/")
    take(browser, "portal-supplier-stock", "/portal/stock/")


def test_the_pictures_for_a_clerk_with_a_spreadsheet_are_taken(browser, living_market):
    supplier = Supplier.objects.get(name="Bluebird Ceramics")
    made = OrdersFolder().files(supplier.pk)["new.xlsx"]()
    sheet = load_workbook(io.BytesIO(made.content)).active
    orders = [[str(cell or "") for cell in row] for row in sheet.iter_rows(values_only=True)]
    sent = [[*orders[0], "action", "tracking_number"]]
    sent += [[*row, "ship", f"1Z999AA1012345{6784 + 9 * number}"] for number, row in enumerate(orders[1:])]
    take_sheet(browser, "clerk-orders", sent, ORDER_COLUMNS, typed=2)

    tracking = ["fulfillment_id,line_id,action,tracking_number"]
    tracking += [",".join([row[0], row[1], *row[-2:]]) for row in sent[1:]]
    tracking[-1] = tracking[-1].replace(",ship,", ",shiped,")
    imported(supplier, "fulfillments", "tracking/monday.csv", tracking)
    products = imported(supplier, "products", "products/autumn.csv", FILE.decode().splitlines())
    report = list(csv.reader(io.StringIO(b"".join(report_for_people(products)).decode("utf-8-sig"))))
    take_sheet(browser, "clerk-errors", report, report[0])
    draft = ImportDraftFactory.create(supplier=supplier, name="autumn.csv", blob=contents.write([FILE]))

    browser.start_as(owner_of(supplier))
    take(browser, "clerk-upload", f"/portal/files/drafts/{draft.pk}/", themes=LIGHT)
    draft.delete()
    take(browser, "clerk-files", "/portal/files/", themes=LIGHT)
    take(browser, "clerk-file", f"/portal/files/{products.pk}/", themes=LIGHT)


def test_a_packing_slip_is_taken(client_for):
    cast.create()
    acme, shop = Supplier.objects.get(name="Acme"), Retailer.objects.get(name="Shop")
    SlipTemplateFactory.create(
        retailer=shop, header="Shop\nHarbour Street 1, Portland", footer="Thank you for your order."
    )
    client_for(shop).post("orders", an_order({"sku": "LAN-01", "quantity": 2}, retailer_order_id="SO-1024"))
    client_for(acme).get("fulfillments")
    slip = client_for(acme).get(f"fulfillments/{Fulfillment.objects.get().pk}/packing-slip").content

    program = ["pdftoppm", "-png", "-r", "90", "-singlefile", "-"]
    drawn = subprocess.run(program, input=slip, check=True, capture_output=True).stdout

    save(drawn, FOLDER / "packing-slip.png")
