"""Taking a consumer's personal data out of closed orders: what remains says that there was something."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts.actors import Actor
from api.errors import ApiError, InvalidTransition
from api.renderers import encode
from fulfillments.models import Outcome
from orders.change import OrderChange
from orders.models import Order, SearchEntry
from orders.processing_state import FINISHED

logger = logging.getLogger(__name__)

ERASED = "erased"
KEPT = frozenset({"country"})
BY_PERSON = ("customer", "company", "e-mail")
TEXTS = ("billing_address", "gift_message", "notes", "erased_at")
AT_ONCE = 200


def why_not(order: Order) -> str:
    """Why an order cannot be erased; nothing where it can."""
    if order.processing_state not in FINISHED:
        return f"The order is '{order.processing_state}': its suppliers still need the address."
    return ""


def erase(change: OrderChange[Order]) -> Outcome:
    """Erase addresses (but for the country), gift message and notes, and what was made of them.

    Kept answers that hold the address go, and the order is no longer found by its customer. Pieces, prices
    and numbers stay. Raises InvalidTransition while the order is open; a second time changes nothing.
    """
    order = change.order
    if refused := why_not(order):
        raise InvalidTransition(refused)
    order.refresh_from_db(fields=[*TEXTS])
    if order.erased_at is not None:
        return Outcome.UNCHANGED
    _forget_answers(order)
    order.shipping_address = without_person(order.shipping_address)
    order.billing_address = without_person(order.billing_address)
    order.gift_message = ERASED if order.gift_message else ""
    order.notes = []
    order.erased_at = timezone.now()
    order.save(update_fields=["shipping_address", *TEXTS])
    order.lines.exclude(notes=[]).update(notes=[])
    SearchEntry.objects.filter(order_id=order.pk, kind__in=BY_PERSON).delete()
    change.record("order.erased")
    return Outcome.DONE


def without_person(address: dict[str, Any]) -> dict[str, Any]:
    """An address in which each part that said something says that it was erased."""
    return {part: said if part in KEPT or not said else ERASED for part, said in address.items()}


def orders_of(email: str) -> list[Order]:
    """The orders that an address with this e-mail has, or had before it was corrected."""
    found = SearchEntry.objects.filter(text=email.strip().lower()[:100], kind="e-mail")
    return list(Order.objects.filter(pk__in=found.values("order_id")).order_by("pk"))


def erase_all(orders: Iterable[Order], *, by: Actor, reason: str = "") -> tuple[int, list[str]]:
    """Erase each in a change of its own; how many that were, and of the others why they could not be."""
    actor, done, left = replace(by, reason=reason), 0, []
    for order in orders:
        try:
            with order.change(by=actor) as change:
                done += erase(change) is Outcome.DONE
        except ApiError as error:
            left.append(f"{order.retailer_order_id}: {error.message}")
    return done, left


def erase_old() -> int:
    """Erase some of the orders that were closed longer ago than the setting; return how many."""
    if settings.ERASE_DAYS <= 0:
        return 0
    before = timezone.now() - timedelta(days=settings.ERASE_DAYS)
    closed = Order.objects.filter(processing_state__in=[*FINISHED], erased_at=None, updated_at__lt=before)
    done, left = erase_all(closed.order_by("updated_at")[:AT_ONCE], by=Actor.system("erasure"))
    for each in left:
        logger.warning("an order was not erased: %s", each)
    return done


def _forget_answers(order: Order) -> None:
    """Remove kept answers to its parties' requests that quote the address."""
    suppliers = order.fulfillments.values_list("supplier_id", flat=True)
    parties = [f"retailer:{order.retailer_id}", *(f"supplier:{supplier}" for supplier in set(suppliers))]
    for address in (order.shipping_address, order.billing_address):
        line = address.get("address1")
        if not line:
            continue
        with connection.cursor() as cursor:
            cursor.execute(
                "DELETE FROM accounts_idempotencykey"
                " WHERE party = ANY(%s) AND position(%s::bytea IN body) > 0",
                [parties, encode(line)],
            )
