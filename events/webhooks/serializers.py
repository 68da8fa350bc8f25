"""Bodies of requests and answers for webhooks (contract 13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NotRequired, TypedDict

from rest_framework import serializers

from api.bodies import Body, names_of_switch
from api.envelope import ResultJson
from api.fields import Array, Flag, Integer, Text
from api.renderers import iso
from events.models import Delivery, Webhook
from events.models.webhook import LONGEST_URL
from events.states import DeliveryStatus
from events.webhooks.selectors import WebhookBacklog
from events.webhooks.targets import WrongWebhookUrl, parse_url

MOST_TYPES = 100


class UrlField(Text):
    """A field for a URL that can receive deliveries."""

    def __init__(self, **kwargs: object) -> None:
        super().__init__(max_length=LONGEST_URL, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        url = super().to_internal_value(data)
        try:
            parse_url(url)
        except WrongWebhookUrl as error:
            raise serializers.ValidationError(str(error), code="invalid_url") from error
        return url


class WebhookBody(Body):
    """The fields of a webhook that a party sets."""

    narrowed_by = "types"
    often_meant: ClassVar[Mapping[str, str]] = {
        **names_of_switch("active"),
        **dict.fromkeys(("events", "event_types", "event", "topics"), "types"),
    }

    url = UrlField(help_text="https://, without user and password. Redirects are not followed.")
    types = Array(
        child=Text(max_length=50),
        required=False,
        max_length=MOST_TYPES,
        help_text="The types of events to send. Empty: all types that the scopes of the creating key cover.",
    )
    active = Flag(required=False, help_text="While false, no events are sent or queued.")


class ReplayBody(Body):
    """The range of the feed to send again."""

    narrowed_by = "until"

    after = Integer(min_value=0, max_value=10**18 - 1, help_text="The id of the last event that you have.")
    until = Integer(
        min_value=0,
        max_value=10**18 - 1,
        required=False,
        allow_null=True,
        help_text="The id of the last event to send. Default: the last event of the feed.",
    )


class WebhookJson(TypedDict):
    """A webhook and the recent answers of its receiver. `secret` is shown only after create and rotate."""

    id: int
    url: str
    types: list[str]
    areas: list[str]
    active: bool
    created_at: str
    waiting: int
    dead: int
    delivered_at: str | None
    failed_at: str | None
    failing_since: str | None
    last_error: str
    old_secret_until: str | None
    secret: NotRequired[str]


class WebhooksJson(TypedDict):
    """A page of webhooks, ordered by id."""

    next: str | None
    previous: str | None
    results: list[WebhookJson]


class DeliveryJson(TypedDict):
    """A delivery of an event to a webhook. `event_id` is the event's `id` in the feed."""

    id: int
    event_id: int
    status: DeliveryStatus
    attempts: int
    last_status: int | None
    last_error: str
    attempted_at: str | None
    next_attempt_at: str | None


class DeliveriesJson(TypedDict):
    """A page of deliveries, the newest event first."""

    next: str | None
    previous: str | None
    results: list[DeliveryJson]


class ReplayJson(ResultJson):
    """The number of deliveries in a replay."""

    deliveries: int


def webhook_json(webhook: Webhook, backlog: WebhookBacklog, secret: str = "") -> WebhookJson:
    body: WebhookJson = {
        "id": webhook.pk,
        "url": webhook.url,
        "types": webhook.types,
        "areas": webhook.areas,
        "active": webhook.active,
        "created_at": iso(webhook.created_at),
        "waiting": backlog.waiting,
        "dead": backlog.dead,
        "delivered_at": iso(webhook.delivered_at),
        "failed_at": iso(webhook.failed_at),
        "failing_since": iso(webhook.failing_since),
        "last_error": webhook.last_error,
        "old_secret_until": iso(webhook.old_secret_until),
    }
    if secret:
        body["secret"] = secret
    return body


def delivery_json(delivery: Delivery) -> DeliveryJson:
    return {
        "id": delivery.pk,
        "event_id": delivery.event_id,
        "status": DeliveryStatus(delivery.status),
        "attempts": delivery.attempts,
        "last_status": delivery.last_status,
        "last_error": delivery.last_error,
        "attempted_at": iso(delivery.attempted_at),
        "next_attempt_at": iso(delivery.next_attempt_at),
    }
