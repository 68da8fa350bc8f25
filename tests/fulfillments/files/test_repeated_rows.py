"""A row of a tracking file is carried out once, and only for the request that it answers (contract 17)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from fulfillments.files.carried_out import digests_of, remember
from fulfillments.models import Fulfillment, Shipment
from imports.models import ImportJob, Reject
from orders.services import correct_address
from tests.fulfillments.files.conftest import HEADER
from tests.fulfillments.files.test_asked_rows import rows_of
from tests.orders.fixtures import OPERATOR, line_units, state_of, status

ASKED = f"{HEADER},asked_at"


def counts(job: ImportJob) -> tuple[int, int, int]:
    return job.updated, job.unchanged, job.rejected


def reject_of(job: ImportJob) -> tuple[str, str]:
    return Reject.objects.values_list("field", "code").get(job=job)


@pytest.fixture
def ask_back(shop_api, work):
    """Return a function that requests the cancellation of some lamps, or of the whole order, as Shop."""

    def ask(quantity: int | None = None) -> None:
        body = {"lines": [{"sku": "LAMP", "quantity": quantity}]} if quantity else {}
        answer = shop_api.post(f"orders/{work.order_id}/cancel", body)
        assert answer.json()["code"] == "cancel_requested", answer.content

    return ask


@pytest.mark.parametrize(
    ("action", "state"), [("cancel_approved", "accepted"), ("cancel_refused", "cancelation not allowed")]
)
def test_an_old_answer_does_not_answer_a_new_cancellation(put, work, acme_api, ask_back, action, state):
    acme_api.put(status(work, "accepted"))
    ask_back(1)
    row = f"{work.pk},{action},,,,,,"
    assert counts(put(row)) == (1, 0, 0)
    assert state_of(work) == state
    ask_back(1)

    job = put(row, name="the-same-rows.csv")

    assert counts(job) == (0, 1, 0)
    assert state_of(work) == "canceling"
    assert ["canceling.csv" in warning for warning in job.warnings] == [True]


def test_the_same_answer_to_a_newer_request_names_its_moment(put, acme, work, acme_api, ask_back):
    acme_api.put(status(work, "accepted"))
    ask_back(1)
    [first] = rows_of(acme, "canceling.csv")
    put(f"{work.pk},cancel_approved,,,,,,,{first['asked_at']}", header=ASKED)
    ask_back(1)
    [second] = rows_of(acme, "canceling.csv")
    assert first["asked_at"] < second["asked_at"]

    assert counts(put(f"{work.pk},cancel_approved,,,,,,,{first['asked_at']}", header=ASKED)) == (0, 1, 0)
    assert state_of(work) == "canceling"
    assert counts(put(f"{work.pk},cancel_approved,,,,,,,{second['asked_at']}", header=ASKED)) == (1, 0, 0)
    assert state_of(work) == "accepted"


def test_an_answer_to_a_request_that_grew_since_is_outdated(put, acme, work, ask_back):
    ask_back(1)
    [row] = rows_of(acme, "canceling.csv")
    ask_back(2)

    job = put(f"{work.pk},cancel_approved,,,,,,,{row['asked_at']}", header=ASKED)

    assert (counts(job), reject_of(job)) == ((0, 0, 1), ("asked_at", "outdated"))
    assert state_of(work) == "canceling"


def test_a_moment_outside_of_the_calendar_is_rejected(put, work, ask_back):
    ask_back(1)
    job = put(f"{work.pk},cancel_approved,,,,,,,0001-01-01T00:00:00+14:00", header=ASKED)
    assert (counts(job), reject_of(job)) == ((0, 0, 1), ("asked_at", "invalid"))


@pytest.mark.parametrize("named", ["", "asked"])
def test_a_corrected_address_does_not_go_back_to_wrong_address(put, acme, work, named):
    asked_at = rows_of(acme, "new.csv")[0]["asked_at"] if named else ""
    row = f"{work.pk},wrong_address,,,,,,,{asked_at}"
    assert counts(put(row, header=ASKED)) == (1, 0, 0)
    with work.order.change(by=OPERATOR) as change:
        correct_address(change, {"address1": "2 Right Street"})
    assert state_of(work) == "new"

    assert counts(put(row, header=ASKED)) == (0, 1, 0)
    assert state_of(work) == "new"


def test_a_refusal_of_the_address_before_the_correction_is_outdated(put, acme, acme_api, work):
    row = rows_of(acme, "new.csv")[0]
    acme_api.put(status(work, "wrong_address"))
    with work.order.change(by=OPERATOR) as change:
        correct_address(change, {"address1": "2 Right Street"})

    job = put(f"{work.pk},wrong_address,,,,,,,{row['asked_at']}", header=ASKED)

    assert (counts(job), reject_of(job)) == ((0, 0, 1), ("asked_at", "outdated"))
    assert state_of(work) == "new"


def test_the_other_rows_of_a_parcel_are_carried_out_without_the_repeated_one(put, work):
    lamp = f"{work.pk},out_of_stock,,,,LAMP,1,"
    put(lamp)
    job = put(lamp, f"{work.pk},out_of_stock,,,,MAT,1,", name="longer.csv")

    assert counts(job) == (1, 1, 0)
    assert [line.rejected for line in work.lines.all()] == [1, 1]


def test_a_repeated_row_is_unchanged_beside_a_rejected_one(put, work):
    put(f"{work.pk},out_of_stock,,,,LAMP,1,")
    job = put(f"{work.pk},out_of_stock,,,,LAMP,1,", f"{work.pk},out_of_stock,,,,SOFA,1,")

    assert counts(job) == (0, 1, 1)


def test_a_row_is_recognized_in_the_spellings_of_spreadsheets(put, work):
    put(f"{work.pk},out_of_stock,,,,LAMP,1,broken")
    job = put(f"{work.pk}.0,Out of stock,,,,LAMP,1.0,broken", name="from-excel.csv")

    assert counts(job) == (0, 1, 0)
    assert work.lines.get(sku="LAMP").rejected == 1


def test_a_second_parcel_of_the_same_units_is_another_row(put, work):
    put(f"{work.pk},ship,1Z1,UPS,,LAMP,1,")

    assert counts(put(f"{work.pk},ship,1Z2,UPS,,LAMP,1,")) == (1, 0, 0)
    assert Shipment.objects.count() == 2


def test_a_rejected_row_may_succeed_later(put, work, acme_api, shop_api):
    shop_api.post(f"orders/{work.order_id}/cancel")
    row = f"{work.pk},ship,1Z1,UPS,,,,"
    assert counts(put(row)) == (0, 0, 1)
    acme_api.put(status(work), {"status": "cancelation not allowed"})

    assert counts(put(row)) == (1, 0, 0)
    assert state_of(work) == "shipped"


def test_an_acceptance_after_shipping_is_unchanged(put, work, acme_api):
    acme_api.put(status(work, "accepted"))
    acme_api.put(status(work, "shipped"), {"tracking_number": "1Z1"})

    assert counts(put(f"{work.pk},accept,,,,,,")) == (0, 1, 0)
    assert counts(put(f"{work.pk},accept,1Z1,,,,,")) == (0, 1, 0)
    assert counts(put(f"{work.pk},accept,OTHER,,,,,")) == (0, 0, 1)
    parcel = f"fulfillments/{work.pk}/shipments/{work.shipments.get().pk}"
    acme_api.request("PATCH", parcel, {"tracking_number": "1Z3"})
    assert counts(put(f"{work.pk},accept,1Z1,UPS,,,,")) == (0, 1, 0)


def test_a_known_parcel_does_not_accept_work_with_a_corrected_address(put, work, acme_api):
    acme_api.put(status(work, "accepted"))
    lamp = line_units(work, "LAMP", 1)
    acme_api.put(status(work, "shipped"), {"tracking_number": "1Z1", "lines": [lamp]})
    acme_api.put(status(work, "wrong_address"))
    with work.order.change(by=OPERATOR) as change:
        correct_address(change, {"address1": "2 Right Street"})

    assert counts(put(f"{work.pk},ship,1Z1,,{lamp['id']},,1,")) == (0, 1, 0)
    assert state_of(work) == "new"


def test_a_parcel_is_known_by_its_number_before_a_correction(put, work, acme_api):
    """Rows of a shipped parcel change nothing, even after the other units were refused for their address."""
    acme_api.put(status(work, "accepted"))
    lamps = line_units(work, "LAMP", 2)
    acme_api.put(status(work, "shipped"), {"tracking_number": "1Z1", "lines": [lamps]})
    parcel = f"fulfillments/{work.pk}/shipments/{work.shipments.get().pk}"
    acme_api.request("PATCH", parcel, {"tracking_number": "1Z2"})
    assert counts(put(f"{work.pk},ship,1Z1,,,LAMP,,")) == (0, 1, 0)
    acme_api.put(status(work, "wrong_address"))
    with work.order.change(by=OPERATOR) as change:
        correct_address(change, {"address1": "2 Right Street"})

    assert counts(put(f"{work.pk},ship,1Z1,,,LAMP,2,")) == (0, 1, 0)

    assert state_of(work) == "new"


def test_an_answer_to_only_some_of_the_lines_is_refused(put, acme, work, ask_back):
    ask_back()
    lamp, mat = rows_of(acme, "canceling.csv")
    one = f"{work.pk},cancel_approved,,,{lamp['line_id']},,{lamp['quantity']},"

    job = put(one)
    assert (counts(job), reject_of(job)) == ((0, 0, 1), ("quantity", "invalid"))
    assert state_of(work) == "canceling"
    assert counts(put(one, f"{work.pk},cancel_approved,,,{mat['line_id']},,{mat['quantity']},")) == (2, 0, 0)
    assert state_of(work) == "canceled"


@pytest.mark.parametrize(
    ("cut", "outdated"),
    [
        (lambda asked: asked[:16].replace("T", " "), False),  # LibreOffice shows minutes
        (lambda asked: asked.replace("Z", "+00:00"), False),
        (lambda asked: f"2020{asked[4:]}", True),
    ],
)
def test_a_moment_may_have_lost_its_seconds_in_a_spreadsheet(put, acme, work, cut, outdated):
    asked_at = cut(rows_of(acme, "new.csv")[0]["asked_at"])
    job = put(f"{work.pk},accept,,,,,,,{asked_at}", header=ASKED)

    assert counts(job) == ((0, 0, 1) if outdated else (1, 0, 0))


@pytest.mark.parametrize("asked_at", ["yesterday", "2026-11-23", "12:00"])
def test_an_unreadable_moment_is_refused(put, work, asked_at):
    job = put(f"{work.pk},accept,,,,,,,{asked_at}", header=ASKED)

    assert (counts(job), reject_of(job)) == ((0, 0, 1), ("asked_at", "invalid"))


def test_another_suppliers_row_is_not_recognized(put, work, rival, a_variant, push):
    a_variant(rival, "VASE", stock=5)
    theirs = Fulfillment.objects.get(order=push({"sku": "VASE", "quantity": 1}))
    remember(theirs, digests_of(theirs, {"fulfillment_id": str(theirs.pk), "action": "accept"}))

    assert counts(put(f"{theirs.pk},accept,,,,,,")) == (0, 0, 1)


@pytest.mark.parametrize("cut", ["", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S"])
@pytest.mark.parametrize("by_sku", [True, False])
def test_a_rejection_in_another_form_is_carried_out_once(put, acme, work, cut, by_sku):
    """A clerk uploads a row with fewer columns first, and the whole row later."""
    row = next(each for each in rows_of(acme, "new.csv") if each["sku"] == "LAMP")
    moment = datetime.fromisoformat(row["asked_at"]).strftime(cut)
    line, sku = ("", "LAMP") if by_sku else (row["line_id"], "")

    assert counts(put(f"{work.pk},out_of_stock,,,{line},{sku},1,broken,{moment}", header=ASKED)) == (1, 0, 0)
    whole = f"{work.pk},out_of_stock,,,{row['line_id']},LAMP,1,broken,{row['asked_at']}"
    assert counts(put(whole, header=ASKED, name="whole.csv")) == (0, 1, 0)

    assert work.lines.get(sku="LAMP").rejected == 1


def test_an_asked_at_of_another_row_is_rejected(put, acme, work):
    """A spreadsheet sorted one column without the others."""
    [asked] = {row["asked_at"] for row in rows_of(acme, "new.csv")}
    later = (datetime.fromisoformat(asked) + timedelta(seconds=3)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    job = put(f"{work.pk},ship,1Z1,UPS,,,,,{later}", header=ASKED)

    assert reject_of(job) == ("asked_at", "invalid")
    assert state_of(work) == "new"
