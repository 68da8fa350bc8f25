"""Fulfillments, their lines, parcels, rejections and returns (contract 3)."""

from fulfillments.models.capture import Capture
from fulfillments.models.daily_sum import DailySum, SummedEvents
from fulfillments.models.fulfillment import HELD, Fulfillment, FulfillmentQuerySet
from fulfillments.models.line import COUNTS, FulfillmentLine
from fulfillments.models.mechanism import MoveOutcome
from fulfillments.models.rejection import Rejection
from fulfillments.models.returned import Return
from fulfillments.models.routing_decision import RoutingDecision
from fulfillments.models.shipment import Shipment
from fulfillments.models.simulation import RoutingSimulation

__all__ = [
    "COUNTS",
    "HELD",
    "Capture",
    "DailySum",
    "Fulfillment",
    "FulfillmentLine",
    "FulfillmentQuerySet",
    "MoveOutcome",
    "Rejection",
    "Return",
    "RoutingDecision",
    "RoutingSimulation",
    "Shipment",
    "SummedEvents",
]
