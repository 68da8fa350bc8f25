"""The mailing of digests: the first worker that claims a digest sends it, once a day."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, time
from time import monotonic

from django.conf import settings
from django.core.mail import send_mail
from django.db.models import Q, QuerySet
from django.utils import timezone

from backoffice.digests.texts import for_operator, for_supplier
from backoffice.models import Digest

logger = logging.getLogger(__name__)

AT_ONCE = 50
SECONDS = 10.0
"""The time limit of one run, because other tasks wait for its end. Later runs send the remaining digests."""


def due() -> QuerySet[Digest]:
    """Return the digests whose hour has come today (UTC) and that were not sent today."""
    now = timezone.now()
    midnight = datetime.combine(now.date(), time(), UTC)
    unsent = Q(sent_at=None) | Q(sent_at__lt=midnight)
    wanted = Digest.objects.filter(unsent, enabled=True, hour__lte=now.hour).exclude(user__is_active=False)
    return wanted.exclude(user__is_staff=False)


def send_due() -> int:
    """Send the due digests, failed digests last. Return the number of sent mails.

    Without EMAIL_URL, send nothing and return 0. The next run sends the digests that remain.
    """
    if not settings.EMAIL_URL:
        return 0
    end, sent = monotonic() + SECONDS, 0
    for digest in due().select_related("user", "supplier").order_by("last_error", "id")[:AT_ONCE]:
        sent += _send(digest)
        if monotonic() > end:
            break
    return sent


def _send(digest: Digest) -> bool:
    """Claim the digest before sending it, so that only one worker sends it. A failure undoes the claim."""
    before, now = digest.sent_at, timezone.now()
    if not due().filter(pk=digest.pk, sent_at=before).update(sent_at=now, last_error=""):
        return False
    try:
        subject, text = for_operator(digest.user) if digest.user else for_supplier(digest.supplier)  # type: ignore[arg-type]
        if text:
            send_mail(subject, text, None, [digest.address])
        return bool(text)
    except Exception as error:  # a failing mail must not block other mails
        logger.exception("the digest of %s was not sent", digest)
        message = f"{type(error).__name__}: {error}"[:300]
        Digest.objects.filter(pk=digest.pk, sent_at=now).update(sent_at=before, last_error=message)
        return False
