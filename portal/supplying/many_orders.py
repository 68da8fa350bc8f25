"""Actions of a supplier's members on many orders. Workers complete long actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, QuerySet

from accounts.actors import ActorKind
from accounts.operating.operator_actions import AdminAction
from fulfillments.models import Fulfillment
from portal.supplying.actions import ACTIONS


@dataclass(frozen=True)
class ManyOrders:
    """The implementation of `Acting` for members of suppliers. Its records are fulfillments."""

    model: type[Model] = Fulfillment
    actor_kind: ActorKind = ActorKind.SUPPLIER

    def acting_on(self, record_ids: Sequence[int]) -> QuerySet[Any]:
        """Return the fulfillments with these ids. The list has limited the ids to the member's own party."""
        related = Fulfillment.objects.select_related(
            "order__retailer", "partnership", "supplier", "warehouse"
        )
        return related.filter(pk__in=record_ids).prefetch_related("lines")

    def find_action(self, name: str) -> AdminAction[Any] | None:
        return next((action for action in ACTIONS if action.name == name and action.bulk), None)


MANY_ORDERS = ManyOrders()
