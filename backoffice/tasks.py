"""Celery shells: each looks through its table, so that a call that was missed is harmless."""

from celery import shared_task

from backoffice.suspending import services as suspending


@shared_task  # type: ignore[untyped-decorator]
def end_suspensions() -> None:
    """Let those trade again whose day has come."""
    suspending.end_expired()
