"""Search for the copies of erased persons' data, in windows of bounded work.

Each erased order has a row with its former texts, encrypted, until all kinds of copies were searched. Orders
that are erased together are searched together, so each file is read once for all of them.
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
    """Add a kind of copies of an upper app."""
    _steps.append(step)


def remember(order: Order, values: Iterable[object]) -> None:
    """Store the personal texts of an order that is being erased, until their copies are erased."""
    works = order.fulfillments.values_list("pk", flat=True)
    references = [order.retailer_order_id, str(order.pk), *map(str, works)]
    person = Person.of(order.pk, references, values)
    texts = encrypt(json.dumps(person.as_json()))
    PendingErasure.objects.update_or_create(order=order, defaults={"texts": texts, "step": "", "position": 0})


def erase_copies(seconds: float) -> bool:
    """Erase copies for some seconds; return whether all are erased."""
    end = time.monotonic() + seconds
    while batch := _next_batch():
        if time.monotonic() > end or not _search_window(batch):
            return False
    return True


def _next_batch() -> list[PendingErasure]:
    """Return the oldest erasure, and the other erasures whose search is at the same position."""
    first = PendingErasure.objects.order_by("pk").first()
    if first is None:
        return []
    equal = PendingErasure.objects.filter(step=first.step, position=first.position)
    return list(equal.order_by("pk")[:AT_ONCE])


def _search_window(batch: list[PendingErasure]) -> bool:
    """Search one window for a batch; return False if the search must continue later."""
    names = [step.name for step in _steps]
    # Begin again at an unknown step: during an upgrade, another version of the service may have saved it.
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
