"""Fulfillments, their lines, parcels, rejections and returns (contract 3)."""

from fulfillments.models.capture import Capture
from fulfillments.models.carried_out_row import CarriedOutRow
from fulfillments.models.carton import Carton, SsccCounter
from fulfillments.models.changes_read import ChangesRead
from fulfillments.models.conditions import (
    CAPTURE_OVERDUE,
    HELD,
    PAST_LIMIT,
    UNCAPTURED,
    limit_passed,
    next_limit,
)
from fulfillments.models.daily_sum import DailySum, SummedEvents
from fulfillments.models.fulfillment import Fulfillment, FulfillmentQuerySet
from fulfillments.models.kept_parcel import KeptParcel
from fulfillments.models.line import COUNTS, FulfillmentLine
from fulfillments.models.mechanism import MoveOutcome
from fulfillments.models.performance_target import PerformanceTarget
from fulfillments.models.rejection import Rejection, RejectionQuerySet
from fulfillments.models.returned import Return
from fulfillments.models.routing_decision import RoutingDecision
from fulfillments.models.shipment import Shipment
from fulfillments.models.simulation import RoutingSimulation
from fulfillments.models.slip_template import SlipLanguage, SlipPaper, SlipTemplate

__all__ = [
    "CAPTURE_OVERDUE",
    "COUNTS",
    "Capture",
    "CarriedOutRow",
    "Carton",
    "ChangesRead",
    "DailySum",
    "Fulfillment",
    "FulfillmentLine",
    "FulfillmentQuerySet",
    "HELD",
    "KeptParcel",
    "MoveOutcome",
    "PAST_LIMIT",
    "PerformanceTarget",
    "Rejection",
    "RejectionQuerySet",
    "Return",
    "RoutingDecision",
    "RoutingSimulation",
    "Shipment",
    "SlipLanguage",
    "SlipPaper",
    "SlipTemplate",
    "SsccCounter",
    "UNCAPTURED",
    "SummedEvents",
    "limit_passed",
    "next_limit",
]
