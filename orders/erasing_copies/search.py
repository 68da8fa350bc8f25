"""The search for copies of erased persons' data. Each call searches a limited number of copies.

A `PendingErasure` keeps the former texts of an erased order, encrypted, until all kinds of copies are
searched. The texts of orders that were erased together are searched together, so each file is read only once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable

from accounts.encryption import decrypt, encrypt
from fulfillments.models import Fulfillment
from orders.erasing_copies.files import AreaFiles, RejectedRows, SearchDelayed
from orders.erasing_copies.person import People, Person
from orders.erasing_copies.rows import TEXTS, KindOfCopies
from orders.models import Order, PendingErasure

AT_ONCE = 200
_steps: list[KindOfCopies] = [*TEXTS, RejectedRows(), AreaFiles()]


def register(step: KindOfCopies) -> None:
    """Register a kind of copies of another Django app, which `orders` cannot import."""
    _steps.append(step)


def remember(
    order: Order, values: Iterable[object], names: Iterable[str] = (), open_orders: Iterable[Person] = ()
) -> None:
    """Store the personal texts of an order that is being erased, until their copies are erased.

    `open_orders` has the texts of the consumer's open orders. Rows that belong to these orders stay.
    """
    works = order.fulfillments.values_list("pk", flat=True)
    references = [order.retailer_order_id, str(order.pk), *map(str, works)]
    person = Person.of(order.pk, references, values, names).sparing(open_orders)
    texts = encrypt(json.dumps(person.as_json()))
    PendingErasure.objects.update_or_create(order=order, defaults={"texts": texts, "step": "", "position": 0})


def erase_copies(seconds: float) -> bool:
    """Erase copies until `seconds` have passed. Return whether all copies are erased."""
    end = time.monotonic() + seconds
    delayed: set[int] = set()
    while batch := _next_batch(delayed):
        if time.monotonic() > end:
            return False
        delayed |= _search_window(batch)
    return not delayed


def _next_batch(delayed: set[int]) -> list[PendingErasure]:
    """Return the oldest pending erasure, and the erasures whose search is at the same step and position.

    Leave out the orders whose search is delayed.
    """
    due = PendingErasure.objects.exclude(pk__in=delayed)
    first = due.order_by("pk").first()
    if first is None:
        return []
    equal = due.filter(step=first.step, position=first.position)
    return list(equal.order_by("pk")[:AT_ONCE])


def _search_window(batch: list[PendingErasure]) -> set[int]:
    """Search the next copies for the texts of these erasures. Return the orders whose search must wait."""
    names = [step.name for step in _steps]
    # If the step is unknown, begin again: during an upgrade, another version may have saved the step.
    at = names.index(batch[0].step) if batch[0].step in names else 0
    people = People(_person(pending) for pending in batch)
    try:
        position = _steps[at].window(people, batch[0].position)
    except SearchDelayed as delay:
        works = Fulfillment.objects.filter(supplier_id=delay.supplier_id)
        return {*works.filter(order_id__in=people.persons).values_list("order_id", flat=True)}
    searched = PendingErasure.objects.filter(
        pk__in=[pending.pk for pending in batch], step=batch[0].step, position=batch[0].position
    )
    if position is not None:
        searched.update(step=names[at], position=position)
    elif at + 1 < len(names):
        searched.update(step=names[at + 1], position=0)
    else:
        searched.delete()
    return set()


def _person(pending: PendingErasure) -> Person:
    return Person.from_json(json.loads(decrypt(pending.texts)))
