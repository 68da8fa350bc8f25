"""The table of an import's statuses and moves (contract 6 and 12): pure data, and the questions asked of it.

Models, admin and tests read this; nothing else knows which move is legal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.db import models

from accounts.actors import ActorKind
from api.errors import InvalidTransition


class Status(models.TextChoices):
    """Stored and answered exactly as the interface writes them."""

    QUEUED = "queued"
    RUNNING = "running"
    AWAITING_APPROVAL = "awaiting_approval"
    SUCCEEDED = "succeeded"
    SUCCEEDED_WITH_ERRORS = "succeeded_with_errors"
    FAILED = "failed"
    CANCELED = "canceled"


QUEUED, RUNNING, AWAITING_APPROVAL = Status.QUEUED, Status.RUNNING, Status.AWAITING_APPROVAL
SUCCEEDED, SUCCEEDED_WITH_ERRORS = Status.SUCCEEDED, Status.SUCCEEDED_WITH_ERRORS
FAILED, CANCELED = Status.FAILED, Status.CANCELED

# A worker has it, or it waits for one.
UNFINISHED: Final = (QUEUED, RUNNING)
# Its file is needed no longer.
DONE_WITH_FILE: Final = (SUCCEEDED, SUCCEEDED_WITH_ERRORS, CANCELED)

PEOPLE = (ActorKind.SUPPLIER, ActorKind.OPERATOR)
SYSTEM = (ActorKind.SYSTEM,)


@dataclass(frozen=True)
class Move:
    """One thing that can happen to an import.

    It ends in `target`, or in one of `otherwise`. A `fenced` one is made only by the worker that holds the
    lease. In the status `repeated_in` the same call again changes nothing. Without an `event` it leaves none.
    """

    name: str
    done: str  # as messages say it: "cannot be …"
    event: str
    sources: tuple[Status, ...]
    target: Status
    by: tuple[ActorKind, ...]
    otherwise: tuple[Status, ...] = ()
    fenced: bool = False
    repeated_in: Status | None = None

    @property
    def targets(self) -> tuple[Status, ...]:
        return (self.target, *self.otherwise)

    def is_possible(self, status: str, actor: ActorKind) -> bool:
        return status in self.sources and actor in self.by

    def check(self, status: str, actor: ActorKind) -> None:
        """Raise InvalidTransition unless this actor may make this move from that status."""
        if not self.is_possible(status, actor):
            raise forbidden(status, self.done, actor)


def forbidden(status: str, done: str, actor: ActorKind) -> InvalidTransition:
    """The refusal that names the status, and what is allowed from it."""
    ways = dict.fromkeys(move.done for move in moves_from(status, actor))
    allowed = f"it can be {' or '.join(ways)}" if ways else "nothing more can be done with it"
    return InvalidTransition(f"This import is {status} and cannot be {done}; {allowed}.")


REFUSE = Move("refuse", "refused", "import.failed", (QUEUED,), FAILED, SYSTEM)
START = Move("start", "started", "import.started", (QUEUED,), RUNNING, SYSTEM)
# The worker before it showed no sign of life.
TAKE_OVER = Move("take_over", "taken over", "", (RUNNING,), RUNNING, SYSTEM)
AWAIT_APPROVAL = Move(
    "await_approval",
    "held back for approval",
    "import.awaiting_approval",
    (RUNNING,),
    AWAITING_APPROVAL,
    SYSTEM,
    fenced=True,
)
SUCCEED = Move(
    "succeed",
    "ended",
    "import.succeeded",
    (RUNNING,),
    SUCCEEDED,
    SYSTEM,
    otherwise=(SUCCEEDED_WITH_ERRORS,),  # some rows were rejected
    fenced=True,
)
FAIL = Move("fail", "failed", "import.failed", (RUNNING,), FAILED, SYSTEM, fenced=True)
# What its worker does once somebody has requested it.
STOP = Move("stop", "stopped", "import.canceled", (RUNNING,), CANCELED, SYSTEM, fenced=True)
CANCEL = Move(
    "cancel",
    "canceled",
    "import.canceled",
    (QUEUED, AWAITING_APPROVAL),
    CANCELED,
    PEOPLE,
    repeated_in=CANCELED,
)
REQUEST_CANCEL = Move("request_cancel", "canceled", "import.cancel_requested", (RUNNING,), RUNNING, PEOPLE)
SUPERSEDE = Move("supersede", "superseded", "import.canceled", (AWAITING_APPROVAL,), CANCELED, SYSTEM)
APPROVE = Move("approve", "approved", "import.approved", (AWAITING_APPROVAL,), QUEUED, PEOPLE)
RETRY = Move("retry", "retried", "import.retried", (FAILED,), QUEUED, PEOPLE)

MOVES: Final = (
    REFUSE,
    START,
    TAKE_OVER,
    AWAIT_APPROVAL,
    SUCCEED,
    FAIL,
    STOP,
    CANCEL,
    REQUEST_CANCEL,
    SUPERSEDE,
    APPROVE,
    RETRY,
)


def moves_from(status: str, actor: ActorKind) -> Iterable[Move]:
    """What this actor may do with an import of that status."""
    return (move for move in MOVES if move.is_possible(status, actor))
