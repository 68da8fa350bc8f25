"""A CSV in `tracking/` is carried out row by row, by the methods of the API (contract 15)."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest
from django.utils import timezone

from api.renderers import iso
from events.models import Event
from fulfillments.models import Fulfillment, Shipment
from imports import publishing, sweeping
from imports.models import ImportJob, Reject
from imports.pipeline.job_runner import run_job
from orders.services import release
from tests.fulfillments.files.conftest import text_of
from tests.orders.fixtures import state_of, status
from tests.upload_area import area_of


def counts(job: ImportJob) -> tuple[str, int, int, int]:
    return job.status, job.updated, job.unchanged, job.rejected


def rejects(job: ImportJob) -> list[tuple[int, str, str]]:
    return list(Reject.objects.filter(job=job).values_list("line", "field", "code"))


def test_a_parcel_is_shipped_and_the_same_file_again_changes_nothing(put, work):
    job = put(f"{work.pk},ship,1Z999,UPS,,,,")

    assert (job.kind, job.source) == ("fulfillments", "tracking/today.csv")
    assert counts(job) == ("succeeded", 1, 0, 0)
    assert state_of(work) == "shipped"
    assert Shipment.objects.get().carrier == "UPS"
    assert counts(put(f"{work.pk},ship,1Z999,UPS,,,,")) == ("succeeded", 0, 1, 0)
    assert Shipment.objects.count() == 1


def test_the_lines_of_one_parcel_are_one_parcel_in_any_order(put, work):
    rows = (
        f"{work.pk},ship,1Z999,UPS,,LAMP,2,",
        f"{work.pk},accept,,,,,,",
        f"{work.pk},ship,1Z999,UPS,,MAT,,",
    )
    job = put(*rows)

    lamp, mat = work.lines.all()
    assert counts(job) == ("succeeded", 2, 1, 0)  # the parcel is shipped first, so `accept` changes nothing
    assert Shipment.objects.get().items == [{"line": lamp.pk, "quantity": 2}, {"line": mat.pk, "quantity": 2}]
    assert state_of(work) == "accepted"
    assert counts(put(*rows)) == ("succeeded", 0, 3, 0)
    assert Shipment.objects.count() == 1


def test_lines_are_named_by_number_too(put, work):
    lamp = work.lines.first()
    put(f"{work.pk},ship,1Z1,UPS,{lamp.pk},,1,", f"{work.pk},ship,1Z2,UPS,{lamp.pk},,,")

    assert [parcel.items for parcel in Shipment.objects.all()] == [
        [{"line": lamp.pk, "quantity": 1}],
        [{"line": lamp.pk, "quantity": 2}],
    ]


def test_a_file_from_orders_can_be_returned_with_actions(put, work, acme):
    """A supplier adds two columns to new.csv, and fills them."""
    rows = list(csv.DictReader(io.StringIO(text_of(acme, "new.csv"), newline="")))
    done = [{**row, "action": "ship", "tracking_number": "1Z999"} for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, done[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(done)
    header, *lines = text.getvalue().splitlines()

    assert counts(put(*lines, header=header)) == ("succeeded", 2, 0, 0)
    assert state_of(work) == "shipped"


@pytest.mark.parametrize("reason", ["out_of_stock", "missing_sku", "wrong_address"])
def test_work_is_refused_as_a_whole(put, work, reason: str):
    assert counts(put(f"{work.pk},{reason},,,,,,")) == ("succeeded", 1, 0, 0)
    assert state_of(work) == reason
    assert counts(put(f"{work.pk},{reason},,,,,,")) == ("succeeded", 0, 1, 0)


def test_lines_are_refused_in_part_once(put, work):
    rows = (f"{work.pk},out of stock,,,,LAMP,1,broken",)
    assert counts(put(*rows)) == ("succeeded", 1, 0, 0)
    assert counts(put(*rows, name="again.csv")) == ("succeeded", 0, 1, 0)

    assert [line.rejected for line in work.lines.all()] == [1, 0]


@pytest.mark.parametrize(
    ("action", "state"), [("cancel_approved", "canceled"), ("cancel_refused", "cancelation not allowed")]
)
def test_cancellation_requests_are_answered(put, work, shop_api, action: str, state: str):
    shop_api.post(f"orders/{work.order_id}/cancel")

    assert counts(put(f"{work.pk},{action},,,,,,")) == ("succeeded", 1, 0, 0)
    assert state_of(work) == state
    assert counts(put(f"{work.pk},{action},,,,,,")) == ("succeeded", 0, 1, 0)


def test_each_wrong_row_is_a_reject_that_says_why_and_the_others_are_done(put, work, rival, a_variant, push):
    a_variant(rival, "VASE", stock=5)
    others = Fulfillment.objects.get(order=push({"sku": "VASE", "quantity": 1}))
    job = put(
        f"{others.pk},ship,1Z1,UPS,,,,",
        "999999999,ship,1Z1,UPS,,,,",
        "twelve,ship,1Z1,UPS,,,,",
        f"{work.pk},send,1Z1,UPS,,,,",
        f"{work.pk},ship,,UPS,,,,",
        f"{work.pk},ship,1Z2,UPS,,SOFA,1,",
        f"{work.pk},ship,1Z3,UPS,,LAMP,many,",
        f"{work.pk},ship,1Z4,UPS,,,2,",
        f"{work.pk},ship,1Z5,UPS,,LAMP,4,",
        f"{work.pk},cancel_approved,,,,,,",
        ",ship,1Z1,UPS,,,,",
        f"{work.pk},ship,1Z999,UPS,,,,",
    )

    assert rejects(job) == [
        (2, "fulfillment_id", "not_found"),
        (3, "fulfillment_id", "not_found"),
        (4, "fulfillment_id", "not_found"),
        (5, "action", "invalid_choice"),
        (6, "tracking_number", "required"),
        (7, "sku", "not_found"),
        (8, "quantity", "invalid"),
        (9, "line_id", "invalid"),
        (10, "quantity", "invalid"),
        (11, "", "invalid_transition"),
        (12, "fulfillment_id", "not_found"),
    ]
    assert counts(job) == ("succeeded_with_errors", 1, 0, 11)
    assert job.rows_total == job.rows_done == 12
    assert state_of(others) == "new"


def test_a_file_without_the_columns_that_every_row_needs_fails_as_a_whole(put, work):
    job = put("1Z", header="tracking_number")

    assert (job.status, job.error["code"]) == ("failed", "missing_column")


def test_the_errors_can_be_corrected_and_put_back(put, acme, work, client_for):
    job = put(f"{work.pk},sned,1Z999,UPS,,,,")
    sweeping.publish_reports()
    report = area_of(acme) / f"reports/today.import-{job.pk}.errors.csv"
    corrected = report.read_bytes().decode("utf-8-sig").replace("sned,1Z", "ship,1Z").splitlines()

    assert "to tracking/." in (area_of(acme) / f"reports/today.import-{job.pk}.txt").read_text()
    assert counts(put(*corrected[1:], header=corrected[0])) == ("succeeded", 1, 0, 0)
    assert client_for(acme).get(f"imports/{job.pk}").json()["kind"] == "fulfillments"


def test_the_history_of_a_fulfillment_names_the_import(put, work):
    job = put(f"{work.pk},accept,,,,,,")

    assert Event.objects.get(type="fulfillment.accepted").actor == f"import:{job.pk}"
    assert Event.objects.filter(type="import.succeeded", import_id=job.pk).exists()


def test_the_next_worker_continues_after_a_worker_that_died(put, work, monkeypatch, acme):
    from fulfillments.files import tracking  # the worker imports the same module

    done = tracking.ACTIONS["ship"]

    def dies(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(tracking.ACTIONS, "ship", dies)
    with pytest.raises(KeyboardInterrupt):
        put(f"{work.pk},accept,,,,,,", f"{work.pk},ship,1Z999,UPS,,,,")
    assert state_of(work) == "accepted"
    monkeypatch.setitem(tracking.ACTIONS, "ship", done)
    job = ImportJob.objects.latest("pk")
    ImportJob.objects.update(lease_until=job.created_at)
    run_job(job.pk)
    job.refresh_from_db()

    assert counts(job) == ("succeeded", 2, 0, 0)
    assert state_of(work) == "shipped"


def test_a_fulfillment_key_sees_the_job_and_a_catalogue_key_does_not(put, acme, work, client_for):
    job = put(f"{work.pk},accept,,,,,,")

    assert client_for(acme, scopes=["fulfillments:read"]).get(f"imports/{job.pk}").status_code == 200
    assert client_for(acme, scopes=["catalog:read"]).get(f"imports/{job.pk}").status_code == 403
    assert client_for(acme).put(status(work, "accepted")).json()["code"] == "unchanged"


def test_a_file_warns_of_a_doubtful_number_and_corrects_it(put, work):
    typo, right = "1Z5R89390357567128", "1Z5R89390357567127"
    header = "fulfillment_id,action,old_tracking_number,tracking_number,carrier"
    rows = (f"{work.pk},correct,{typo},{right},", f"{work.pk},correct,NONE,{right},")

    shipped = put(f"{work.pk},ship,,{typo},", header=header)
    corrected, again = (put(*rows, header=header) for _ in range(2))

    [warning] = shipped.warnings
    assert (typo in warning, "UPS" in warning) == (True, True)
    assert counts(corrected) == ("succeeded_with_errors", 1, 0, 1)
    assert rejects(corrected) == [(3, "old_tracking_number", "not_found")]
    assert counts(again) == ("succeeded_with_errors", 0, 1, 1)
    assert Shipment.objects.get().tracking_number == right


def test_a_row_without_an_action_waits_for_its_supplier(put, work):
    """A clerk adds the column to new.csv, and fills some of its rows."""
    job = put(f"{work.pk},,,,,LAMP,2,", f"{work.pk},,,,,MAT,1,", f"{work.pk},accept,,,,,,")

    assert counts(job) == ("succeeded", 1, 2, 0)
    assert state_of(work) == "accepted"
    assert counts(put(f"{work.pk},ship,T,,,LAMP,1,")) == ("succeeded", 1, 0, 0)


@pytest.mark.parametrize("row", [",,1Z999,,,,,", ",,,UPS,,,,", ",,,,,,,out of stock"])
def test_a_row_whose_action_was_forgotten_is_rejected(put, work, row):
    job = put(f"{work.pk}{row}")

    assert rejects(job) == [(2, "action", "required")]
    assert state_of(work) == "new"


LEFT, LATER = "2026-01-31T12:00:00Z", "2026-01-31T13:00:00Z"
TIMED = "fulfillment_id,action,tracking_number,sku,shipped_at"


def test_a_parcel_has_the_shipping_time_of_its_row(put, work):
    put(f"{work.pk},ship,T,LAMP,{LEFT}", f"{work.pk},ship,T,MAT,", header=TIMED)

    assert Shipment.objects.get().shipped_at.isoformat() == "2026-01-31T12:00:00+00:00"
    again = put(f"{work.pk},ship,T,LAMP,{LATER}", f"{work.pk},ship,T,MAT,", header=TIMED)
    assert counts(again) == ("succeeded", 0, 2, 0)


@pytest.mark.parametrize("moments", [("31.01.2026", ""), ("2999-01-31T12:00:00Z", ""), (LEFT, LATER)])
def test_a_moment_that_cannot_be_right_ships_nothing(put, work, moments):
    job = put(f"{work.pk},ship,T,LAMP,{moments[0]}", f"{work.pk},ship,T,MAT,{moments[1]}", header=TIMED)

    assert [field for _, field, _ in rejects(job)] == ["shipped_at", "shipped_at"]
    assert state_of(work) == "new"


def test_the_report_counts_done_and_refused_rows_and_names_the_first_reasons(put, work):
    job = put(f"{work.pk},ship,1Z999,UPS,,,,", "999999,ship,1Z1,UPS,,,,")

    report = publishing.summary(job)
    assert "Rows 2: done 1, unchanged 0, refused 1." in report
    assert f"Refused rows:\r\n- line 3: {Reject.objects.get().message}" in report


# --- Parcels that left before the order was held ---------------------------------------------------

SHIPPED_AT = "fulfillment_id,action,tracking_number,sku,quantity,shipped_at"


def test_a_parcel_of_new_work_that_left_before_the_hold_is_kept(put, work, an_order_at_acme, hold_it):
    left = iso(timezone.now() - timedelta(hours=1))
    hold_it(an_order_at_acme)

    job = put(f"{work.pk},ship,T,,,{left}", header=SHIPPED_AT)

    assert (list(job.rejects.all()), work.kept_parcels.get().tracking_number) == ([], "T")
    hold_it(an_order_at_acme, release)
    assert state_of(work) == "shipped"


def test_rows_name_the_units_that_are_in_no_kept_parcel(put, acme, a_variant, push, work_of, hold_it):
    a_variant(acme, "LAMP", stock=10)
    order = push({"sku": "LAMP", "quantity": 2}, {"sku": "LAMP", "quantity": 2})
    work = work_of(order, acme)
    left = iso(timezone.now() - timedelta(hours=1))
    hold_it(order)

    first = put(f"{work.pk},ship,T1,LAMP,2,{left}", header=SHIPPED_AT)
    second = put(f"{work.pk},ship,T2,LAMP,,{left}", header=SHIPPED_AT)
    again = put(f"{work.pk},ship,T1,LAMP,,{left}", header=SHIPPED_AT)

    assert [each.rejects.count() for each in (first, second, again)] == [0, 0, 0]
    assert [each.items[0]["quantity"] for each in work.kept_parcels.all()] == [2, 2]
