"""Webhooks that fail: their receiver is down, or deliveries were given up."""

from __future__ import annotations

from typing import Any

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from events.admin_filters import LATELY
from events.models import Delivery, Webhook
from events.states import DEAD


def failing_webhooks() -> QuerySet[Any]:
    """Return active webhooks whose receiver is down or that have dead deliveries."""
    down = Q(failing_since__isnull=False, failing_since__lt=timezone.now() - LATELY)
    dead = Delivery.objects.filter(webhook=OuterRef("pk"), status=DEAD)
    webhooks = Webhook.objects.present().filter(active=True).select_related("supplier", "retailer")
    return webhooks.annotate(
        is_down=ExpressionWrapper(down, output_field=BooleanField()),
        has_dead=Exists(dead),
        waits_since=Coalesce("failing_since", "failed_at", "created_at"),
    ).filter(Q(is_down=True) | Q(has_dead=True))
