"""Retention: old rows are deleted, a limited number at a time. Rows that are still needed stay."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from accounts.actors import Actor
from backoffice import retention
from backoffice.retention import prune
from catalog.models import VariantChange
from events.models import Event
from events.recording import record
from fulfillments.models import DailySum, RoutingDecision, RoutingSimulation
from imports.drafts.services import discard
from imports.models import ImportJob, Reject, Status
from orders.models import Order
from orders.processing_state import ProcessingState
from sftp_ingest.models import Upload
from tests.factories import (
    DailySumFactory,
    DeliveryFactory,
    ImportDraftFactory,
    ImportJobFactory,
    RejectFactory,
    RoutingSimulationFactory,
    StaffFactory,
    UploadFactory,
)
from tests.orders.push_bodies import an_order

pytestmark = pytest.mark.django_db

LONG_AGO = timezone.now() - timedelta(days=5_000)


@pytest.fixture(autouse=True)
def _oldest_first(monkeypatch):
    monkeypatch.setattr("backoffice.retention.secrets.randbelow", lambda most: min(1, most - 1))


@pytest.fixture
def old_job(acme):
    job = ImportJobFactory.create(supplier=acme, status=Status.SUCCEEDED_WITH_ERRORS, finished_at=LONG_AGO)
    RejectFactory.create_batch(3, job=job)
    return job


def test_an_old_import_is_deleted_after_its_rejected_rows(old_job, acme):
    kept = ImportJobFactory.create(supplier=acme, status=Status.SUCCEEDED, finished_at=timezone.now())

    assert prune() == {"rejected rows of imports": 3, "imports": 1}
    assert [*ImportJob.objects.all()] == [kept]


def test_unfinished_rows_of_any_age_stay(acme):
    waiting = {"supplier": acme, "finished_at": LONG_AGO, "created_at": LONG_AGO}
    for status in (Status.QUEUED, Status.RUNNING, Status.AWAITING_APPROVAL):
        RejectFactory.create(job=ImportJobFactory.create(status=status, **waiting))
    assert prune() == {}


def test_the_dry_run_of_a_file_is_deleted_after_the_file(acme):
    draft = ImportDraftFactory.create(supplier=acme)
    job = ImportJobFactory.create(supplier=acme, status=Status.SUCCEEDED, finished_at=LONG_AGO)
    draft.jobs.add(job)
    assert prune() == {}

    discard(draft.pk, draft.blob_id)
    assert prune() == {"imports": 1}


def test_a_window_limits_the_rows_removed_at_a_time(old_job, monkeypatch):
    rules = [rule for rule in retention.RULES if rule.setting == "REJECT_DAYS"]
    monkeypatch.setattr(retention, "RULES", [replace(rule, window=2) for rule in rules])
    assert [prune(), prune(), prune()] == [
        {"rejected rows of imports": 2},
        {"rejected rows of imports": 1},
        {},
    ]


def test_a_setting_of_0_deletes_nothing(old_job, settings):
    settings.REJECT_DAYS = settings.IMPORT_DAYS = 0
    assert prune() == {}
    assert Reject.objects.count() == 3


def test_the_newest_upload_of_a_path_is_kept(acme):
    old = {"supplier": acme, "uploaded_at": LONG_AGO, "swept_at": LONG_AGO}
    for path in ("products/a.csv", "products/a.csv", "products/b.csv"):
        UploadFactory.create(path=path, **old)
    assert prune() == {"uploads with a newer version": 1}
    assert Upload.objects.count() == 2


def test_events_of_orders_and_the_newest_event_stay(acme, shop, a_variant, client_for):
    a_variant(acme, "LAN-1", stock=5)
    record("variant.event", by=Actor.system("test"), area="catalog", supplier=acme)
    client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 1}))
    Event.publish()
    of_order = set(Event.objects.exclude(order_id=None).values_list("pk", flat=True))
    Event.objects.update(occurred_at=LONG_AGO)

    assert prune() == {"events without an order": 1}
    assert set(Event.objects.values_list("pk", flat=True)) == of_order


def test_an_event_is_deleted_after_its_deliveries_and_delays_no_other_event(acme):
    for title in ("kept for a webhook", "goes", "the newest stays"):
        record("variant.event", by=Actor.system("test"), area="catalog", supplier=acme, data={"title": title})
    Event.publish()
    Event.objects.update(occurred_at=LONG_AGO)
    first = Event.objects.earliest("number")
    delivery = DeliveryFactory.create(event=first)

    assert prune() == {"events without an order": 1}
    delivery.delete()
    assert prune() == {"events without an order": 1}


def test_routing_decisions_are_deleted_after_the_order_is_finished(acme, shop, a_variant, client_for):
    a_variant(acme, "LAN-1", stock=5)
    order_id = client_for(shop).post("orders", an_order({"sku": "LAN-1", "quantity": 1})).json()["order_id"]
    RoutingDecision.objects.update(decided_at=LONG_AGO)
    assert "routing decisions" not in prune()

    Order.objects.filter(pk=order_id).update(processing_state=ProcessingState.COMPLETED)
    assert prune()["routing decisions"] == 1


def test_an_ended_routing_simulation_is_deleted(acme):
    waits = RoutingSimulationFactory.create(supplier=acme, created_at=LONG_AGO)
    RoutingSimulationFactory.create(supplier=acme, created_at=LONG_AGO, finished_at=LONG_AGO)
    new = RoutingSimulationFactory.create(supplier=acme, finished_at=timezone.now())

    assert prune() == {"routing simulations": 1}
    assert {*RoutingSimulation.objects.all()} == {waits, new}


def test_old_daily_sums_are_deleted(acme):
    DailySumFactory.create(supplier_id=acme.pk, day=LONG_AGO.date())
    today = DailySumFactory.create(supplier_id=acme.pk)

    assert prune() == {"daily sums of suppliers": 1}
    assert list(DailySum.objects.all()) == [today]


def test_old_changes_of_a_variant_are_removed(acme, a_variant, client_for):
    client, variant = client_for(acme), a_variant(acme, "LAN-1")
    for title in ("Lamp", "Lantern"):
        client.request("PATCH", f"variants/{variant.pk}", {"title": title})
    first = VariantChange.objects.earliest("id")
    VariantChange.objects.filter(pk=first.pk).update(occurred_at=LONG_AGO)

    assert prune() == {"changes of variants": 1}
    assert [each.changed["title"]["to"] for each in VariantChange.objects.all()] == ["Lantern"]


def test_ended_sessions_are_deleted_and_current_sessions_stay():
    for name in ("ada", "bob"):
        Client().force_login(StaffFactory.create(username=name))
    ended = Session.objects.latest("expire_date")
    Session.objects.filter(pk=ended.pk).update(expire_date=LONG_AGO)
    assert prune() == {"sessions": 1}


def test_old_entries_of_the_admin_log_are_deleted(admin_client):
    admin_client.post("/admin/auth/group/add/", {"name": "Night shift"})
    assert LogEntry.objects.update(action_time=LONG_AGO) == 1
    assert prune() == {"entries of the admin's log": 1}
