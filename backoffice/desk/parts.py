"""Parts of the service that have fallen silent: their processes gave signs of life, and give none now."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import BigIntegerField, F, Q, QuerySet, Value
from django.utils import timezone
from redis.exceptions import RedisError

from api.signs_of_life import Place, all_signs, places
from backoffice.models import ServicePart

Silent = dict[tuple[str, str], datetime]
"""When each silent part of a host was last heard of."""


def silent_parts() -> QuerySet[Any]:
    """What fell silent without taking its leave, but for what somebody said was taken away.

    They are kept as rows, so that notes have something to hold on to. Where Redis is away nobody can say who
    lives, and Redis itself is the silent part.
    """
    try:
        silent = _silent(places(all_signs()))
    except RedisError:
        silent = {("redis", ""): timezone.now()}
    rows = [_kept(name, host, heard_at) for (name, host), heard_at in silent.items()]
    gone = Q(taken_away_at__gte=F("heard_at"))
    found = ServicePart.objects.filter(pk__in=rows).exclude(gone)
    return found.annotate(of_supplier=Value(None, output_field=BigIntegerField()))


def _silent(found: Iterable[Place]) -> Silent:
    """What ended without a word lately; for a day, where no other host has it."""
    found = list(found)
    lives = {place.part for place in found if place.alive}
    now = timezone.now()
    return {
        (place.part, place.host): now - timedelta(seconds=place.age)
        for place in found
        if place.missed or not place.alive and place.part not in lives
    }


def _kept(name: str, host: str, heard_at: datetime) -> int:
    part, _ = ServicePart.objects.get_or_create(name=name, host=host, defaults={"heard_at": heard_at})
    if part.heard_at < heard_at - timedelta(seconds=1):
        ServicePart.objects.filter(pk=part.pk).update(heard_at=heard_at)
    return part.pk
