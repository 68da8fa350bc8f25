"""Erasing an order erases every copy of its consumer's data: in all tables, in all files, and in Redis."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from openpyxl import Workbook

from accounts.models import OperatorAction, OperatorActionRow, SavedView
from backoffice.models import RecordComment
from imports import sweeping
from imports.models import ImportJob, Reject
from imports.pipeline.job_runner import run_job
from orders.erasing_copies import search
from orders.erasing_copies.files import lines_of
from orders.erasing_copies.person import People, Person
from orders.models import Order, PendingErasure
from sftp_ingest.area import contents
from sftp_ingest.blobs.stores import store_named
from sftp_ingest.models import Blob
from tests.factories import ImportJobFactory, StaffFactory, UploadFactory
from tests.orders.push_bodies import an_order
from tests.upload_area import area_of

pytestmark = pytest.mark.django_db

PARTS = ("first_name", "last_name", "company_name", "address1", "address2", "city", "state", "zip_code")
JANE = {
    **{part: f"Planted {part.replace('_', '')}" for part in PARTS},
    "country": "DE",
    "phone_number": "030 5550199 planted",
    "email": "jane@planted.example",
}
FULL_NAME = f"{JANE['first_name']} {JANE['last_name']}"


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    settings.UPLOADS_DIR = tmp_path / "uploads"


@pytest.fixture
def put(acme) -> Callable[..., ImportJob]:
    """Return a function that puts a file into Acme's tracking/, and imports it as the sweep would."""

    def go(content: bytes, name: str) -> ImportJob:
        area_of(acme).area.prepare()
        (area_of(acme) / f"tracking/{name}").write_bytes(content)
        UploadFactory.create(supplier=acme, path=f"tracking/{name}", size=len(content))
        assert sweeping.take_uploads() == 1
        job = ImportJob.objects.latest("pk")
        run_job(job.pk)
        sweeping.publish_reports()
        return job

    return go


@pytest.fixture
def order(acme, shop, a_variant, client_for) -> Order:
    """Push an order of one lamp at Acme. The push has an Idempotency-Key, so its answer is stored."""
    a_variant(acme, "LAMP", stock=10)
    line = {"sku": "LAMP", "quantity": 1, "notes": [{"name": "engrave", "value": "Planted for you"}]}
    addresses = {"shipping_address": JANE, "billing_address": JANE}
    notes = {"gift_message": "Planted with love", "notes": [{"name": "ring", "value": "Planted at the back"}]}
    body = an_order(line, **addresses, **notes)
    answer = client_for(shop).post("orders", body, Idempotency_Key="first")
    return Order.objects.get(pk=answer.json()["order_id"])


