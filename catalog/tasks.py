"""What beat rings for."""

from __future__ import annotations

from celery import shared_task

from catalog import pulse


@shared_task  # type: ignore[untyped-decorator]
def take_pulse() -> None:
    pulse.forget_another_past()
    pulse.beat()


@shared_task  # type: ignore[untyped-decorator]
def thin_pulses() -> None:
    pulse.thin_out()
