"""Erasing an order erases every copy of its consumer's data: in all tables, in all files, and in Redis."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
import redis
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from openpyxl import Workbook

from accounts.models import OperatorAction, OperatorActionRow, SavedView
from backoffice.models import RecordComment
from events.models import Event
from imports import sweeping
from imports.messages import record_message
from imports.models import ImportJob, Reject
from imports.pipeline.job_runner import run_job
from orders import facts
from orders.erasing_copies import search
from orders.erasing_copies.files import lines_of
from orders.erasing_copies.person import People, Person
from orders.models import Order, PendingErasure
from sftp_ingest.area import contents
from sftp_ingest.blobs.stores import store_named
from sftp_ingest.models import Blob
from tests.factories import ImportJobFactory, StaffFactory, UploadFactory
from tests.orders.fixtures import OPERATOR
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
STRANGER = {
    **dict.fromkeys(PARTS, ""),
    "first_name": "Bob",
    "last_name": "Other",
    "address1": "Road 1",
    "country": "DE",
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


@pytest.mark.parametrize(("pushed", "in_file"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_accents_are_recognized_in_both_of_their_forms(pushed, in_file):
    """Some programs write an accent as a character of its own."""
    address = {"first_name": "Jürgen", "last_name": "Müller", "address1": "Königstraße 5"}
    person = Person.of(1, ["1"], [{part: normalize(pushed, text) for part, text in address.items()}])

    for text in ("Jürgen Müller", "Königstraße 5"):
        assert People([person]).are_in(normalize(in_file, f"18,ship,{text}"))


def test_a_text_that_many_orders_share_is_erased_only_beside_the_number_of_the_order():
    people = People([Person.of(17, ["17", "SO-4711"], [JANE, "Happy birthday"])])

    assert not people.are_in(f"18,ship,{JANE['city']}")
    assert people.are_in(f"17,ship,{JANE['city']}")
    assert people.are_in(f"so-4711;{JANE['last_name']}")
    assert not people.are_in("18;x HAPPY\\nbirthday! x")
    assert people.are_in("17;x HAPPY\\nbirthday! x")
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


def put_unread(supplier, path: str, content: bytes) -> None:
    """Upload a file that no sweep has seen yet."""
    area_of(supplier).area.prepare()
    (area_of(supplier) / path).write_bytes(content)
    UploadFactory.create(supplier=supplier, path=path, size=len(content))


@pytest.fixture
def another(closed, shop, client_for) -> Callable[..., Order]:
    """Return a function that pushes another order of one lamp, by default of the same consumer."""

    def push(**fields: Any) -> Order:
        addresses = {"shipping_address": JANE, "billing_address": JANE}
        body = an_order({"sku": "LAMP", "quantity": 1}, **(addresses | fields))
        return Order.objects.get(pk=client_for(shop).post("orders", body).json()["order_id"])

    return push


@pytest.mark.parametrize("step", ["", "files"], ids=["before the search", "while files are searched"])
def test_a_file_is_imported_before_it_is_removed(step, closed, another, acme):
    """Otherwise the parcels in the file of another, open order would be lost."""
    work = another().fulfillments.get()
    search.remember(closed, [JANE])
    PendingErasure.objects.update(step=step)
    row = f"fulfillment_id,action,tracking_number,who\n{work.pk},ship,1Z99,{FULL_NAME} {closed.pk}\n"
    put_unread(acme, "tracking/today.csv", row.encode())

    assert not search.erase_copies(60)
    assert (area_of(acme) / "tracking/today.csv").exists()

    assert sweeping.take_uploads() == 1
    assert not search.erase_copies(60)  # the job has not run yet
    run_job(ImportJob.objects.latest("pk").pk)
    assert search.erase_copies(60)
    assert not (area_of(acme) / "tracking/today.csv").exists()
    assert [each.tracking_number for each in work.shipments.all()] == ["1Z99"]


def test_a_gift_message_that_consumers_share_erases_no_rows_of_others(closed, another, put):
    search.remember(closed, [{**JANE, "address2": "Suite 100", "company_name": "Amazon Locker"}, "Happy day"])
    work = another(shipping_address=STRANGER, billing_address=STRANGER).fulfillments.get()
    texts = "Happy day,Suite 100,Amazon Locker"
    bad = put(f"fulfillment_id,action,gift,address2,company\n{work.pk},shipp,{texts}\n".encode(), "bad.csv")

    assert search.erase_copies(60)

    assert bad.rejects.get().cells == [str(work.pk), "shipp", *texts.split(",")]


def test_rows_of_an_open_order_stay_until_this_order_is_erased(closed, another, acme, shop, client_for, put):
    """The supplier must still see that its parcel for the open order was not recorded."""
    order = another()
    work = order.fulfillments.get()
    row = f"{work.pk},shipp,{JANE['first_name']},{JANE['last_name']},{JANE['address1']}"
    bad = put(f"fulfillment_id,action,first_name,last_name,address1\n{row}\n".encode(), "bad.csv")
    own = put(
        f"fulfillment_id,action,who\n{closed.fulfillments.get().pk},ship,{FULL_NAME}\n".encode(), "own.csv"
    )
    report = area_of(acme) / f"reports/bad.import-{bad.pk}.errors.csv"
    assert report.exists()

    erase(closed)
    assert (bad.rejects.get().cells, own.rejects.get().cells) == (row.split(","), ["erased"])
    assert report.exists()
    assert (area_of(acme) / "tracking/bad.csv").exists()

    client_for(shop).post(f"orders/{order.pk}/cancel")
    client_for(acme).put(f"fulfillments/{work.pk}/setStatus/canceled")
    order.refresh_from_db()
    erase(order)
    assert everything_stored() == {}


def test_a_waiting_file_delays_only_the_orders_of_its_supplier(closed, acme, rival, a_variant, another):
    a_variant(rival, "RUG", stock=5)
    ImportJobFactory.create(supplier=acme, kind="fulfillments", status="queued")
    other = another()
    other.fulfillments.update(supplier=rival)
    for order in (closed, other):
        search.remember(order, [JANE])

    assert not search.erase_copies(60)

    assert [pending.order for pending in PendingErasure.objects.all()] == [closed]


def test_a_damaged_archive_does_not_stop_the_search(tmp_path: Path):
    file = tmp_path / "damaged.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.csv", "id,name\n" + "1,Jane\n" * 50)
    content = bytearray(file.read_bytes())
    content[50] ^= 0xFF
    content[60] ^= 0xFF
    file.write_bytes(content)

    assert list(lines_of(file)) in ([], [""])


def test_orders_erased_together_are_searched_together(closed, acme, shop, client_for, put, monkeypatch):
    """The number of searched windows does not grow with the number of orders."""
    put(f"fulfillment_id,action,who\n999999,ship,{FULL_NAME}\n".encode(), "who.csv")
    for number in range(3):
        answer = client_for(shop).post("orders", an_order({"sku": "LAMP", "quantity": 1}))
        search.remember(Order.objects.get(pk=answer.json()["order_id"]), [f"Someone else {number}"])
    search.remember(closed, [JANE])
    windows: list[int] = []
    look = search._search_window

    def count(batch: list[PendingErasure]) -> set[int]:
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


def test_a_file_whose_content_was_lost_does_not_stop_the_search(closed, acme, put):
    put(f"id,note\n1,{FULL_NAME}\n".encode(), "lost.csv")
    put(f"id,note\n1,{FULL_NAME}\n".encode(), "kept.csv")
    lost = (area_of(acme) / "tracking/lost.csv").entry
    failed = ImportJob.objects.get(source="tracking/lost.csv")
    ImportJob.objects.filter(pk=failed.pk).update(blob=lost.blob)
    assert lost.blob is not None
    store_named(lost.blob.store).delete(lost.blob.pk)

    erase(closed)

    assert search.erase_copies(5)
    assert not (area_of(acme) / "tracking/kept.csv").exists()


def test_a_repeated_cancel_id_is_recognized_after_the_erasure(order, shop, acme, client_for):
    """A cancel_id is safe to repeat forever. The stored reason can quote the consumer, so it is erased."""
    body = {"cancel_id": "C1", "reason": f"{JANE['email']} called"}
    assert client_for(shop).post(f"orders/{order.pk}/cancel", body).status_code == 200
    client_for(acme).put(f"fulfillments/{order.fulfillments.get().pk}/setStatus/canceled")
    order.refresh_from_db()
    erase(order)
    assert order.cancel_requests.get().reason == "erased"

    again = client_for(shop).post(f"orders/{order.pk}/cancel", body)
    other = client_for(shop).post(
        f"orders/{order.pk}/cancel", {**body, "lines": [{"sku": "LAMP", "quantity": 1}]}
    )

    assert (again.status_code, other.json()["code"]) == (200, "cancel_conflict")


def test_the_age_of_an_unfinished_search_is_measured(closed, acme):
    ImportJobFactory.create(supplier=acme, kind="fulfillments", status="queued")
    with connection.cursor() as cursor:
        assert [sample.value for sample in facts.erasures(cursor)] == [0]
        erase(closed)
        Order.objects.filter(pk=closed.pk).update(erased_at=timezone.now() - timedelta(days=2))
        [sample] = facts.erasures(cursor)

    assert sample.value == pytest.approx(2 * 86_400, abs=60)


def test_actions_of_operators_lose_the_person(closed):
    action = OperatorAction(model="orders.order", action="hold", label="Hold", actor="user:anna")
    action.reason = f"{FULL_NAME} asked"
    action.save()
    OperatorActionRow(action=action, record_id=closed.pk, message=f"Held for {JANE['city']}").save()

    call_command("erase", order=[closed.pk], reason="x")

    action.refresh_from_db()
    assert (action.reason, action.rows.get().message) == ("erased", "erased")


def test_a_message_about_an_import_that_quotes_the_person_is_erased(closed, acme):
    job = ImportJobFactory.create(supplier=acme, status="failed")
    for text in (f"No parcel for {FULL_NAME}, {JANE['email']}", "The file has no header."):
        record_message(job, text, mailed_to="", by=OPERATOR)

    call_command("erase", order=[closed.pk], reason="x")

    quoting, other = Event.objects.filter(type="import_message.sent").order_by("id")
    assert (quoting.data, other.data) == ({}, {"text": "The file has no header."})
