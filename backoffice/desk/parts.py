"""Parts of the service that are silent: their processes no longer report a sign of life."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import BigIntegerField, F, Q, QuerySet, Value
from django.utils import timezone
from redis.exceptions import RedisError

from api.signs_of_life import PartOnHost, all_signs, parts_on_hosts
from backoffice.models import ServicePart
from fastdb.standbys.choosing import as_default, primary_connection

Silent = dict[tuple[str, str], datetime]
"""The moment of the last sign of life of each silent part, by the names of the part and its host."""


def silent_parts() -> QuerySet[Any]:
    """Return the parts that fell silent without a shutdown, except parts marked as removed.

    Silent parts are stored as rows, so that notes can refer to them. When Redis is down, no sign of life can
    be read, and Redis itself is returned as the only silent part.
    """
    try:
        silent = _silent(parts_on_hosts(all_signs()))
    except RedisError:
        silent = {("redis", ""): timezone.now()}
    gone = Q(taken_away_at__gte=F("heard_at"))
    found = ServicePart.objects.filter(pk__in=_stored_ids(silent)).exclude(gone)
    return found.annotate(of_supplier=Value(None, output_field=BigIntegerField()))


def _silent(found: Iterable[PartOnHost]) -> Silent:
    """Return the parts that ended without a shutdown and have no living process on their host.

    A part stays in the result for an hour if another host runs the same part, else for a day.
    """
    found = list(found)
    lives = {part.part for part in found if part.alive}
    now = timezone.now()
    return {
        (part.part, part.host): now - timedelta(seconds=part.age)
        for part in found
        if part.missed or not part.alive and part.part not in lives
    }


def _stored_ids(silent: Silent) -> list[int]:
    """Store the silent parts and return the ids of their rows. New silent parts need a second query."""
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
    if news:
        unique = ["name", "host"]
        # Use `update_conflicts`: another request may store the same parts at this moment.
        with as_default(primary_connection()):  # the counts of the menu are read from a standby
            ServicePart.objects.bulk_create(
                news, update_conflicts=True, unique_fields=unique, update_fields=["heard_at"]
            )
    rows |= {(part.name, part.host): part for part in news}
    return [rows[key].pk for key in silent]
