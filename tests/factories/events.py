from __future__ import annotations

from datetime import timedelta

import factory
from django.utils import timezone

from events.models import Delivery, Sender, Webhook
from tests.factories.accounts import RetailerFactory
from tests.factories.base import ModelFactory


class SenderFactory(ModelFactory[Sender]):
    """A process that has just shown a sign of life."""

    class Meta:
        model = Sender

    name = "host:1"


class WebhookFactory(ModelFactory[Webhook]):
    """A retailer's webhook for all event types; only `read_secrets` returns its secret."""

    class Meta:
        model = Webhook

    retailer = factory.SubFactory(RetailerFactory)
    url = "https://shop.example/hooks"
    areas = ("fulfillments", "orders")
    after = 0

    @classmethod
    def _build(cls, model_class: type[Webhook], *args: object, **fields: object) -> Webhook:
        webhook: Webhook = super()._build(model_class, *args, **fields)
        webhook.make_secret()
        return webhook

    @classmethod
    def _create(cls, model_class: type[Webhook], *args: object, **fields: object) -> Webhook:
        webhook = cls._build(model_class, *args, **fields)
        webhook.save(force_insert=True)
        return webhook


class DeliveryFactory(ModelFactory[Delivery]):
    """A delivery that is due now; the test passes its event."""

    class Meta:
        model = Delivery

    webhook = factory.SubFactory(WebhookFactory)
    next_attempt_at = factory.LazyFunction(timezone.now)
    expires_at = factory.LazyFunction(lambda: timezone.now() + timedelta(hours=72))
