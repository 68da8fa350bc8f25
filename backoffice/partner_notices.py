"""Mails to partners about keys and SFTP logins that operators or members created, changed or removed.

A periodic task reads the events of these changes in the order of their numbers. A mail contains no secret and
does not name the person who made the change.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from enum import Enum
from smtplib import SMTPDataError, SMTPRecipientsRefused
from time import monotonic
from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.db.models import Max, QuerySet
from django.utils import timezone

from accounts.member_roles import MemberRole
from accounts.models import Member
from backoffice.models import DelayedNotice, Digest, NoticeBookmark
from events.models import ACCOUNTS, Event

logger = logging.getLogger(__name__)

WINDOW = 5_000
"""The most events in a window. A window of numbers would be empty in the gap before a new epoch."""
SECONDS = 10.0
GIVEN_UP = timedelta(days=1)
"""The age at which a failing mail is given up."""
DELAY = timedelta(minutes=5)
"""The time between two tries of a mail that the mail server refuses for now."""

REFUSED = 500
"""The lowest code of SMTP for an answer that a later try does not change."""


class MailResult(Enum):
    """The result of the try to mail one notice."""

    HANDLED = "handled"
    """The mail was sent, is not needed, or is given up."""
    REFUSED_FOR_NOW = "refused_for_now"
    """The mail server refuses this mail for now. The mails to other addresses do not wait for it."""
    FAILED = "failed"
    """The mail server cannot be reached or used, so all mails wait."""


HAPPENED = {
    "api_key.created": "A new API key was created for {party}.",
    "api_key.rotated": "An API key of {party} was replaced. The old key works for another 24 hours.",
    "api_key.revoked": "An API key of {party} was revoked. It no longer works.",
    "sftp_login.created": "An SFTP login was created for {party}.",
    "sftp_login.updated": "The SFTP login of {party} was changed.",
    "sftp_login.deleted": "The SFTP login of {party} was removed. It no longer works.",
}
SECRETS_CHANGED = ("password_set", "keys_added", "keys_removed")


def send_notices() -> int:
    """Mail the notices about new events, then the delayed notices. Return the number of handled events.

    Events without a recipient count as handled. Without EMAIL_URL, all events count as handled.
    """
    end = monotonic() + SECONDS
    return _send_new(end) + _send_delayed(end)


def _send_new(end: float) -> int:
    """Mail the notices about new events until the moment `end` of `monotonic`."""
    sent = 0
    while monotonic() < end and (window := _next_window()):
        first, last = window
        events = _events(number__gt=first, number__lte=last, area=ACCOUNTS, type__in=HAPPENED)
        for event in events.order_by("number"):
            assert event.number is not None  # the filter leaves out NULL
            if not _move(first, event.number):
                return sent  # another worker sends the mails
            result = _notify(event)
            if result is MailResult.FAILED:
                _move(event.number, first)
                return sent
            if result is MailResult.REFUSED_FOR_NOW:
                DelayedNotice.objects.create(number=event.number, next_try_at=timezone.now() + DELAY)
            first, sent = event.number, sent + 1
        _move(first, last)
    return sent


def _send_delayed(end: float) -> int:
    """Try the delayed notices again until the moment `end` of `monotonic`."""
    sent, now = 0, timezone.now()
    for notice in DelayedNotice.objects.filter(next_try_at__lte=now).order_by("next_try_at"):
        if monotonic() >= end:
            break
        unclaimed = DelayedNotice.objects.filter(pk=notice.pk, next_try_at=notice.next_try_at)
        if not unclaimed.update(next_try_at=now + DELAY):
            continue  # another worker sends the mail
        event = _events(number=notice.number).first()
        if event is None or _notify(event) is MailResult.HANDLED:
            notice.delete()
            sent += 1
    return sent


def _events(**fields: object) -> QuerySet[Event]:
    return Event.objects.filter(**fields).select_related("supplier", "retailer")


def _next_window() -> tuple[int, int] | None:
    """Return the number of the last handled event, and the last number of the next window.

    Return None if there are no new events.
    """
    newest = Event.objects.aggregate(number=Max("number"))["number"] or 0
    # Begin the first run after the newest event, because partners must not get mails about old keys.
    bookmark, _ = NoticeBookmark.objects.get_or_create(pk=1, defaults={"number": newest})
    new = Event.objects.filter(number__gt=bookmark.number).order_by("number")[:WINDOW]
    last = new.aggregate(number=Max("number"))["number"]
    return None if last is None else (bookmark.number, last)


def _move(before: int, after: int) -> bool:
    """Set the bookmark forward to claim events, or back to release events.

    Return False, and change nothing, if another worker has changed the bookmark. Only one worker can claim an
    event, so two workers never send the same mail.
    """
    return bool(NoticeBookmark.objects.filter(pk=1, number=before).update(number=after))


def _notify(event: Event) -> MailResult:
    """Mail one notice, and tell whether the notice is handled."""
    addresses = _addresses(event)
    if not (settings.EMAIL_URL and addresses and _concerns_login(event.data, event.type)):
        return MailResult.HANDLED
    try:
        send_mail(*_subject_and_text(event), None, addresses)
    except Exception as error:  # mail backends raise many kinds of errors
        logger.exception("the notice about event %s was not sent", event.number)
        given_up = event.occurred_at < timezone.now() - GIVEN_UP
        return MailResult.HANDLED if given_up else _result_of(error)
    return MailResult.HANDLED


def _result_of(error: Exception) -> MailResult:
    """Return the result of a try that ended with this error."""
    if isinstance(error, SMTPRecipientsRefused):
        codes = [code for code, _ in error.recipients.values()]
    elif isinstance(error, SMTPDataError):
        codes = [error.smtp_code]
    else:
        return MailResult.FAILED
    return MailResult.HANDLED if min(codes) >= REFUSED else MailResult.REFUSED_FOR_NOW


def _addresses(event: Event) -> list[str]:
    """Return the addresses of the party's contact and of the party's owners, without duplicates.

    The address of a supplier's digest replaces a missing contact address.
    """
    party = event.supplier or event.retailer
    if party is None:
        return []
    contact = party.contact_email
    if not contact and event.supplier_id is not None:
        digests = Digest.objects.filter(supplier_id=event.supplier_id)
        contact = digests.values_list("address", flat=True).first() or ""
    owners = Member.objects.active().of_party(party).filter(member_role=MemberRole.OWNER)
    named = dict.fromkeys([contact, *owners.values_list("user__email", flat=True)])
    return [address for address in named if address]


def _concerns_login(data: dict[str, Any], type: str) -> bool:  # noqa: A002 - the field's name in the API
    """Return False for an updated login with the same `is_active` and the same secrets, else True."""
    changed = data.get("changed", {})
    lets_in = "is_active" in changed or any(data.get(name) for name in SECRETS_CHANGED)
    return type != "sftp_login.updated" or lets_in


def _subject_and_text(event: Event) -> tuple[str, str]:
    subject = HAPPENED[event.type].format(party=event.supplier or event.retailer)
    data = event.data
    named = [
        ("Key", " ".join(str(data[name]) for name in ("name", "prefix") if data.get(name))),
        ("New key", data.get("successor", "")),
        ("Login", data.get("sftp_login", "")),
        ("New public keys", ", ".join(data.get("keys_added", ()))),
        ("Removed public keys", ", ".join(data.get("keys_removed", ()))),
        ("Password", "changed" if data.get("password_set") else ""),
        ("Time", f"{event.occurred_at:%-d %b %Y, %H:%M} UTC"),
    ]
    lines = [f"{label}: {text}" for label, text in named if text]
    end = "If you did not expect this, ask the operators of this service. This mail holds no secret."
    return subject.split(". ")[0].rstrip("."), "\n".join([subject, "", *lines, "", end, ""])
