"""Operators edit the design of packing slips, and see a slip of a real order before they save."""

from __future__ import annotations

import struct
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image

from accounts.models import Partnership, Retailer, Supplier
from events.models import Event
from fulfillments.models import Fulfillment, SlipTemplate
from tests.factories import SlipTemplateFactory
from tests.printed import needs_pdftotext, text_of

FORM = {
    "wanted": "on",
    "language": "de",
    "paper": "a4",
    "header": "Shop GmbH",
    "footer": "",
    "return_address": "",
}


def page_of(retailer: Retailer) -> str:
    return f"/admin/accounts/retailer/{retailer.pk}/packing-slip/"


def image(kind: str = "PNG", size: tuple[int, int] = (1_000, 500)) -> bytes:
    file = BytesIO()
    Image.new("RGB", size, "navy").save(file, kind)
    return file.getvalue()


def photo(x_resolution: bytes) -> bytes:
    """Return a JPEG that is turned by its tag, and whose X resolution is a text instead of a number."""
    tags = [struct.pack("<HHIHH", 0x0112, 3, 1, 6, 0), struct.pack("<HHI4s", 0x011A, 2, 4, x_resolution)]
    exif = b"Exif\0\0II*\0" + struct.pack("<IH", 8, len(tags)) + b"".join(tags) + bytes(4)
    file = BytesIO()
    Image.new("RGB", (5, 4)).save(file, "JPEG", exif=exif)
    return file.getvalue()


def logo(content: bytes) -> dict[str, Any]:
    return {"new_logo": SimpleUploadedFile("logo", content)}


def test_an_older_form_keeps_the_fields_that_a_colleague_changed(operator: Client, shop: Retailer):
    operator.post(page_of(shop), FORM)
    shown = {f"initial-{name}": value for name, value in FORM.items()}
    operator.post(page_of(shop), FORM | shown | {"footer": "Open on Sunday"})

    operator.post(page_of(shop), FORM | shown | {"header": "Shop AG"})

    template = SlipTemplate.objects.of_retailer(shop).get()
    assert (template.header, template.footer) == ("Shop AG", "Open on Sunday")


def test_an_operator_saves_the_slip_of_a_retailer(operator: Client, shop: Retailer):
    answer = operator.post(page_of(shop), FORM | logo(image()))
    assert answer.status_code == 302
    template = SlipTemplate.objects.of_retailer(shop).get()
    assert (template.language, template.header) == ("de", "Shop GmbH")
    assert Image.open(BytesIO(template.logo)).size == (800, 400)
    operator.post(page_of(shop), FORM | {"header": "Shop AG", "remove_logo": "on"})
    changed = Event.objects.get(type="slip_template.updated").data["changed"]
    assert changed["header"] == {"from": "Shop GmbH", "to": "Shop AG"}
    assert changed["logo"]["to"] == "0 bytes"
    assert b"Own design" in operator.get(f"/admin/accounts/retailer/{shop.pk}/terms/").content


def test_a_partnership_begins_with_a_copy_of_its_retailers_slip(
    operator: Client, shop: Retailer, acme: Supplier
):
    SlipTemplateFactory.create(retailer=shop, header="Shop GmbH")
    partnership = Partnership.objects.get(retailer=shop, supplier=acme)
    page = f"/admin/accounts/partnership/{partnership.pk}/packing-slip/"
    assert b"Shop GmbH" in operator.get(page).content
    operator.post(page, FORM | {"header": "For Acme"})
    assert sorted(SlipTemplate.objects.values_list("header", flat=True)) == ["For Acme", "Shop GmbH"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "The file is an SVG."),
        (image("GIF", (5, 5)), "The file is a GIF."),
        (b"hello", "The file is no image."),
        (image("PNG", (4_001, 1)), "4001 × 1 pixels"),
        (image()[:400], "The image is damaged"),
        (photo(b"72 "), "The image is damaged"),
        (b"\x89PNG" + b"0" * 1024**2, "1,048,580 bytes"),
    ],
    ids=["svg", "gif", "text", "wide", "cut", "tag", "large"],
)
def test_a_wrong_logo_is_refused_with_its_kind(
    operator: Client, shop: Retailer, content: bytes, expected: str
):
    for address in (page_of(shop), f"{page_of(shop)}?preview"):
        answer = operator.post(address, FORM | logo(content))
        assert answer.status_code == 400
        assert expected in answer.content.decode()
    assert not SlipTemplate.objects.exists()


@needs_pdftotext
def test_the_preview_shows_a_real_order_without_saving(
    operator: Client,
    fulfillment: Fulfillment,
    shop: Retailer,
):
    number = fulfillment.order.retailer_order_id
    assert number in text_of(operator.get(f"{page_of(shop)}?preview").content)
    answer = operator.post(f"{page_of(shop)}?preview", FORM | logo(image("JPEG")))
    assert answer["X-Frame-Options"] == "SAMEORIGIN"
    text = text_of(answer.content)
    assert number in text
    assert "Lieferschein" in text
    assert not SlipTemplate.objects.exists()
    other = operator.post(f"{page_of(shop)}?preview", FORM | {"previewed": "999999"})
    assert (other.status_code, b"There is no fulfillment 999999" in other.content) == (400, True)


@needs_pdftotext
def test_a_preview_for_a_retailer_without_orders_shows_an_example(operator: Client, boutique: Retailer):
    text = text_of(operator.post(f"{page_of(boutique)}?preview", FORM | {"show_prices": "on"}).content)
    assert "SAMPLE-1" in text
    assert "50.00" in text


def test_support_sees_a_slip_template_and_cannot_change_it(shop: Retailer, support: Client):
    assert support.get(page_of(shop)).status_code == 200
    assert support.post(page_of(shop), FORM).status_code == 403
    assert not SlipTemplate.objects.exists()


@needs_pdftotext
def test_an_operator_prints_one_slip_and_chosen_slips(operator: Client, fulfillment: Fulfillment):
    address = f"/admin/fulfillments/fulfillment/{fulfillment.pk}/packing-slip/"
    page = operator.get(f"/admin/fulfillments/fulfillment/{fulfillment.pk}/change/").content.decode()
    assert f'href="{address}"' in page
    number = fulfillment.order.retailer_order_id
    assert number in text_of(operator.get(address).content)
    chosen = {"action": "print_slips", "_selected_action": [fulfillment.pk]}
    assert number in text_of(operator.post("/admin/fulfillments/fulfillment/", chosen).content)
    SlipTemplateFactory.create(retailer=fulfillment.order.retailer, wanted=False)
    refused = operator.get(address, follow=True)
    assert "wants no packing slips" in refused.content.decode()
