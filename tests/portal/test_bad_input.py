"""Errors in the portal: a session that ended, a suspended party, and forms that are sent twice."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from accounts.actors import Actor
from backoffice.suspending.services import suspend
from fulfillments.models import Fulfillment
from imports.models import ImportDraft, ImportJob, Status
from tests.factories import ImportDraftFactory, ImportJobFactory, RejectFactory
from tests.orders.push_bodies import an_order
from tests.portal.conftest import act, browser_of, said

QUICK_SHIP = "/portal/quick-ship/"


@pytest.fixture
def work(acme, shop, a_variant, pushed):
    a_variant(acme, "LAMP", stock=10)
    return pushed(shop, {"sku": "LAMP", "quantity": 1}).fulfillments.get()


def suspended(party: Any, **fields: Any) -> Any:
    by = Actor.system("test")
    return suspend(party, reason="They do not answer the phone", by=by, **{"until": None, **fields})


def test_a_banner_says_why_the_party_is_suspended_and_until_when(ana, acme):
    until = timezone.now().date() + timedelta(days=9)
    suspended(acme, shown_reason="Prices are <missing>", until=until)

    for path in ("/portal/", "/portal/orders/", QUICK_SHIP, "/portal/products/", "/portal/team/"):
        page = ana.get(path).text
        assert f"Acme is suspended\n        until {until:%-d %b %Y}" in page
        assert "Prices are &lt;missing&gt;" in page
        assert "answer the phone" not in page


def test_a_suspension_without_a_reason_refers_the_party_to_the_operators(sam, shop):
    suspended(shop)
    page = sam.get("/portal/").text
    assert "Shop is suspended" in page
    assert "Ask the operators" in page
    assert "You cannot" in page


def test_a_suspended_supplier_ships_its_open_order_and_gets_no_new_one(ana, acme, shop, work, client_for):
    suspended(acme)
    act(ana, f"/portal/orders/{work.pk}/do/ship/", tracking_number="PARCEL-1")
    work.refresh_from_db()
    assert work.state == "shipped"

    client_for(shop).post("orders", an_order({"sku": "LAMP", "quantity": 1}))
    assert Fulfillment.objects.count() == 1


def test_rows_pasted_before_the_session_ended_are_shown_after_the_sign_in(ana, owner, work):
    ana.get(QUICK_SHIP)
    Session.objects.all().delete()

    rows = f"{work.order.retailer_order_id}\tPARCEL-1"
    ended = ana.post(QUICK_SHIP, {"rows": rows}, headers={"referer": f"http://testserver{QUICK_SHIP}"})
    assert ended["Location"] == f"/portal/login/?next={QUICK_SHIP.replace('/', '%2F')}"
    ana.force_login(owner.user)

    page = ana.get(QUICK_SHIP)
    assert page.context["kept_text"].fields == {"rows": [rows]}
    assert "Your text was kept" in page.text
    work.refresh_from_db()
    assert work.state == "new"


def test_a_colleague_does_not_see_the_text_of_an_ended_session(ana, acme, member_of, work):
    ana.get(QUICK_SHIP)
    Session.objects.all().delete()
    ana.post(QUICK_SHIP, {"rows": "secret"}, headers={"referer": f"http://testserver{QUICK_SHIP}"})
    ana.force_login(member_of(acme).user)
    assert "Your text was kept" not in ana.get(QUICK_SHIP).text


@pytest.mark.django_db(transaction=True)
def test_a_file_that_is_sent_twice_is_uploaded_once(ana):
    form_id = uuid4()
    for _ in range(2):
        file = SimpleUploadedFile("list.csv", b"sku,title\nA-1,Lamp\n")
        ana.post("/portal/files/", {"kind": "products", "file": file, "form_id": form_id})
    assert ImportDraft.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_trial_that_is_sent_twice_starts_once(ana, acme):
    draft = ImportDraftFactory.create(supplier=acme)
    sent = {"do": "try", "form_id": uuid4()}
    first, second = (ana.post(f"/portal/files/drafts/{draft.pk}/", sent) for _ in range(2))
    assert first["Location"] == second["Location"]
    assert ImportJob.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_corrected_rows_that_are_sent_twice_are_imported_once(ana, acme):
    job = ImportJobFactory.create(
        supplier=acme,
        status=Status.SUCCEEDED_WITH_ERRORS,
        rejected=1,
        header=["sku", "title", "retail_price"],
        finished_at=timezone.now(),
    )
    reject = RejectFactory.create(job=job, cells=["A-1", "Lamp", "many"])
    page = ana.get(f"/portal/files/{job.pk}/correct/")
    cells = {f"cell-{reject.pk}-{place}": text for place, text in enumerate(("A-1", "Lamp", "9"))}
    sent = {**cells, "form_id": page.context["form_id"]}
    for _ in range(2):
        shown = ana.post(f"/portal/files/{job.pk}/correct/", sent, follow=True)
    assert ImportJob.objects.exclude(pk=job.pk).count() == 1
    assert "was done only once" in said(shown)[0]


def test_the_page_of_a_missing_role_names_every_role_that_has_the_right(acme, member_of, work):
    viewer = browser_of(member_of(acme, "viewer"))
    refused = viewer.post(f"/portal/orders/{work.pk}/do/accept/")
    assert refused.status_code == 403
    assert "You need the role Orders or Owner" in refused.text
    assert "You need the role Owner" in viewer.post("/portal/team/do/invite/").text
