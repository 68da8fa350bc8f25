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
SECONDS = 10.0
"""The time limit of one run: other tasks wait until the run ends. Later runs send the remaining mails."""
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
    """Send the due mails, and return their number. Without EMAIL_URL, send nothing and return 0."""
    if not settings.EMAIL_URL:
        return 0
    end, sent, newest = monotonic() + SECONDS, 0, newest_event()
    related = due().select_related("member__user", "member__supplier", "member__retailer")
    for subscription in related.order_by("checked_at", "id")[:AT_ONCE]:
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
    except Exception as error:  # one failing mail must not block the others
        logger.exception("the mail of subscription %s was not sent", subscription.pk)
        rows.filter(**claimed).update(**before, last_error=f"{type(error).__name__}: {error}"[:300])
        return False


def text_of(subscription: MailSubscription, window: MailWindow) -> str:
    """Return the text of a mail, or an empty text if no topic has lines."""
    parts: list[str] = []
    for topic in topics_of(window.party.role):
        lines = [*topic.lines(window)] if topic.name in subscription.topics else []
        if lines:
            parts += [topic.label, "", *lines, ""]
    return "\n".join(parts)


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
