"""Celery tasks of the portal. Each task searches its table for due work, so a missed call does no harm."""

from celery import shared_task

from portal.notifications.sending import send_due


@shared_task  # type: ignore[untyped-decorator]
def send_notifications() -> None:
    """Mail members about the topics that they chose."""
    send_due()
