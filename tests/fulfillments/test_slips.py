"""Packing slips over the API: their content, their languages, and refused requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Partnership, Retailer
from catalog.models import Variant
from fulfillments.models import Fulfillment, SlipTemplate
from fulfillments.slips import documents
from fulfillments.slips.selectors import read_slips
from orders.models import Order
from tests.client import ApiClient
from tests.factories import SlipTemplateFactory
from tests.orders.fixtures import line_units, status
from tests.printed import barcodes_of, needs_pdftotext, needs_zbarimg, text_of, unspaced

Push = Callable[..., Order]


def slip_of(work: Fulfillment) -> str:
    return f"fulfillments/{work.pk}/packing-slip"


@needs_pdftotext
def test_a_slip_shows_the_order_for_the_customer(acme_api: ApiClient, work: Fulfillment):
    answer = acme_api.get(slip_of(work))
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/pdf"
    assert answer["X-Missing-Characters"] == "0"
    text = text_of(answer.content)
    for shown in ("Packing slip", "Shop", "LAMP", "MAT", work.order.retailer_order_id, "page 1 of 1"):
        assert shown in text
    assert "Shipped by" not in text
    assert "Amount" not in text


def test_the_same_data_gives_the_same_bytes_and_tag(acme_api: ApiClient, work: Fulfillment):
    first, second = acme_api.get(slip_of(work)), acme_api.get(slip_of(work))
    assert first.content == second.content
    unchanged = acme_api.get(slip_of(work), If_None_Match=first["ETag"])
    assert (unchanged.status_code, unchanged.content) == (304, b"")


@needs_pdftotext
def test_a_slip_of_a_parcel_shows_its_units_alone(acme_api: ApiClient, work: Fulfillment):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1", "lines": [line_units(work, "LAMP", 2)]})
    shipment = work.shipments.get()
    text = text_of(acme_api.get(f"{slip_of(work)}?shipment_id={shipment.pk}").content)
    assert "T-1" in text
    assert "LAMP" in text
    assert "MAT" not in text
    for wrong, code in (("0", 400), ("x", 400), (f"{shipment.pk + 1}", 404)):
        assert acme_api.get(f"{slip_of(work)}?shipment_id={wrong}").status_code == code


@pytest.fixture
def template(shop: Retailer) -> SlipTemplate:
    return SlipTemplateFactory.create(
        retailer=shop,
        language="de",
        header="Shop GmbH\nHamburg",
        footer="Danke!",
        return_address="Retouren\nHalle 3",
        show_prices=True,
        show_supplier=True,
    )


@needs_pdftotext
def test_the_retailers_template_designs_the_slip(
    acme_api: ApiClient, push: Push, an_order_at_acme: Order, template: SlipTemplate
):
    order = push({"sku": "LAMP", "quantity": 2, "billed_amount": 25}, sales_order_number="SO-9")
    text = text_of(acme_api.get(slip_of(order.fulfillments.get())).content)
    for shown in ("Lieferschein", "Shop GmbH", "Danke!", "Halle 3", "25.00", "Acme", "SO-9", "Seite 1 von 1"):
        assert shown in text


@pytest.mark.parametrize(
    ("currency", "part", "whole"),
    [
        ("JPY", "667", "1000"),
        ("EUR", "666.67", "1000.00"),
        ("KWD", "666.667", "1000.000"),
        ("CLF", "666.6667", "1000.0000"),
    ],
)
def test_amounts_have_the_decimals_of_their_currency(
    currency: str,
    part: str,
    whole: str,
    acme_api: ApiClient,
    push: Push,
    an_order_at_acme: Order,
    template: SlipTemplate,
):
    order = push({"sku": "LAMP", "quantity": 3, "billed_amount": 1000}, currency=currency)
    work = order.fulfillments.get()

    def amounts() -> list[str]:
        [slip] = read_slips(Fulfillment.objects.all(), [work.pk]).slips
        return [slip.lines[0].amount, slip.total]

    assert amounts() == [whole, whole]
    lamp = {"sku": "LAMP", "quantity": 1}
    acme_api.post("fulfillments/rejections", [{"id": work.pk, "rejectId": "J-1", "items": [lamp]}])
    assert amounts() == [part, part]


@needs_pdftotext
def test_a_gift_shows_its_message_and_no_price(
    acme_api: ApiClient, push: Push, an_order_at_acme: Order, template: SlipTemplate
):
    line = {"sku": "LAMP", "quantity": 1, "billed_amount": "77.25"}
    order = push(line, is_gift=True, gift_message="Alles Gute\nDeine Ada")
    text = text_of(acme_api.get(slip_of(order.fulfillments.get())).content)
    assert "Alles Gute" in text
    assert "Deine Ada" in text
    assert "77.25" not in text


@needs_pdftotext
def test_a_partnerships_template_replaces_the_retailers(
    acme_api: ApiClient, work: Fulfillment, template: SlipTemplate
):
    SlipTemplateFactory.create(retailer=template.retailer, partnership=work.partnership, language="pl")
    assert "Dokument dostawy" in text_of(acme_api.get(slip_of(work)).content)


def test_a_retailer_may_want_no_slips(acme_api: ApiClient, work: Fulfillment, template: SlipTemplate):
    SlipTemplate.objects.update(wanted=False)
    for path in (slip_of(work), f"packing-slips?ids={work.pk}"):
        answer = acme_api.get(path)
        assert (answer.status_code, answer.json()["code"]) == (403, "slips_not_wanted")
        assert str(work.pk) in answer.json()["message"]


def test_nothing_is_printed_for_a_rejected_fulfillment(acme_api: ApiClient, work: Fulfillment):
    acme_api.put(status(work, "out_of_stock"))
    answer = acme_api.get(slip_of(work))
    assert (answer.status_code, answer.json()["code"]) == (409, "nothing_to_ship")


@needs_pdftotext
def test_several_slips_come_in_the_order_of_their_ids(acme_api: ApiClient, push: Push, work: Fulfillment):
    other = push({"sku": "MAT", "quantity": 1}).fulfillments.get()
    answer = acme_api.get(f"packing-slips?ids={other.pk},{work.pk},{other.pk}")
    pages = text_of(answer.content).split("\f")[:-1]
    numbers = [other.order.retailer_order_id, work.order.retailer_order_id]
    assert [number in page for number, page in zip(numbers, pages, strict=True)] == [True, True]
    assert numbers[0] not in pages[1]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("ids=" + ",".join(f"{pk}x" for pk in range(501)), 413, "too_large"),
        ("ids=1,x", 400, "invalid_filter"),
        ("ids=99999999999999999999", 400, "invalid_filter"),
        ("ids=", 400, "invalid_filter"),
        ("id=1", 400, "invalid_filter"),
        ("ids=999999", 404, "not_found"),
    ],
)
def test_a_wrong_list_of_slips_is_refused(acme_api: ApiClient, query: str, status: int, code: str):
    answer = acme_api.get(f"packing-slips?{query}")
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_list_of_slips_may_have_500_ids_of_15_digits(acme_api: ApiClient):
    """No fulfillment has these ids, so the answer names the first id, and no limit on the number of ids."""
    most = [str(10**15 - 1 - each) for each in range(500)]
    answer = acme_api.get(f"packing-slips?ids={','.join(most)}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert most[0] in answer.json()["message"]


def test_the_schema_and_the_refusal_name_the_same_length(acme_api: ApiClient):
    path = acme_api.get("/v3/schema").json()["paths"]["/v3/suppliers/{supplier_id}/packing-slips"]
    [ids] = [each["schema"] for each in path["get"]["parameters"] if each["name"] == "ids"]
    assert re.fullmatch(ids["pattern"], ",".join(["9" * 15] * 500))
    answer = acme_api.get(f"packing-slips?ids={'0' * ids['maxLength']}1")
    assert answer.status_code == 400
    assert f"the maximum is {ids['maxLength']}." in answer.json()["message"]


def test_an_address_without_some_parts_is_printed(acme_api: ApiClient, work: Fulfillment):
    Order.objects.update(shipping_address={"last_name": "Byron", "address2": None, "country": "GB"})
    for path in (slip_of(work), f"packing-slips?ids={work.pk}"):
        assert acme_api.get(path).status_code == 200


def test_a_foreign_slip_is_not_found(acme_api: ApiClient, rival_api: ApiClient, work: Fulfillment):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "T-1"})
    shipment = work.shipments.get()
    missing = rival_api.get("fulfillments/999999/packing-slip")
    foreign = rival_api.get(f"{slip_of(work)}?shipment_id={shipment.pk}")
    assert foreign.status_code == missing.status_code == 404
    assert foreign.json()["message"] == missing.json()["message"]
    assert rival_api.get(f"packing-slips?ids={work.pk}").status_code == 404


NAMES = {
    "Latin": "Zoë Çelik-Øster",
    "Polish": "Zażółć Gęślą",
    "Vietnamese": "Nguyễn Thị Hạnh",
    "Greek": "Γιώργος Παπαδόπουλος",
    "Cyrillic": "Наталья Щукина",
    "Arabic": "محمد الأحمد",
    "Hebrew": "דוד כהן",
    "Chinese": "王小明",
    "Japanese": "山田すずき",
    "Korean": "김철수",
}


@needs_pdftotext
@needs_zbarimg
@pytest.mark.program
def test_names_and_barcodes_are_readable_in_ten_languages(
    acme_api: ApiClient, push: Push, an_order_at_acme: Order
):
    works = []
    for name in NAMES.values():
        address = an_order_at_acme.shipping_address | {"first_name": name, "last_name": ""}
        works.append(push({"sku": "LAMP", "quantity": 1}, shipping_address=address).fulfillments.get())
    answer = acme_api.get("packing-slips?ids=" + ",".join(str(work.pk) for work in works))
    assert answer["X-Missing-Characters"] == "0"
    pages = text_of(answer.content).split("\f")
    for name, page in zip(NAMES.values(), pages, strict=False):
        assert unspaced(name) in unspaced(page)
    expected = [f"CODE-128:{work.order.retailer_order_id}" for work in works]
    assert barcodes_of(answer.content) == expected


@needs_pdftotext
def test_characters_without_a_glyph_are_boxes_and_counted(
    acme_api: ApiClient, push: Push, an_order_at_acme: Order
):
    address = an_order_at_acme.shipping_address | {"first_name": "ไทย"}
    order = push({"sku": "LAMP", "quantity": 1}, shipping_address=address)
    answer = acme_api.get(slip_of(order.fulfillments.get()))
    assert answer["X-Missing-Characters"] == "3"
    assert "□□□" in text_of(answer.content)


@needs_pdftotext
def test_a_long_slip_has_numbered_pages_and_wraps(
    acme_api: ApiClient, push: Push, acme: Any, a_variant: Callable[..., Variant]
):
    for number in range(100):
        a_variant(acme, f"S-{number:03}", stock=5, title="A very long title of a lamp. " * 10)
    order = push(*({"sku": f"S-{number:03}", "quantity": 1} for number in range(100)))
    pages = text_of(acme_api.get(slip_of(order.fulfillments.get())).content).split("\f")[:-1]
    assert len(pages) > 3
    assert [f"page {number} of {len(pages)}" in page for number, page in enumerate(pages, 1)] == [True] * len(
        pages
    )
    shown = [word for page in pages for word in page.split() if word.startswith("S-")]
    assert shown == [f"S-{number:03}" for number in range(100)]
    assert " ".join(pages).count("lamp.") == 1_000


@needs_pdftotext
def test_long_texts_of_a_template_wrap(acme_api: ApiClient, work: Fulfillment, template: SlipTemplate):
    names, text = ("header", "footer", "return_address"), "Returns are free for thirty days. " * 12
    SlipTemplate.objects.filter(pk=template.pk).update(**dict.fromkeys(names, text))
    answer = acme_api.get(slip_of(work))
    assert answer.status_code == 200
    assert " ".join(text_of(answer.content).split()).count("thirty") == 36


def test_soft_hyphens_in_chinese_text_are_left_out(acme_api: ApiClient, push: Push, an_order_at_acme: Order):
    order = push({"sku": "LAMP", "quantity": 1}, gift_message="生日快乐\u00ad" * 40)
    assert acme_api.get(slip_of(order.fulfillments.get())).status_code == 200


def test_a_long_document_is_drawn_in_a_process_of_its_own_with_the_same_bytes(
    acme_api: ApiClient, work: Fulfillment, monkeypatch: pytest.MonkeyPatch
):
    at_once = acme_api.get(slip_of(work)).content
    monkeypatch.setattr(documents, "MOST_SLIPS_AT_ONCE", 0)
    assert acme_api.get(slip_of(work)).content == at_once
    documents._one_process.acquire()
    monkeypatch.setattr(documents, "LONGEST_WAIT", 0)
    try:
        answer = acme_api.get(slip_of(work))
    finally:
        documents._one_process.release()
    assert (answer.status_code, answer.json()["code"]) == (503, "busy")


def test_a_document_that_takes_too_long_is_refused_with_the_next_step(
    acme_api: ApiClient, work: Fulfillment, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(documents, "MOST_SLIPS_AT_ONCE", 0)
    monkeypatch.setattr(documents, "LONGEST_DRAWING", 0)

    answer = acme_api.get(slip_of(work))

    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
    assert "Print fewer fulfillments at once" in answer.json()["message"]


def test_slips_take_constant_queries(
    acme_api: ApiClient, push: Push, work: Fulfillment, django_assert_max_num_queries: Any
):
    others = [push({"sku": "MAT", "quantity": 1}).fulfillments.get().pk for _ in range(3)]
    acme_api.get(slip_of(work))
    with django_assert_max_num_queries(5):
        assert acme_api.get(f"packing-slips?ids={work.pk},{','.join(map(str, others))}").status_code == 200


def test_partnerships_of_suppliers_keep_their_slips_apart(shop: Retailer, template: SlipTemplate):
    assert list(SlipTemplate.objects.of_retailer(shop)) == [template]
    SlipTemplateFactory.create(retailer=shop, partnership=Partnership.objects.first())
    assert list(SlipTemplate.objects.of_retailer(shop)) == [template]
