"""Parts of the service that have fallen silent: their processes gave signs of life, and give none now."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import BigIntegerField, F, Q, QuerySet, Value
from django.utils import timezone
from redis.exceptions import RedisError

from api.signs_of_life import Sign, all_signs
from backoffice.models import ServicePart

Silent = dict[tuple[str, str], datetime]
"""When each silent part of a host was last heard of."""


def silent_parts() -> QuerySet[Any]:
    """What was alive within a day and is not now, but for what somebody said was taken away.

    They are kept as rows, so that notes have something to hold on to. Where Redis is away nobody can say who
    lives, and Redis itself is the silent part.
    """
    try:
        silent = _silent(all_signs())
    except RedisError:
        silent = {("redis", ""): timezone.now()}
    rows = [_kept(name, host, heard_at) for (name, host), heard_at in silent.items()]
    gone = Q(taken_away_at__gte=F("heard_at"))
    found = ServicePart.objects.filter(pk__in=rows).exclude(gone)
    return found.annotate(of_supplier=Value(None, output_field=BigIntegerField()))


def _silent(signs: Iterable[Sign]) -> Silent:
    """A part lives on a host while one of its processes there does: others have been replaced."""
    found: dict[tuple[str, str], Sign] = {}
    for sign in signs:
        known = found.get((sign.part, sign.host))
        if known is None or sign.age < known.age:
            found[sign.part, sign.host] = sign
    now = timezone.now()
    return {key: now - timedelta(seconds=sign.age) for key, sign in found.items() if not sign.alive}


def _kept(name: str, host: str, heard_at: datetime) -> int:
    part, _ = ServicePart.objects.get_or_create(name=name, host=host, defaults={"heard_at": heard_at})
    if part.heard_at < heard_at - timedelta(seconds=1):
        ServicePart.objects.filter(pk=part.pk).update(heard_at=heard_at)
    return part.pk
