"""Rules for the pages of all admin classes."""

import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.core.paginator import Paginator

from backoffice.groups import APPS
from backoffice.paginator import CappedPaginator
from catalog.models import Variant
from tests.factories import SupplierFactory, VariantFactory

# Models without a page: another page shows their rows, or they are internal.
WITHOUT_PAGES = {
    "accounts.ContactMessage",  # shown in the timeline of its record
    "accounts.AccessToken",
    "accounts.IdempotencyKey",
    "accounts.MailSubscription",  # changed by the member on *Notifications* in the portal
    "accounts.OperatorAction",
    "accounts.OperatorActionRow",
    "accounts.OperatorNote",
    "accounts.SavedView",
    "accounts.Suspension",
    "accounts.TypedDraft",  # shown on the page of its form
    "catalog.Departure",
    "catalog.TakenSnapshot",
    "catalog.VariantChange",
    "events.Epoch",
    "events.RelayBookmark",
    "events.Sender",
    "fulfillments.Capture",
    "fulfillments.CarriedOutRow",
    "fulfillments.ChangesRead",
    "fulfillments.DailySum",
    "fulfillments.FulfillmentLine",
    "fulfillments.KeptParcel",  # shown in a panel of the fulfillment
    "fulfillments.Rejection",
    "fulfillments.Return",
    "fulfillments.RoutingDecision",
    "fulfillments.Shipment",
    "fulfillments.Carton",  # printed on the labels of a fulfillment
    "fulfillments.SlipTemplate",  # edited on *Packing slip* of a retailer
    "fulfillments.SsccCounter",
    "fulfillments.SummedEvents",
    "imports.Correction",
    "imports.ImportDraft",
    "imports.Reject",
    "imports.UploadChunk",
    "inventory.ExpectedStock",  # shown on the waiting orders
    "orders.CancelRequest",
    "orders.OrderLine",
    "orders.RetailerClock",
    "orders.PendingErasure",  # encrypted texts that are deleted within minutes
    "orders.Reconciliation",  # shown on the system status
    "orders.SearchEntry",
    "sftp_ingest.Blob",
    "sftp_ingest.DroppedBlob",
    "sftp_ingest.DirectoryEntry",
    "sftp_ingest.OpenUpload",
    "sftp_ingest.UploadArea",
}

OURS = [model for label in APPS for model in apps.get_app_config(label).get_models()]
REGISTERED = [model for model in OURS if admin.site.is_registered(model)]


def test_every_model_has_a_page_or_is_listed_as_without_one():
    missing = {model._meta.label for model in OURS if not admin.site.is_registered(model)}
    assert missing <= WITHOUT_PAGES


@pytest.mark.parametrize("model", REGISTERED, ids=lambda model: model._meta.label)
def test_every_list_opens_without_counting_its_table(operator, model, django_assert_max_num_queries):
    meta = model._meta
    with django_assert_max_num_queries(20) as asked:
        page = operator.get(f"/admin/{meta.app_label}/{meta.model_name}/")
    assert page.status_code == 200
    counts = [one["sql"] for one in asked if "COUNT(" in one["sql"]]
    assert [sql for sql in counts if not re.search(r"LIMIT \d+\) ", sql)] == []


@pytest.mark.parametrize("model", REGISTERED, ids=lambda model: model._meta.label)
def test_support_sees_every_list(support, model):
    meta = model._meta
    assert support.get(f"/admin/{meta.app_label}/{meta.model_name}/").status_code == 200
    assert support.get(f"/admin/{meta.app_label}/{meta.model_name}/add/").status_code == 403


def test_no_list_deletes_many_rows(operator, order):
    assert "delete_selected" not in operator.get("/admin/orders/order/").text


def test_pages_are_counted_up_to_a_limit(acme, monkeypatch):
    monkeypatch.setattr("backoffice.paginator.CAP", 3)
    VariantFactory.create_in_bulk(5, supplier=acme)
    capped = CappedPaginator(Variant.objects.order_by("-id"), 2)
    assert (capped.count, capped.capped, Paginator(Variant.objects.order_by("-id"), 2).count) == (4, True, 5)


def test_a_list_beyond_the_limit_says_so(operator, acme, monkeypatch):
    monkeypatch.setattr("backoffice.paginator.CAP", 3)
    SupplierFactory.create_in_bulk(9)
    assert "More than 3" in operator.get("/admin/accounts/supplier/").text


def test_no_form_has_django_icons_raw_ids_or_separate_date_and_time_fields(admin_client, acme):
    raw = ("related-widget-wrapper", "vForeignKeyRawIdAdminField", "vTimeField")
    opened = 0
    for model in admin.site._registry:
        page = admin_client.get(f"/admin/{model._meta.app_label}/{model._meta.model_name}/add/")
        opened += page.status_code == 200
        assert not [name for name in raw if name in page.text], model
    assert opened > 8


def test_a_date_and_time_is_one_field_that_keeps_its_seconds(admin_client, acme):
    variant = VariantFactory.create(supplier=acme, special_sale_price_start="2026-05-04T03:02:01Z")
    page = admin_client.get(f"/admin/catalog/variant/{variant.pk}/change/").text
    assert re.search(
        r'<input type="datetime-local" name="special_sale_price_start" value="2026-05-04T03:02:01"', page
    )
