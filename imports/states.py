"""The statuses of an import and the allowed changes of status (contract 6 and 12), as pure data.

Models, admin and tests read this table. No other module defines which changes are allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.db import models

from accounts.actors import ActorKind
from api.errors import InvalidTransition


class Status(models.TextChoices):
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

# Statuses of jobs that run or wait for a worker.
UNFINISHED: Final = (QUEUED, RUNNING)
# Statuses of jobs that no longer need their file.
DONE_WITH_FILE: Final = (SUCCEEDED, SUCCEEDED_WITH_ERRORS, CANCELED)

PEOPLE = (ActorKind.SUPPLIER, ActorKind.OPERATOR)
SYSTEM = (ActorKind.SYSTEM,)


@dataclass(frozen=True)
class JobMove:
    """A change of an import's status.

    The new status is `target` or one of `otherwise`. Only the holder of the lease may make a `fenced` change.
    A job in the status `repeated_in` stays unchanged. A change with an empty `event` records no event.
    """

    name: str
    done: str  # the participle in messages: "cannot be …"
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
        """Raise InvalidTransition unless this actor may make this change in a job with this status."""
        if not self.is_possible(status, actor):
            raise forbidden(status, self.done, actor)


def forbidden(status: str, done: str, actor: ActorKind) -> InvalidTransition:
    """Return the error for a refused change. Its message names the status and the allowed changes."""
    ways = dict.fromkeys(move.done for move in moves_from(status, actor))
    allowed = f"it can be {' or '.join(ways)}" if ways else "no further action is possible"
    return InvalidTransition(f"This import is {status} and cannot be {done}; {allowed}.")


REFUSE = JobMove("refuse", "refused", "import.failed", (QUEUED,), FAILED, SYSTEM)
START = JobMove("start", "started", "import.started", (QUEUED,), RUNNING, SYSTEM)
# The lease of the previous worker has expired.
TAKE_OVER = JobMove("take_over", "taken over", "", (RUNNING,), RUNNING, SYSTEM)
AWAIT_APPROVAL = JobMove(
    "await_approval",
    "held back for approval",
    "import.awaiting_approval",
    (RUNNING,),
    AWAITING_APPROVAL,
    SYSTEM,
    fenced=True,
)
SUCCEED = JobMove(
    "succeed",
    "ended",
    "import.succeeded",
    (RUNNING,),
    SUCCEEDED,
    SYSTEM,
    otherwise=(SUCCEEDED_WITH_ERRORS,),  # if some rows were rejected
    fenced=True,
)
FAIL = JobMove("fail", "failed", "import.failed", (RUNNING,), FAILED, SYSTEM, fenced=True)
# The worker stops, because a person asked to cancel the job.
STOP = JobMove("stop", "stopped", "import.canceled", (RUNNING,), CANCELED, SYSTEM, fenced=True)
CANCEL = JobMove(
    "cancel",
    "canceled",
    "import.canceled",
    (QUEUED, AWAITING_APPROVAL),
    CANCELED,
    PEOPLE,
    repeated_in=CANCELED,
)
REQUEST_CANCEL = JobMove("request_cancel", "canceled", "import.cancel_requested", (RUNNING,), RUNNING, PEOPLE)
SUPERSEDE = JobMove(
    "supersede", "superseded", "import.canceled", (QUEUED, AWAITING_APPROVAL), CANCELED, SYSTEM
)
APPROVE = JobMove("approve", "approved", "import.approved", (AWAITING_APPROVAL,), QUEUED, PEOPLE)
RETRY = JobMove("retry", "retried", "import.retried", (FAILED,), QUEUED, PEOPLE)

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


def moves_from(status: str, actor: ActorKind) -> Iterable[JobMove]:
    """Return the moves that this actor may make for a job with this status."""
    return (move for move in MOVES if move.is_possible(status, actor))
