"""The endpoint `GET /v3/suppliers/{supplier_id}/scorecard`.

A supplier sees its own scorecard, and a retailer sees the scorecards of its partners.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import Access
from accounts.models import Supplier
from accounts.scopes import Role, Scope
from accounts.viewsets import KeyViewSet
from api.errors import Forbidden, Invalid
from api.schema import answers
from fastdb.standbys.reads import reads_from_standby
from fulfillments.scorecard.selectors import Scorecard
from fulfillments.scorecard.serializers import ScorecardJson, scorecard_json

DEFAULT_DAYS, MOST_DAYS = 30, 90
NUMBER = re.compile(r"[0-9]{1,3}")


class ScorecardViewSet(KeyViewSet):
    """The scorecard. Suppliers need the scope `fulfillments:read`.

    Retailers need the scope `orders:read`, and see the numbers of their own orders.
    """

    operation_ids: ClassVar[dict[str, str]] = {"retrieve": "get_scorecard"}
    supplier: Supplier

    def needed_scope(self) -> Scope | None:
        return Scope.FULFILLMENTS_READ if self.key.role is Role.SUPPLIER else Scope.ORDERS_READ

    def admit(self, access: Access, kwargs: Mapping[str, Any]) -> None:
        """Raise Forbidden unless the key belongs to the supplier in the path, or to one of its retailers."""
        if access.key.supplier is not None:
            supplier = access.key.supplier if access.key.supplier.pk == kwargs["supplier_id"] else None
        else:
            partners = Supplier.objects.filter(partnerships__retailer=access.key.retailer)
            supplier = partners.filter(pk=kwargs["supplier_id"]).first()
        if supplier is None:
            raise Forbidden("This key belongs neither to the supplier in the path nor to a partner of it.")
        self.supplier = supplier
        super().admit(access, kwargs)

    @extend_schema(
        summary="Read a supplier's scorecard",
        description="Times to capture, accept and ship, rejections, cancellations and the age of the stock"
        " feed over the last days, UTC. A retailer sees the numbers of its own orders. The numbers are some"
        " minutes old.",
        parameters=[
            OpenApiParameter(
                "days",
                {"type": "integer", "minimum": 1, "maximum": MOST_DAYS, "default": DEFAULT_DAYS},
                description="The number of days, including today.",
            )
        ],
        responses={200: answers(ScorecardJson, "The scorecard.")},
    )
    @reads_from_standby
    def retrieve(self, request: Request, supplier_id: int) -> Response:
        card = Scorecard.of(self.supplier, read_days(request), self.key.retailer)
        return Response(scorecard_json(card))


def read_days(request: Request) -> int:
    """Return the `days` parameter. Raises Invalid outside its range."""
    text = request.query_params.get("days", "") or str(DEFAULT_DAYS)
    if not NUMBER.fullmatch(text) or not 1 <= int(text) <= MOST_DAYS:
        raise Invalid.at("days", f"Must be a whole number from 1 to {MOST_DAYS}.")
    return int(text)
