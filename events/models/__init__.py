"""Models of events, webhooks and deliveries (contract 9 and 13)."""

from events.models.delivery import Delivery
from events.models.event import ACCOUNTS, BY_OPERATORS, OPERATORS, Epoch, Event, EventQuerySet, areas_of
from events.models.relay import RelayBookmark, Sender
from events.models.webhook import Webhook, WebhookQuerySet

__all__ = [
    "ACCOUNTS",
    "BY_OPERATORS",
    "OPERATORS",
    "Delivery",
    "Epoch",
    "Event",
    "EventQuerySet",
    "RelayBookmark",
    "Sender",
    "Webhook",
    "WebhookQuerySet",
    "areas_of",
]
