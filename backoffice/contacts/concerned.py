"""The parties that a record concerns, and the name of the record in messages to these parties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import Case, Model, Q, QuerySet, When

from accounts.models import Contact, Partnership, Retailer, Supplier
from catalog.models import Variant
from events.models import Webhook
from fulfillments.models import Fulfillment
from imports.models import ImportJob
from inventory.models import StockLevel
from orders.models import Order

Party = Supplier | Retailer

# For each model, a function that returns the parties of a record. The usual recipient of messages is first.
PARTIES: dict[type[Model], Callable[[Any], list[Party]]] = {
    Order: lambda order: [
        order.retailer,
        *Supplier.objects.filter(pk__in=order.fulfillments.values("supplier")),
    ],
    Fulfillment: lambda work: [work.supplier, work.order.retailer],
    ImportJob: lambda job: [job.supplier],
    StockLevel: lambda level: [level.warehouse.supplier],
    Variant: lambda variant: [variant.supplier],
    Webhook: lambda webhook: [webhook.party],
    Partnership: lambda partnership: [partnership.supplier, partnership.retailer],
    Supplier: lambda supplier: [supplier],
    Retailer: lambda retailer: [retailer],
}
OWN_MESSAGES = (ImportJob,)
"""Models with their own message action. Their records do not link to the general page for messages."""
WRITABLE = {model._meta.label_lower for model in PARTIES if model not in OWN_MESSAGES}
"""The models whose records link to the page that writes a message."""


def contacts_of(record: Model) -> QuerySet[Contact]:
    """Return the contacts of the record's parties, in the order of `parties_of`."""
    parties = parties_of(record)
    suppliers = [party.pk for party in parties if isinstance(party, Supplier)]
    retailers = [party.pk for party in parties if isinstance(party, Retailer)]
    wanted = Contact.objects.filter(Q(supplier__in=suppliers) | Q(retailer__in=retailers))
    of_party = [When(Q(**{party.role.value: party}), then=rank) for rank, party in enumerate(parties)]
    return wanted.select_related("supplier", "retailer").order_by(Case(*of_party), "name", "id")


def parties_of(record: Model) -> list[Party]:
    return PARTIES[type(record)](record)


def name_of(record: object) -> str:
    """Return the record's name for a message to its parties, such as the retailer's order number."""
    if isinstance(record, Order):
        return f"order {record.retailer_order_id}"
    if isinstance(record, Fulfillment):
        return f"fulfillment {record.pk} of order {record.order.retailer_order_id}"
    if isinstance(record, ImportJob):
        return f"import {record.pk} of {record.source}"
    if isinstance(record, Supplier | Retailer):
        return "your account"
    return str(record)
