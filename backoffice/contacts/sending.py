"""The mailing of operators' messages to contacts. A failed mail is repeated for a day."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings
from django.core.mail import send_mail
from django.utils import timezone

from accounts.models import ContactMessage
from fastdb import leased

logger = logging.getLogger(__name__)

TASK = "backoffice.tasks.send_message"
AGAIN_AFTER = timedelta(minutes=5)
GIVEN_UP_AFTER = timedelta(days=1)
NO_CONTACT = "The contact no longer has a mail address."


def send(message_id: int) -> None:
    """Claim one message and mail it. Do nothing if the message is not due or already claimed."""
    message = ContactMessage.claim(message_id, leased.new_owner())
    if message is None:
        return
    contact = message.contact
    if contact is None or not contact.email:
        _save(message, error=NO_CONTACT)
        return
    try:
        send_mail(message.subject, message.text, None, [contact.email])
    except Exception as error:  # noqa: BLE001 - the backends raise many kinds of errors
        logger.warning("message %s was not sent: %s", message.pk, error)
        _fail(message, error)
    else:
        _save_sent(message)


def _fail(message: ContactMessage, error: Exception) -> None:
    now = timezone.now()
    again = now + AGAIN_AFTER if now < message.created_at + GIVEN_UP_AFTER else None
    _save(message, next_try_at=again, error=f"{error}"[:300])


def _save(message: ContactMessage, **fields: object) -> None:
    """Save the result, and release the message. Leave it unchanged if another worker has sent it."""
    message.held().filter(sent_at=None).update(**{"next_try_at": None, "error": "", **fields})
    message.release()


def _save_sent(message: ContactMessage) -> None:
    """Save that the message was sent, even if this worker has lost its lease: it must not be sent again."""
    now = timezone.now()
    ContactMessage.objects.filter(pk=message.pk).update(sent_at=now, next_try_at=None, error="")
    message.release()


def sends_mail() -> bool:
    """Return whether the service has a mail server."""
    return bool(settings.EMAIL_URL)


def wake(message_id: int) -> None:
    leased.wake(TASK, message_id)
