"""Functions that find the due mails to members, and send each mail once.

A worker stores the number of the last covered event before it sends the mail, so that no other worker sends
the same mail.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, time, timedelta
from time import monotonic

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage
from django.db.models import Max, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from accounts.models import MailFrequency, MailSubscription, Member
from events.models import Event
from portal.notifications.topics import MailWindow, topics_of

logger = logging.getLogger(__name__)

AT_ONCE = 200
SECONDS = 5.0
"""The time limit of each half of a run, because other tasks wait for its end. Later runs send the rest."""
DAILY_HOUR = 6
SALT = "portal.notifications"


def due() -> QuerySet[MailSubscription]:
    """Return the subscriptions of active members whose next mail may be sent now."""
    now = timezone.now()
    morning = datetime.combine(now.date(), time(DAILY_HOUR), UTC)
    is_due = Q(frequency=MailFrequency.AT_ONCE) | Q(
        frequency=MailFrequency.HOURLY, checked_at__lte=now - timedelta(hours=1)
    )
    if now >= morning:
        is_due |= Q(frequency=MailFrequency.DAILY, checked_at__lt=morning)
    return MailSubscription.objects.filter(is_due, member__in=Member.objects.active())


def send_due() -> int:
    """Send the due mails, and return their number. Without EMAIL_URL, send nothing and return 0.

    Failed mails are sent in their own half of the run: a mail server may be slow to refuse a mail. Their
    order is random, so that no failing mail always comes first.
    """
    if not settings.EMAIL_URL:
        return 0
    related = due().select_related("member__user", "member__supplier", "member__retailer")
    halves = (
        list(related.filter(last_error="").order_by("checked_at", "id")[:AT_ONCE]),
        list(related.exclude(last_error="").order_by("?")[:AT_ONCE]),
    )
    newest = newest_event()
    return sum(_send_in_time(half, newest) for half in halves)


def _send_in_time(subscriptions: list[MailSubscription], newest: int) -> int:
    end, sent = monotonic() + SECONDS, 0
    for subscription in subscriptions:
        sent += _send(subscription, newest)
        if monotonic() > end:
            break
    return sent


def newest_event() -> int:
    """Return the number of the newest event. A new subscription begins after this event."""
    return Event.objects.aggregate(number=Max("number"))["number"] or 0


def _send(subscription: MailSubscription, newest: int) -> bool:
    member, now = subscription.member, timezone.now()
    before = {"after": subscription.after, "checked_at": subscription.checked_at}
    until = max(newest, subscription.after)
    claimed = {"after": until, "checked_at": now}
    rows = MailSubscription.objects.filter(pk=subscription.pk)
    if not rows.filter(**before).update(**claimed, last_error=""):
        return False  # another worker sends this mail
    window = MailWindow(member.party, subscription.after, until, since=subscription.checked_at, now=now)
    try:
        text = text_of(subscription, window)
        if text:
            _mail(member, text)
        return bool(text)
    except Exception as error:  # a failing mail must not block other mails
        logger.exception("the mail of subscription %s was not sent", subscription.pk)
        rows.filter(**claimed).update(**before, last_error=f"{type(error).__name__}: {error}"[:300])
        return False


def text_of(subscription: MailSubscription, window: MailWindow) -> str:
    """Return the text of a mail, or an empty text if the mail has nothing to report."""
    parts = gap_lines(window)
    for topic in topics_of(window.party.role):
        lines = [*topic.lines(window)] if topic.name in subscription.topics else []
        if lines:
            parts += [topic.label, "", *lines, ""]
    return "\n".join(parts)


def gap_lines(window: MailWindow) -> list[str]:
    """Return a notice if mails failed for so long that some events are too old for this mail."""
    if window.since >= window.oldest:
        return []
    return [
        f"No mail could be sent to you after {window.since:%-d %b %Y, %H:%M} UTC.",
        f"Events before {window.oldest:%-d %b %Y, %H:%M} UTC are not in this mail. See all open work:",
        f"  {settings.BASE_URL}{reverse('portal:today')}",
        "",
    ]


def _mail(member: Member, text: str) -> None:
    stop = stop_link(member)
    change = settings.BASE_URL + reverse("portal:notifications", args=["change"])
    end = f"Change these mails: {change}\nStop all of them: {stop}\n"
    EmailMessage(
        f"{member.party}: news of the portal",
        f"{text}\n{end}",
        to=[member.user.email],
        headers={"List-Unsubscribe": f"<{stop}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
    ).send()


def stop_link(member: Member) -> str:
    """Return the link with which a member stops all mails without signing in."""
    return settings.BASE_URL + reverse("portal:stop_mails", args=[signing.dumps(member.pk, salt=SALT)])


def member_of_link(token: str) -> int | None:
    """Return the id of the member that a stop link belongs to, or None for an invalid link."""
    try:
        member_id: int = signing.loads(token, salt=SALT)
    except signing.BadSignature:
        return None
    return member_id
