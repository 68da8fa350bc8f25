"""Parts of the service that have fallen silent: their processes gave signs of life, and give none now."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import BigIntegerField, F, Q, QuerySet, Value
from django.utils import timezone
from redis.exceptions import RedisError

from api.signs_of_life import PartOnHost, all_signs, parts_on_hosts
from backoffice.models import ServicePart

Silent = dict[tuple[str, str], datetime]
"""When each silent part of a host was last heard of."""


def silent_parts() -> QuerySet[Any]:
    """What fell silent without taking its leave, but for what somebody said was taken away.

    They are kept as rows, so that notes have something to hold on to. Where Redis is away nobody can say who
    lives, and Redis itself is the silent part.
    """
    try:
        silent = _silent(parts_on_hosts(all_signs()))
    except RedisError:
        silent = {("redis", ""): timezone.now()}
    gone = Q(taken_away_at__gte=F("heard_at"))
    found = ServicePart.objects.filter(pk__in=_kept(silent)).exclude(gone)
    return found.annotate(of_supplier=Value(None, output_field=BigIntegerField()))


def _silent(found: Iterable[PartOnHost]) -> Silent:
    """What ended without a word lately; for a day, where no other host has it."""
    found = list(found)
    lives = {place.part for place in found if place.alive}
    now = timezone.now()
    return {
        (place.part, place.host): now - timedelta(seconds=place.age)
        for place in found
        if place.missed or not place.alive and place.part not in lives
    }


def _kept(silent: Silent) -> list[int]:
    """The rows of these parts: one query, and one more where there is news of any."""
    if not silent:
        return []
    names, hosts = zip(*silent, strict=True)
    known = ServicePart.objects.filter(name__in=names, host__in=hosts)
    rows = {(part.name, part.host): part for part in known}
    news = [
        ServicePart(name=name, host=host, heard_at=heard_at)
        for (name, host), heard_at in silent.items()
        if (name, host) not in rows or rows[name, host].heard_at < heard_at - timedelta(seconds=1)
    ]
    if news:  # as another page may keep them at this moment, too
        unique = ["name", "host"]
        ServicePart.objects.bulk_create(
            news, update_conflicts=True, unique_fields=unique, update_fields=["heard_at"]
        )
    rows |= {(part.name, part.host): part for part in news}
    return [rows[key].pk for key in silent]
