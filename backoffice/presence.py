"""The names of the operators who have a record's page open. Redis keeps each name for 30 seconds."""

from __future__ import annotations

import functools
import logging
import time

import redis
from django.conf import settings
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, JsonResponse
from redis.exceptions import RedisError

from api.redis_clients import redis_client

logger = logging.getLogger(__name__)

SECONDS = 30
ANSWER_WITHIN = 1.0
KEY = "exchange:looking-at:{model}:{pk}"


def presence_page(
    site: AdminSite, request: HttpRequest, app_label: str, model_name: str, pk: int
) -> JsonResponse:
    """Store that this operator looks at a record, and return the names of the other operators."""
    if not request.user.has_perm(f"{app_label}.view_{model_name}"):
        raise PermissionDenied
    return JsonResponse({"names": look_at(f"{app_label}.{model_name}", pk, request.user.get_username())})


def look_at(model: str, pk: int, name: str) -> list[str]:
    """Store this operator's name. Return the other operators of the last 30 seconds, or [] without Redis."""
    key, now = KEY.format(model=model, pk=pk), time.time()
    try:
        with _client().pipeline() as steps:
            steps.zadd(key, {name: now})
            steps.zremrangebyscore(key, 0, now - SECONDS)
            steps.expire(key, SECONDS)
            steps.zrange(key, 0, -1)
            names: list[str] = steps.execute()[-1]
    except RedisError as error:
        logger.warning("presence is unknown: %s", error)
        return []
    return [each for each in names if each != name]


@functools.cache
def _client() -> redis.Redis:
    return redis_client(settings.REDIS_URL, seconds=ANSWER_WITHIN, decode_responses=True)
