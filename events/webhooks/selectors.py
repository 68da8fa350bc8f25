"""How webhooks stand: what waits for them, and what was given up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Count

from events.models import Delivery, Sender, Webhook
from events.states import DEAD, WAITING


class Backlog(NamedTuple):
    """What a webhook's receiver has not taken."""

    waiting: int
    dead: int


def nobody_sends() -> bool:
    """Whether there are webhooks, and no process that sends to them."""
    return Webhook.objects.present().filter(active=True).exists() and not Sender.objects.alive().exists()


def backlogs(webhooks: Sequence[int]) -> dict[int, Backlog]:
    """The backlogs of webhooks, by their ids; each has one."""
    counted = {
        status: dict(
            Delivery.objects.filter(webhook__in=webhooks, status=status)
            .order_by()
            .values_list("webhook")
            .annotate(Count("pk"))
        )
        for status in (WAITING, DEAD)
    }
    return {each: Backlog(counted[WAITING].get(each, 0), counted[DEAD].get(each, 0)) for each in webhooks}
