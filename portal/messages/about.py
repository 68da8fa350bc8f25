"""The portal's page of the record that a message is about. A record of another party has no page."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from accounts.models import ContactMessage, Retailer, Supplier
from catalog.models import Variant
from imports.models import ImportJob
from orders.models import Order
from portal.connections.selectors import webhooks_of
from portal.supplying.selectors import fulfillments_of

RecordPage = tuple[str, str, QuerySet[Any]]
"""The label of the link, the name of the URL, and the party's own records."""


def page_about(message: ContactMessage, party: Supplier | Retailer) -> tuple[str, str] | None:
    """Return the label and the URL of the record's page, or None if the party has no such page."""
    model, pk = message.model, message.record_id
    if model == "events.webhook":
        page: RecordPage | None = ("Open webhook", "webhook", webhooks_of(party).filter(pk=pk))
    elif isinstance(party, Supplier):
        page = _of_supplier(party, model, pk)
    else:
        page = _of_retailer(party, model, pk)
    if page is None:
        return None
    label, name, own = page
    record = own.order_by("pk").values_list("pk", flat=True).first()
    return (label, reverse(f"portal:{name}", args=[record])) if record else None


def _of_supplier(party: Supplier, model: str, pk: int) -> RecordPage | None:
    if model in ("fulfillments.fulfillment", "orders.order"):
        name = "order" if model == "orders.order" else "pk"
        return "Open order", "supplier_order", fulfillments_of(party).filter(**{name: pk})
    if model in ("catalog.variant", "inventory.stocklevel"):
        name = "stock" if model == "inventory.stocklevel" else "pk"
        return "Open product", "product", Variant.objects.for_supplier(party).filter(**{name: pk})
    if model == "imports.importjob":
        return "Open file", "file", ImportJob.objects.for_supplier(party).filter(pk=pk)
    return None


def _of_retailer(party: Retailer, model: str, pk: int) -> RecordPage | None:
    if model in ("fulfillments.fulfillment", "orders.order"):
        name = "fulfillments" if model == "fulfillments.fulfillment" else "pk"
        return "Open order", "retailer_order", Order.objects.for_retailer(party).filter(**{name: pk})
    if model == "accounts.partnership":
        return "Open supplier", "supplier", party.partnerships.filter(pk=pk)
    return None
