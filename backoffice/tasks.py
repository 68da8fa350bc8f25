"""Celery tasks of the back office.

Each task searches its tables for due work, so a missed call does no harm.
"""

import logging

from celery import shared_task

from accounts.models import ContactMessage
from backoffice.contacts import sending as messages
from backoffice.digests import sending as digests
from backoffice.market import sum_up
from backoffice.navigation.counting import count_waiting
from backoffice.partner_notices import send_notices as send_new_notices
from backoffice.retention import prune
from backoffice.suspending import services as suspending

logger = logging.getLogger(__name__)


@shared_task  # type: ignore[untyped-decorator]
def end_suspensions() -> None:
    """End the suspensions whose day to resume trade has come."""
    suspending.end_expired()


@shared_task  # type: ignore[untyped-decorator]
def send_digests() -> None:
    """Send the digests that are due."""
    digests.send_due()


@shared_task  # type: ignore[untyped-decorator]
def send_notices() -> None:
    """Mail partners about changed keys and logins."""
    send_new_notices()


@shared_task(name=messages.TASK)  # type: ignore[untyped-decorator]
def send_message(message_id: int) -> None:
    """Mail one message of an operator to a contact."""
    messages.send(message_id)


@shared_task  # type: ignore[untyped-decorator]
def sweep_messages() -> None:
    """Wake workers for the messages that are due."""
    for message_id in ContactMessage.unfinished():
        messages.wake(message_id)


@shared_task  # type: ignore[untyped-decorator]
def forget() -> None:
    """Delete a limited number of expired rows from each table. Later runs delete the remaining rows."""
    gone = prune()
    if gone:
        logger.info("removed %s", ", ".join(f"{count} {name}" for name, count in gone.items()))


@shared_task  # type: ignore[untyped-decorator]
def count() -> None:
    """Refresh the counts of the menu."""
    count_waiting()


@shared_task  # type: ignore[untyped-decorator]
def sum_market() -> None:
    """Refresh the numbers of the home page."""
    sum_up()
