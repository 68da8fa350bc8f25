"""Retailers' orders over HTTP (interface 4, endpoints 15 to 19)."""

from __future__ import annotations

from typing import TypeVar

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.scopes import Scope
from accounts.viewsets import RetailerViewSet
from api.bodies import json_of, read, reader
from api.envelope import ResultJson, result
from api.errors import NotFound
from api.filters import MomentFilter
from api.pagination import listing
from api.schema import CURSOR, LIMIT, answers, moment_parameter
from fastdb.compiled import CompiledQuery, Param
from fulfillments.models import MoveOutcome
from orders.addresses.addresses import warnings
from orders.addresses.misnamed import misnamed
from orders.canceling import request_cancelation
from orders.filters import ORDERS, OrderFilter, keyset
from orders.models import Order, RetailerClock
from orders.processing_state import ProcessingState
from orders.push_body import OrderBody
from orders.pushing import push
from orders.retailer_changes import ChangeOrderBody, change_order
from orders.selectors import OrderRow, orders_json, own_order, own_row, routing_json, rows
from orders.serializers import (
    CancelBody,
    ChangedJson,
    CountsJson,
    OrderJson,
    OrdersJson,
    PushedJson,
    RoutingJson,
)

T = TypeVar("T")
STEPS = {"gt": "After", "gte": "At or after", "lt": "Before", "lte": "At or before", "exact": "At"}


def _parameter(name: str, by: django_filters.Filter) -> OpenApiParameter:
    """Describe a filter of the list as a parameter."""
    if isinstance(by, MomentFilter):
        return moment_parameter(name, f"{STEPS[by.lookup_expr]} this moment.")
    choices = [value for value, _ in by.extra.get("choices", ())]
    return OpenApiParameter(name, str, enum=choices or None, description=f"With exactly this {name}.")


FILTERS = [
    OpenApiParameter(
        "filter",
        str,
        description='URL-encoded JSON: {"updated_at": {"gt": "…"}, "processing_state": "completed"}.',
    ),
    OpenApiParameter("sort", str, enum=ORDERS, description="Default: updated_at."),
    OpenApiParameter("ordering", str, enum=ORDERS, description="The same as sort."),
    *(_parameter(name, each) for name, each in OrderFilter.base_filters.items()),
]


@CompiledQuery
def _clock() -> QuerySet[RetailerClock]:
    return RetailerClock.objects.filter(pk=Param("retailer"))


