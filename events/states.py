"""The statuses and moves of a delivery (contract 13), and the delays between its attempts.

This module is data only. SQL statements in `events.webhooks` make the moves for many rows at once.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from django.db import models


class DeliveryStatus(models.TextChoices):
    """The statuses of a delivery, stored and answered as the contract spells them."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    DEAD = "dead"


WAITING, DELIVERED, DEAD = DeliveryStatus.WAITING, DeliveryStatus.DELIVERED, DeliveryStatus.DEAD


@dataclass(frozen=True)
class DeliveryMove:
    """A move of a delivery from one status to another."""

    name: str
    sources: tuple[DeliveryStatus, ...]
    target: DeliveryStatus

    @property
    def targets(self) -> tuple[DeliveryStatus, ...]:
        return (self.target,)


ARRIVE = DeliveryMove("arrive", (WAITING,), DELIVERED)
TRY_AGAIN = DeliveryMove("try_again", (WAITING,), WAITING)
GIVE_UP = DeliveryMove("give_up", (WAITING,), DEAD)
REPLAY = DeliveryMove("replay", (WAITING, DELIVERED, DEAD), WAITING)
MOVES: Final = (ARRIVE, TRY_AGAIN, GIVE_UP, REPLAY)

# Seconds until the next attempt, by the number of attempts. The last value repeats.
DELAYS: Final = (5, 15, 60, 300, 900, 1800, 3600)
# The longest delay that a receiver may request with Retry-After.
LONGEST_DELAY: Final = 3600.0
# Each delay except the first delay becomes longer by a random time, at most this fraction of the delay.
# Otherwise many deliveries would be sent again at the same time.
SPREAD: Final = 0.1


def delay_after(attempts: int, retry_after: float = 0.0) -> float:
    """Return the seconds until the next attempt. `retry_after` is the delay that the receiver requested."""
    delay = DELAYS[min(attempts, len(DELAYS)) - 1]
    spread = 0.0 if attempts == 1 else random.uniform(0, SPREAD * delay)  # noqa: S311 - not a secret
    return max(delay + spread, min(retry_after, LONGEST_DELAY))
