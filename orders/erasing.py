"""The erasure of a consumer's personal data from finished orders. The word `erased` replaces the texts.

The order is erased at once. `orders.erasing_copies` then erases the copies in other tables and in files.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import QuerySet
from django.utils import timezone

from accounts.actors import Actor
from api.errors import ApiError, InvalidTransition, database_error
from fulfillments.models import MoveOutcome
from orders.change import OrderChange
from orders.erasing_copies import search
from orders.erasing_copies.person import ERASED, KEPT_PARTS, Person
from orders.models import Order, OrderLine, SearchEntry
from orders.personal import personal_fields
from orders.processing_state import FINISHED

logger = logging.getLogger(__name__)

BY_NAME, BY_COMPANY = ("customer", "e-mail"), ("company",)
BY_PERSON = (*BY_NAME, *BY_COMPANY)
PERSONAL = [field.name for field in personal_fields(Order)]
ERASES = ", ".join(str(field.verbose_name) for field in personal_fields(Order))
"""The names of the erased fields, for operators."""
AT_ONCE = 200  # a run of the task erases at most this many orders
MOST_OPEN = 200  # a shop's own e-mail, for example, can belong to any number of open orders


def why_not(order: Order) -> str:
    """Return the reason why an order cannot be erased, or an empty text."""
    if order.processing_state not in FINISHED:
        return f"The order is '{order.processing_state}': its suppliers still need the address."
    return ""


def erase(change: OrderChange[Order]) -> MoveOutcome:
    """Erase the personal fields of the order and its lines, except the country.

    A search for the customer's name or e-mail no longer finds the order. Copies in other tables and in files
    are erased later. Quantities, prices and numbers stay. A repeated call changes nothing. Raises
    InvalidTransition while the order is open.
    """
    order = change.order
    if refused := why_not(order):
        raise InvalidTransition(refused)
    order.refresh_from_db(fields=[*PERSONAL, "erased_at"])
    if order.erased_at is not None:
        return MoveOutcome.UNCHANGED
    entries = SearchEntry.objects.filter(order_id=order.pk, kind__in=BY_PERSON)
    _remember_texts(order, entries)
    for name in PERSONAL:
        setattr(order, name, without_person(getattr(order, name)))
    order.erased_at = timezone.now()
    order.save(update_fields=[*PERSONAL, "erased_at"])
    for field in personal_fields(OrderLine):
        order.lines.exclude(**{field.name: field.get_default()}).update(**{field.name: field.get_default()})
    entries.delete()
    change.record("order.erased")
    return MoveOutcome.DONE


def without_person(value: object) -> Any:
    """Return `erased` for a text, an empty list for a list, and an address with each part erased.

    Empty texts stay empty, and the country of an address stays.
    """
    if isinstance(value, dict):
        return {part: text if part in KEPT_PARTS else without_person(text) for part, text in value.items()}
    return [] if isinstance(value, list) else value and ERASED


def orders_of(email: str) -> list[Order]:
    """Return the orders that have, or had before a correction, an address with this e-mail."""
    entries = SearchEntry.objects.filter(text=email.strip().lower()[:100], kind="e-mail")
    return list(Order.objects.filter(pk__in=entries.values("order_id")).order_by("pk"))


def erase_all(orders: Iterable[Order], *, by: Actor, reason: str = "") -> tuple[int, list[str]]:
    """Erase each order in its own change. Return the number of erased orders, and the failures."""
    actor, erased, failures = replace(by, reason=reason), 0, []
    for order in orders:
        try:
            with order.change(by=actor) as change:
                erased += erase(change) is MoveOutcome.DONE
        except (ApiError, DatabaseError) as error:
            if not connection.is_usable():
                raise  # without a database, the other orders cannot be erased either
            fault = error if isinstance(error, ApiError) else database_error(error)
            failures.append(f"{order.retailer_order_id}: {fault.message}")
    return erased, failures


def erase_old() -> int:
    """Erase up to AT_ONCE orders that were finished more than `ERASE_DAYS` ago. Return their number."""
    if settings.ERASE_DAYS <= 0:
        return 0
    before = timezone.now() - timedelta(days=settings.ERASE_DAYS)
    closed = Order.objects.filter(processing_state__in=[*FINISHED], erased_at=None, updated_at__lt=before)
    erased, failures = erase_all(closed.order_by("updated_at")[:AT_ONCE], by=Actor.system("erasure"))
    for failure in failures:
        logger.warning("an order was not erased: %s", failure)
    return erased


def _remember_texts(order: Order, entries: QuerySet[SearchEntry]) -> None:
    """Store the personal texts of an order, to find their copies later.

    `entries` adds the names and e-mails of earlier addresses, which the order no longer has.
    """
    names, companies = (
        [*entries.filter(kind__in=kinds).values_list("text", flat=True)] for kinds in (BY_NAME, BY_COMPANY)
    )
    others = SearchEntry.objects.filter(text__in=names, kind__in=BY_NAME).values("order_id")
    unfinished = Order.objects.filter(pk__in=others).exclude(processing_state__in=[*FINISHED])
    still_open = [
        Person.of(each.pk, [str(work.pk) for work in each.fulfillments.all()], _values(each))
        for each in unfinished.order_by("-pk").prefetch_related("fulfillments", "lines")[:MOST_OPEN]
    ]
    search.remember(order, [*_values(order), *companies], names, still_open)


def _values(order: Order) -> list[object]:
    """Return the values of the personal fields of the order and its lines."""
    of_lines = [field.name for field in personal_fields(OrderLine)]
    values = [getattr(order, name) for name in PERSONAL]
    return values + [getattr(line, name) for line in order.lines.all() for name in of_lines]