class OrderViewSet(RetailerViewSet):
    """A retailer's orders: push, list, read, cancel, routing and counts."""

    read_scope, write_scope = Scope.ORDERS_READ, Scope.ORDERS_WRITE
    order: Order
    row: OrderRow
    """The order as a row, for actions that return the order."""

    def find(self) -> None:
        if "order_id" not in self.kwargs:
            return
        key = {"retailer": self.retailer.pk, "order": self.kwargs["order_id"]}
        if self.action != "retrieve":
            self.order = _only(own_order(**key))
        if self.action in ("retrieve", "partial_update"):
            self.row = _only(own_row(**key))

    @extend_schema(
        summary="Push an order",
        request=OrderBody,
        responses={
            201: answers(PushedJson, "Created. `Location` is the address of the order."),
            200: answers(PushedJson, "The same order was pushed before."),
        },
    )
    def push(self, request: Request, **kwargs: object) -> Response:
        """Create an order: route it and reserve its stock, or create nothing."""
        raw = json_of(request)
        content = read(OrderBody, request)
        reopen = bool(content.pop("reopen", False))
        pushed = push(self.retailer, content, by=self.actor, reopen=reopen)
        order = pushed.order
        code, message = ("order_created", "The order is created.")
        if not pushed.created:
            code, message = ("order_exists", "This order was pushed before; nothing was changed.")
        body: PushedJson = {
            **result(code, message),
            "order_id": order.pk,
            "warnings": [
                *([] if pushed.created else _canceled(order)),
                *reader(OrderBody).warnings(raw),
                *warnings(content["shipping_address"], content["billing_address"], content.get("ship_until")),
                *misnamed(self.retailer, content["order_lines"]),
            ],
        }
        location = request.build_absolute_uri(f"{request.path}/{order.pk}")
        return Response(body, status=201 if pushed.created else 200, headers={"Location": location})

    @extend_schema(
        summary="List orders",
        parameters=[*FILTERS, LIMIT, CURSOR],
        responses={200: answers(OrdersJson, "One page of orders.")},
    )
    def list(self, request: Request, **kwargs: object) -> Response:
        """List the orders.

        To miss no change, poll with `updated_at` greater than the last value seen, in ascending order.
        """
        filtered = rows(OrderFilter.apply(request, Order.objects.for_retailer(self.retailer)))
        page = keyset(request).page(filtered, request)
        return Response(listing(page, orders_json(page.items)))

    @extend_schema(summary="Read an order", responses={200: answers(OrderJson, "The order.")})
    def retrieve(self, request: Request, **kwargs: object) -> Response:
        """Return one order, with its lines and its suppliers' fulfillments."""
        return Response(orders_json([self.row])[0])

    @extend_schema(
        summary="Change an order",
        request=ChangeOrderBody,
        responses={200: answers(ChangedJson, "Changed, or unchanged.")},
    )
    def partial_update(self, request: Request, **kwargs: object) -> Response:
        """Correct the address or the deadline until a supplier captures the order, or in `exception`."""
        content = read(ChangeOrderBody, request)
        with self.order.change(by=self.actor) as change:
            outcome = change_order(change, content)
        code, message = "order_changed", "The order is changed."
        if outcome is MoveOutcome.UNCHANGED:
            code, message = "unchanged", "The order has these values already; nothing was changed."
        address = content.get("shipping_address", self.order.shipping_address)
        body: ChangedJson = {
            **result(code, message),
            "order_id": self.order.pk,
            "warnings": [
                *reader(ChangeOrderBody).warnings(json_of(request)),
                *warnings(address, address, content.get("ship_until")),
            ],
        }
        return Response(body)

    def lock(self) -> None:
        self.order.lock()

    @extend_schema(
        summary="Cancel an order",
        request=CancelBody,
        responses={200: answers(ResultJson, "Canceled, requested from its suppliers, or unchanged.")},
    )
    def cancel(self, request: Request, **kwargs: object) -> Response:
        """Cancel the whole order or some lines. Suppliers that have units are asked to release them."""
        body = read(CancelBody, request)
        with self.order.change(by=self.actor) as change:
            done = request_cancelation(
                change,
                asked=body.get("lines") or None,
                reason=body.get("reason", ""),
                cancel_id=body.get("cancel_id") or "",
            )
        if done.unchanged:
            message = f"Already requested; the order is {self.order.processing_state}. {done.message}"
            return Response(result("unchanged", message))
        code = "cancel_requested"
        if self.order.processing_state == ProcessingState.CANCELED:
            code = "order_canceled"
        return Response(result(code, done.message))

    @extend_schema(
        summary="Explain the routing of an order", responses={200: answers(RoutingJson, "Each decision.")}
    )
    def routing(self, request: Request, **kwargs: object) -> Response:
        """Return each routing decision, with its candidates and the reason for each."""
        return Response(routing_json(self.order))

    @extend_schema(
        summary="Order counts", responses={200: answers(CountsJson, "The number of orders by state.")}
    )
    def counts(self, request: Request, **kwargs: object) -> Response:
        """Return the number of completed, canceled and pending (all other) orders."""
        clock = next(iter(_clock(retailer=self.retailer.pk)), RetailerClock())
        counts: CountsJson = {
            "completed": clock.completed,
            "canceled": clock.canceled,
            "pending": clock.pending,
        }
        return Response(counts)


def _canceled(order: Order) -> list[str]:
    if order.processing_state != ProcessingState.CANCELED:
        return []
    return [
        f"retailer_order_id: Order {order.pk} with this number is canceled, and nothing was ordered. Send "
        '"reopen": true to push a new order under the same number.'
    ]


def _only(rows: list[T]) -> T:
    """Return the row of a lookup by id. Raises NotFound if no row was found."""
    if not rows:
        raise NotFound
    return rows[0]