def everything_stored() -> dict[str, list[str]]:
    """Return the texts with the planted word from all tables, all blobs and Redis, by their origin."""
    found: dict[str, list[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.table_name, c.column_name, c.data_type FROM information_schema.columns c"
            " JOIN information_schema.tables t USING (table_schema, table_name)"
            " WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE'"
            " AND c.data_type IN ('text', 'character varying', 'json', 'jsonb', 'bytea', 'ARRAY')"
        )
        columns = cursor.fetchall()
        for table, column, kind in columns:
            text = f"encode(\"{column}\", 'escape')" if kind == "bytea" else f'"{column}"::text'
            cursor.execute(f"SELECT {text} FROM \"{table}\" WHERE {text} ILIKE '%planted%'")
            if rows := [row[0] for row in cursor.fetchall()]:
                found[f"{table}.{column}"] = rows
    for blob in Blob.objects.all():
        with store_named(blob.store).local_file(blob.pk) as path:
            if b"planted" in _unpacked(path.read_bytes()).lower():
                found[f"blob {blob.pk}"] = [path.name]
    store = redis.Redis.from_url(django_settings.REDIS_URL)
    for key in store.scan_iter():
        kind = store.type(key)
        value = store.lrange(key, 0, -1) if kind == b"list" else store.get(key) if kind == b"string" else key
        if b"planted" in str(value).lower().encode() + key.lower():
            found[f"redis {key!r}"] = [str(value)]
    return found


def _unpacked(content: bytes) -> bytes:
    return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content


def erase(order: Order) -> None:
    call_command("erase", order=[order.pk], reason="She asked by letter")
    Blob.objects.update(unused_at=timezone.now() - timedelta(hours=2))  # content is deleted after an hour
    contents.collect()


def test_no_copy_is_left_anywhere(order, acme, shop, client_for, admin_client, put):
    """Write the person's data into every table, file and cache that people and systems write to."""
    shop_api, work = client_for(shop), order.fulfillments.get()
    client_for(acme).get("fulfillments", {"limit": 5})
    former = {**JANE, "address1": "Planted former street 8", "shown": "", "reason": "", "country": "DE"}
    admin_client.post(f"/admin/orders/order/{order.pk}/do/correct-address/", former)
    shop_api.post("orders", an_order({"sku": "LAMP", "quantity": 1}), Idempotency_Key="other")
    header = "fulfillment_id,action,tracking_number,recipient,street,message\n"
    row = f"{work.pk},{{}},1Z99,{FULL_NAME},{JANE['address1']},Planted with love\n"
    bad = put((header + row.format("shipp")).encode(), "bad.csv")
    assert bad.rejects.count() == 1
    good = put(gzip.compress((header + row.format("ship")).encode()), "good.csv")
    assert (good.rejects.count(), order.fulfillments.get().state) == (0, "shipped")
    put(f"{FULL_NAME},{JANE['address1']}\n{work.pk},x\n".encode(), "headless.csv")
    client_for(acme).post(
        f"fulfillments/{work.pk}/returns",
        {"return_id": "r1", "reason": f"{FULL_NAME} sent it back", "restock": False},
        Idempotency_Key="back",
    )
    admin_client.post(
        "/admin/orders/order/",
        {"action": "hold", "_selected_action": [order.pk], "select_across": "1"},
        query_params={"q": JANE["email"]},
    )
    anna = StaffFactory.create(username="anna")
    RecordComment(model="orders.order", record_id=order.pk, by="anna", text=f"{FULL_NAME} called").save()
    RecordComment(
        model="fulfillments.fulfillment", record_id=work.pk, by="anna", text=f"Wrote to {JANE['email']}"
    ).save()
    SavedView(owner=anna, model="orders.order", name="mine", query="q=jane%40planted.example").save()
    assert ImportJob.objects.get(status="failed").blob is not None
    before = everything_stored()
    for place in ("accounts_idempotencykey.body", "orders_order.shipping_address", "imports_reject.cells"):
        assert place in before, sorted(before)
    assert sum(place.startswith("blob") for place in before) >= 4, sorted(before)

    erase(order)

    assert everything_stored() == {}
    assert not PendingErasure.objects.exists()
    assert shop_api.post("orders", an_order({"sku": "LAMP", "quantity": 1}), Idempotency_Key="other")


@pytest.fixture
def closed(order: Order, client_for, shop, acme) -> Order:
    """Cancel the order as Shop, and approve the cancellation as Acme."""
    client_for(shop).post(f"orders/{order.pk}/cancel", {"reason": "too late"})
    client_for(acme).put(f"fulfillments/{order.fulfillments.get().pk}/setStatus/canceled")
    order.refresh_from_db()
    assert order.processing_state == "canceled"
    return order


def a_workbook(text: str) -> bytes:
    book, file = Workbook(), io.BytesIO()
    book.active.append(["fulfillment_id", "name"])
    book.active.append([1, text])
    book.save(file)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        f"id,name\n1,{FULL_NAME}\n".encode("utf-16"),
        a_workbook(FULL_NAME),
        b"\xff, " + FULL_NAME.encode(),
        f"<?xml version='1.0'?><name>{FULL_NAME}</name>".encode(),
    ],
    ids=["utf-16", "workbook", "bytes", "xml"],
)
def test_files_in_any_form_are_read(content, tmp_path: Path):
    (tmp_path / "file").write_bytes(content)
    people = People([Person.of(1, ["1"], [JANE])])

    assert any(people.are_in(line) for line in lines_of(tmp_path / "file"))


