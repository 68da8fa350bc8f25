"""Carton labels of replenishments: each carton has one SSCC, and no SSCC is given twice."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from accounts.models import Supplier
from catalog.gtin import check_digit
from catalog.models import Variant
from fulfillments.models import Carton, Fulfillment
from fulfillments.slips.sscc import cartons_of, jump_ahead, sscc_of
from orders.models import Order
from tests.client import ApiClient
from tests.printed import barcodes_of, needs_pdftotext, needs_zbarimg, text_of


@pytest.fixture
def replenishment(
    acme: Supplier, a_variant: Callable[..., Variant], push: Callable[..., Order]
) -> Fulfillment:
    Supplier.objects.filter(pk=acme.pk).update(gs1_prefix="4012345")
    a_variant(acme, "LAMP", stock=10)
    return push({"sku": "LAMP", "quantity": 3}, type="replenish").fulfillments.get()


def labels_of(work: Fulfillment, cartons: int | str = 1) -> str:
    return f"fulfillments/{work.pk}/carton-labels?cartons={cartons}"


@needs_pdftotext
@needs_zbarimg
@pytest.mark.program
def test_a_scanner_reads_the_sscc_of_each_carton(acme_api: ApiClient, replenishment: Fulfillment):
    answer = acme_api.get(labels_of(replenishment, 2))
    codes = [*Carton.objects.order_by("number").values_list("sscc", flat=True)]
    assert [code[:8] for code in codes] == ["04012345", "04012345"]
    assert [read.rpartition(":")[2] for read in barcodes_of(answer.content)] == [
        f"00{code}" for code in codes
    ]
    text = text_of(answer.content)
    assert replenishment.order.retailer_order_id in text
    assert "2 of 2" in text


def test_a_label_with_an_address_without_some_parts_is_printed(
    acme_api: ApiClient, replenishment: Fulfillment
):
    Order.objects.update(shipping_address={"last_name": "Byron", "address2": None, "country": "GB"})
    assert acme_api.get(labels_of(replenishment)).status_code == 200


def test_a_carton_keeps_its_number(acme_api: ApiClient, replenishment: Fulfillment):
    first = acme_api.get(labels_of(replenishment, 2))
    assert acme_api.get(labels_of(replenishment, 2)).content == first.content
    before = {*Carton.objects.values_list("sscc", flat=True)}
    acme_api.get(labels_of(replenishment, 4))
    after = [*Carton.objects.order_by("number").values_list("sscc", flat=True)]
    assert len({*after}) == 4
    assert {*after[:2]} == before
    assert all(check_digit(code[:-1]) == code[-1] for code in after)


def test_labels_are_refused_with_the_reason(
    acme_api: ApiClient, rival_api: ApiClient, replenishment: Fulfillment, push: Callable[..., Order]
):
    sold = push({"sku": "LAMP", "quantity": 1}).fulfillments.get()
    assert acme_api.get(labels_of(sold)).json()["code"] == "not_replenish"
    for wrong in ("0", "x", "201"):
        assert acme_api.get(labels_of(replenishment, wrong)).status_code == 400
    assert rival_api.get(labels_of(replenishment)).status_code == 404
    Supplier.objects.update(gs1_prefix="")
    answer = acme_api.get(labels_of(replenishment))
    assert (answer.status_code, answer.json()["code"]) == (409, "sscc_unavailable")
    assert "GS1 prefix" in answer.json()["message"]
    assert not Carton.objects.exists()


def test_a_used_up_prefix_is_refused(acme_api: ApiClient, replenishment: Fulfillment):
    Supplier.objects.update(gs1_prefix="401234512345")
    cartons_of(Fulfillment.objects.get(pk=replenishment.pk), 1)
    for _ in range(10):
        jump_ahead()
    answer = acme_api.get(labels_of(replenishment, 2))
    assert answer.json()["code"] == "sscc_unavailable"
    assert sscc_of("4012345", 12_345_678_901 % 10**10)[0] == "2"


@pytest.mark.race
@pytest.mark.django_db(transaction=True)
def test_no_number_is_given_twice(acme: Supplier, replenishment: Fulfillment, push: Callable[..., Order]):
    works = [replenishment, *(_another(push) for _ in range(3))]

    def print_labels(work: Fulfillment) -> None:
        try:
            cartons_of(Fulfillment.objects.get(pk=work.pk), 5)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(print_labels, works * 2))
    codes = [*Carton.objects.values_list("sscc", flat=True)]
    assert len(codes) == len({*codes}) == 20


def _another(push: Callable[..., Order]) -> Fulfillment:
    return push({"sku": "LAMP", "quantity": 1}, type="replenish").fulfillments.get()
