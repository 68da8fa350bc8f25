"""The table of a delivery's statuses and moves (contract 13), and when it is tried again: pure data.

The moves are carried out on many rows at once, by statements of `events.webhooks`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from django.db import models


class DeliveryStatus(models.TextChoices):
    """Stored and answered as the contract writes them."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    DEAD = "dead"


WAITING, DELIVERED, DEAD = DeliveryStatus.WAITING, DeliveryStatus.DELIVERED, DeliveryStatus.DEAD


@dataclass(frozen=True)
class Move:
    """One thing that can happen to a delivery."""

    name: str
    sources: tuple[DeliveryStatus, ...]
    target: DeliveryStatus

    @property
    def targets(self) -> tuple[DeliveryStatus, ...]:
        return (self.target,)


ARRIVE = Move("arrive", (WAITING,), DELIVERED)
TRY_AGAIN = Move("try_again", (WAITING,), WAITING)
GIVE_UP = Move("give_up", (WAITING,), DEAD)
REPLAY = Move("replay", (WAITING, DELIVERED, DEAD), WAITING)
MOVES: Final = (ARRIVE, TRY_AGAIN, GIVE_UP, REPLAY)

# Seconds until the next attempt, after so many attempts; from then on the last one again and again.
DELAYS: Final = (5, 15, 60, 300, 900, 1800, 3600)
# A receiver may ask for more time itself, up to this.
LONGEST_DELAY: Final = 3600.0
# Later ones are spread by up to so much of their length: what failed together does not come back together.
SPREAD: Final = 0.1


def delay_after(attempts: int, asked: float = 0.0) -> float:
    """Seconds until the next attempt, after so many; `asked` is what the receiver's Retry-After said."""
    delay = DELAYS[min(attempts, len(DELAYS)) - 1]
    spread = 0.0 if attempts == 1 else random.uniform(0, SPREAD * delay)  # noqa: S311 - no secret
    return max(delay + spread, min(asked, LONGEST_DELAY))
