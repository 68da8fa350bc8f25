from __future__ import annotations

import factory
from django.utils import timezone

from backoffice.models import Digest, MessageTemplate, RecordComment, ServicePart
from tests.factories.accounts import SupplierFactory
from tests.factories.base import ModelFactory


class DigestFactory(ModelFactory[Digest]):
    """A supplier's digest."""

    class Meta:
        model = Digest

    supplier = factory.SubFactory(SupplierFactory)
    address = factory.LazyAttribute(lambda digest: f"desk@{digest.supplier.name.lower()}.example")


class MessageTemplateFactory(ModelFactory[MessageTemplate]):
    class Meta:
        model = MessageTemplate

    name = factory.Sequence(lambda n: f"Template {n}")


class RecordCommentFactory(ModelFactory[RecordComment]):
    """A comment on a given record."""

    class Meta:
        model = RecordComment


class ServicePartFactory(ModelFactory[ServicePart]):
    """A part that just fell silent."""

    class Meta:
        model = ServicePart

    name = "ticker"
    host = factory.Sequence(lambda n: f"web-{n}")
    heard_at = factory.LazyFunction(timezone.now)
