from __future__ import annotations

from datetime import timedelta

import factory
from django.utils import timezone

from fulfillments.models import DailySum, RoutingSimulation
from tests.factories.accounts import SupplierFactory
from tests.factories.base import ModelFactory


class RoutingSimulationFactory(ModelFactory[RoutingSimulation]):
    """One that was asked for about yesterday, and that no worker has looked at."""

    class Meta:
        model = RoutingSimulation

    supplier = factory.SubFactory(SupplierFactory)
    first_day = factory.LazyFunction(lambda: timezone.now().date() - timedelta(days=1))
    last_day = factory.SelfAttribute("first_day")
    most = 100
    actor = "user:olga"


class DailySumFactory(ModelFactory[DailySum]):
    """One fulfillment of today."""

    class Meta:
        model = DailySum

    supplier_id = 1
    retailer_id = 0
    day = factory.LazyFunction(lambda: timezone.now().date())
    measure = "created"
    count = 1
