"""`orders/changed.csv`: changes of captured fulfillments since the supplier last read it (contract 17)."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import CancelationDefault, Partnership
from fulfillments.files.changed import COLUMNS
from fulfillments.models import Fulfillment
from fulfillments.tasks import answer_cancelations
from orders.services import correct_address, hold, release
from tests.fulfillments.files.conftest import text_of
from tests.orders.fixtures import OPERATOR, status

pytestmark = pytest.mark.django_db(transaction=True)

Rows = list[dict[str, str]]


def parsed(content: bytes) -> Rows:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.fixture
def read(acme_sftp) -> Callable[[], Rows]:
    """Return a function that downloads the whole file, as a client does, and returns its rows."""

    def download() -> Rows:
        local = io.BytesIO()
        acme_sftp.getfo("orders/changed.csv", local)
        return parsed(local.getvalue())

    return download


@pytest.fixture
def captured(acme_api, work):
    acme_api.get("fulfillments")
    return work


def held(work: Fulfillment) -> None:
    with work.order.change(by=OPERATOR) as change:
        hold(change)


def test_a_change_is_shown_with_the_address_until_the_file_was_read(read, captured):
    held(captured)

    [row] = read()
    assert tuple(row) == COLUMNS
    assert (row["fulfillment_id"], row["change"]) == (str(captured.pk), "held")
    assert row["changed_at"].endswith("Z")
    assert row["address1"] == captured.order.shipping_address["address1"]
    assert (row["retailer_order_id"], row["quantity_open"]) == (captured.order.retailer_order_id, "5")
    assert read() == []


def test_a_hold_and_its_release_follow_each_other(read, captured):
    held(captured)
    with captured.order.change(by=OPERATOR) as change:
        release(change)

    assert [row["change"] for row in read()] == ["held", "released"]


def test_a_corrected_address_is_shown(read, captured, acme_api):
    acme_api.put(status(captured, "accepted"))
    with captured.order.change(by=OPERATOR) as change:
        correct_address(change, {"address1": "2 Right Street"})

    [row] = read()
    assert (row["change"], row["address1"]) == ("address_corrected", "2 Right Street")


def test_units_that_the_supplier_loses_are_shown(read, captured, shop_api, acme_api):
    shop_api.post(f"orders/{captured.order_id}/cancel", {"lines": [{"sku": "LAMP", "quantity": 1}]})
    assert read() == []  # the request is in canceling.csv
    acme_api.put(status(captured), {"status": "canceled"})

    [row] = read()
    assert (row["change"], row["quantity_open"]) == ("canceled", "4")


def test_a_cancellation_by_the_time_limit_has_expired(read, captured, shop_api):
    Partnership.objects.update(cancelation_default=CancelationDefault.APPROVE)
    shop_api.post(f"orders/{captured.order_id}/cancel")
    Fulfillment.objects.update(due_at=timezone.now() - timedelta(minutes=1))
    assert answer_cancelations() == 1

    assert [(row["change"], row["quantity_open"]) for row in read()] == [("expired", "0")]


def test_reassigned_work_is_shown(read, captured, rival, a_variant):
    a_variant(rival, "LAMP", stock=9)
    a_variant(rival, "MAT", stock=9)
    with captured.order.change(by=OPERATOR) as change:
        captured.withdraw(change)

    assert [row["change"] for row in read()] == ["reassigned"]


def test_changes_before_the_capture_are_left_out(read, work, acme_api):
    held(work)
    with work.order.change(by=OPERATOR) as change:
        release(change)
    acme_api.get("fulfillments")

    assert read() == []


def test_an_interrupted_download_shows_the_same_changes_again(read, connect, server, captured, acme_login):
    held(captured)
    torn = connect(server, "acme").open_sftp()
    file = torn.open("orders/changed.csv")
    assert b"held" in file.read()  # the server sent the whole file, but cannot know whether the client got it
    torn.get_channel().get_transport().close()

    assert [row["change"] for row in read()] == ["held"]


def test_a_read_of_a_part_of_the_file_does_not_count_as_read(read, acme_sftp, captured):
    held(captured)
    acme_sftp.stat("orders/changed.csv")
    acme_sftp.listdir_attr("orders")
    with acme_sftp.open("orders/changed.csv", bufsize=0) as file:
        assert file.read(10) == codecs.BOM_UTF8 + b"fulfill"

    assert [row["change"] for row in read()] == ["held"]


def test_a_change_after_the_file_was_opened_is_in_the_next_file(read, acme_sftp, captured):
    held(captured)
    with acme_sftp.open("orders/changed.csv") as file:
        with captured.order.change(by=OPERATOR) as change:
            release(change)
        assert [row["change"] for row in parsed(file.read())] == ["held"]

    assert [row["change"] for row in read()] == ["released"]


def test_more_changes_than_fit_are_in_the_next_file(read, captured, monkeypatch):
    monkeypatch.setattr("fulfillments.files.changed.MOST", 1)
    held(captured)
    with captured.order.change(by=OPERATOR) as change:
        release(change)

    assert [[row["change"] for row in read()] for _ in range(3)] == [["held"], ["released"], []]


def test_another_supplier_sees_no_change(rival, captured):
    held(captured)

    assert text_of(rival, "changed.csv").count("\n") == 1