def test_a_text_that_many_orders_share_is_erased_only_beside_the_number_of_the_order():
    people = People([Person.of(17, ["17", "SO-4711"], [JANE, "Happy birthday"])])

    assert not people.are_in(f"18,ship,{JANE['city']}")
    assert people.are_in(f"17,ship,{JANE['city']}")
    assert people.are_in(f"so-4711;{JANE['last_name']}")
    assert people.are_in("x HAPPY\\nbirthday! x")
    assert not people.are_in("17,ship,1Z99")


def test_files_and_rows_of_other_consumers_stay(closed, acme, put, client_for):
    job = put(b"fulfillment_id,action,city\n999999,ship,Planted city\n", "others.csv")

    call_command("erase", order=[closed.pk], reason="x")

    assert (area_of(acme) / "tracking/others.csv").exists()
    assert job.rejects.get().cells == ["999999", "ship", "Planted city"]


def test_a_supplier_reads_why_its_file_is_gone(closed, acme, put):
    put(f"fulfillment_id,action,who\n999999,ship,{FULL_NAME}\n".encode(), "who.csv")

    call_command("erase", order=[closed.pk], reason="x")

    assert not (area_of(acme) / "tracking/who.csv").exists()
    assert "leave out the columns with names" in (area_of(acme) / "reports/who.csv.removed.txt").read_text()


def test_the_search_waits_for_an_unfinished_import(closed, acme):
    job = ImportJobFactory.create(supplier=acme, kind="fulfillments", status="queued")

    call_command("erase", order=[closed.pk], reason="x")
    assert PendingErasure.objects.get().step == "rejected rows"
    assert "planted" not in PendingErasure.objects.get().texts.lower()

    ImportJob.objects.filter(pk=job.pk).update(status="canceled")
    assert search.erase_copies(60)
    assert not PendingErasure.objects.exists()


def test_orders_erased_together_are_searched_together(closed, acme, shop, client_for, put, monkeypatch):
    """The number of searched windows does not grow with the number of orders."""
    put(f"fulfillment_id,action,who\n999999,ship,{FULL_NAME}\n".encode(), "who.csv")
    for number in range(3):
        answer = client_for(shop).post("orders", an_order({"sku": "LAMP", "quantity": 1}))
        search.remember(Order.objects.get(pk=answer.json()["order_id"]), [f"Someone else {number}"])
    search.remember(closed, [JANE])
    windows: list[int] = []
    look = search._search_window

    def count(batch: list[PendingErasure]) -> bool:
        windows.append(len(batch))
        return look(batch)

    monkeypatch.setattr(search, "_search_window", count)

    assert search.erase_copies(60)

    assert Reject.objects.get().cells == ["erased"]
    assert set(windows) == {4}


def test_a_failing_store_delays_the_search(closed, acme, put, monkeypatch):
    put(f"fulfillment_id,action,who\n999999,ship,{FULL_NAME}\n".encode(), "who.csv")

    def away(*_: Any) -> None:
        raise OSError("the storage is away")

    with monkeypatch.context() as patched:
        patched.setattr("sftp_ingest.area.contents.local_file", away)
        call_command("erase", order=[closed.pk], reason="x")
    assert PendingErasure.objects.exists()
    assert search.erase_copies(60)
    assert not (area_of(acme) / "tracking/who.csv").exists()


def test_actions_of_operators_lose_the_person(closed):
    action = OperatorAction(model="orders.order", action="hold", label="Hold", actor="user:anna")
    action.reason = f"{FULL_NAME} asked"
    action.save()
    OperatorActionRow(action=action, record_id=closed.pk, message=f"Held for {JANE['city']}").save()

    call_command("erase", order=[closed.pk], reason="x")

    action.refresh_from_db()
    assert (action.reason, action.rows.get().message) == ("erased", "erased")
