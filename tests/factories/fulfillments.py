from __future__ import annotations

from datetime import timedelta

import factory
from django.utils import timezone

from fulfillments.models import DailySum, Return, RoutingSimulation, Shipment, SlipTemplate
from tests.factories.accounts import RetailerFactory, SupplierFactory
from tests.factories.base import ModelFactory


class RoutingSimulationFactory(ModelFactory[RoutingSimulation]):
    """A simulation that was requested yesterday, and that no worker has begun."""

    class Meta:
        model = RoutingSimulation

    supplier = factory.SubFactory(SupplierFactory)
    first_day = factory.LazyFunction(lambda: timezone.now().date() - timedelta(days=1))
    last_day = factory.SelfAttribute("first_day")
    most = 100
    actor = "user:olga"


class DailySumFactory(ModelFactory[DailySum]):
    """A daily sum of today that counts one created fulfillment."""

    class Meta:
        model = DailySum

    supplier_id = 1
    retailer_id = 0
    day = factory.LazyFunction(lambda: timezone.now().date())
    measure = "created"
    count = 1


class ShipmentFactory(ModelFactory[Shipment]):
    """A parcel of a given fulfillment, without units."""

    class Meta:
        model = Shipment

    tracking_number = factory.Sequence("1Z-{}".format)


class ReturnFactory(ModelFactory[Return]):
    """A return of a given fulfillment, without units."""

    class Meta:
        model = Return

    reason = "too large"


class SlipTemplateFactory(ModelFactory[SlipTemplate]):
    """The template of a retailer, with the default look."""

    class Meta:
        model = SlipTemplate

    retailer = factory.SubFactory(RetailerFactory)
