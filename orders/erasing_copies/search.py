"""The search for copies of erased persons' data. Each call searches a limited number of copies.

A `PendingErasure` keeps the former texts of an erased order, encrypted, until all kinds of copies are
searched. The texts of orders that were erased together are searched together, so each file is read only once.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable

from accounts.encryption import decrypt, encrypt
from orders.erasing_copies.files import AreaFiles, RejectedRows, WaitForImport
from orders.erasing_copies.person import People, Person
from orders.erasing_copies.rows import TEXTS, KindOfCopies
from orders.models import Order, PendingErasure

logger = logging.getLogger(__name__)

AT_ONCE = 200
_steps: list[KindOfCopies] = [*TEXTS, RejectedRows(), AreaFiles()]


def register(step: KindOfCopies) -> None:
    """Register a kind of copies of another Django app, which `orders` cannot import."""
    _steps.append(step)


def remember(order: Order, values: Iterable[object]) -> None:
    """Store the personal texts of an order that is being erased, until their copies are erased."""
    works = order.fulfillments.values_list("pk", flat=True)
    references = [order.retailer_order_id, str(order.pk), *map(str, works)]
    person = Person.of(order.pk, references, values)
    texts = encrypt(json.dumps(person.as_json()))
    PendingErasure.objects.update_or_create(order=order, defaults={"texts": texts, "step": "", "position": 0})


def erase_copies(seconds: float) -> bool:
    """Erase copies until `seconds` have passed. Return whether all copies are erased."""
    end = time.monotonic() + seconds
    while batch := _next_batch():
        if time.monotonic() > end or not _search_window(batch):
            return False
    return True


def _next_batch() -> list[PendingErasure]:
    """Return the oldest pending erasure, and the erasures whose search is at the same step and position."""
    first = PendingErasure.objects.order_by("pk").first()
    if first is None:
        return []
    equal = PendingErasure.objects.filter(step=first.step, position=first.position)
    return list(equal.order_by("pk")[:AT_ONCE])


def _search_window(batch: list[PendingErasure]) -> bool:
    """Search the next copies for the texts of these erasures. Return False if the search must wait."""
    names = [step.name for step in _steps]
    # If the step is unknown, begin again: during an upgrade, another version may have saved the step.
    at = names.index(batch[0].step) if batch[0].step in names else 0
    try:
        people = People(_person(pending) for pending in batch)
        position = _steps[at].window(people, batch[0].position)
    except WaitForImport:
        return False
    except OSError as error:
        logger.warning("copies of personal data are searched later: %s", error)
        return False
    searched = PendingErasure.objects.filter(
        pk__in=[pending.pk for pending in batch], step=batch[0].step, position=batch[0].position
    )
    if position is not None:
        searched.update(step=names[at], position=position)
    elif at + 1 < len(names):
        searched.update(step=names[at + 1], position=0)
    else:
        searched.delete()
    return True


def _person(pending: PendingErasure) -> Person:
    return Person.from_json(json.loads(decrypt(pending.texts)))
