"""The endpoints of suppliers' fulfillments (interface 4, endpoints 1 to 7; dialects of contract 10)."""

from __future__ import annotations

from typing import Any, ClassVar, TypedDict

from django.db import DatabaseError, InterfaceError
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from api.bodies import json_of, read, refuse_units, validated
from api.envelope import ResultJson, result
from api.errors import ApiError, IdMismatch, Invalid, NotFound, database_error, field_error, lost_database
from api.pagination import Keyset
from api.schema import CURSOR, LIMIT, answers
from fulfillments.filters import FILTERS, FulfillmentFilter
from fulfillments.models import Fulfillment, MoveOutcome
from fulfillments.selectors import fulfillments_json, mark_captured, rows
from fulfillments.serializers import (
    CANCELATION_ANSWERS,
    AnswerBody,
    FulfillmentJson,
    InvoiceBody,
    RejectionBody,
    ReturnBody,
    ShipBody,
    ShipmentsBody,
    TrackingBody,
)
from fulfillments.states import ACCEPT, CANCELED, REJECTIONS, SHIP, State

MOST_REJECTIONS = 1_000
WHOLE_ACCEPT = (
    "A fulfillment is accepted as a whole, without lines. Reject lines that you cannot ship by"
    " POST …/fulfillments/rejections, and ship the others by setStatus/shipped with lines."
)
WHOLE_ANSWER = "The answer to a cancellation covers all requested units, so it has no lines."
REJECTED = {
    State.OUT_OF_STOCK: "Rejected as out of stock; the stock of its variants is 0 now.",
    State.MISSING_SKU: "Rejected as missing sku; its variants are no longer listed.",
    State.WRONG_ADDRESS: "Rejected for its address; an operator will correct the address.",
}


class RejectedJson(TypedDict):
    """The result of one element of a rejections call."""

    id: int
    success: bool
    code: str
    message: str


class RejectionsJson(ResultJson):
    """The result envelope, with a result for each element."""

    results: list[RejectedJson]


class FulfillmentViewSet(SupplierViewSet):
    """A supplier's reads and moves of its fulfillments."""

    read_scope, write_scope = Scope.FULFILLMENTS_READ, Scope.FULFILLMENTS_WRITE
    piecemeal = frozenset({"rejections"})
    operation_ids: ClassVar[dict[str, str]] = {
        "accept": "accept_fulfillment",
        "ship": "ship_fulfillment",
        "invoice": "save_invoice",
        "shipments": "ship_parcels",
        "rejections": "reject_lines",
        "returns": "record_return",
        "out_of_stock": "reject_out_of_stock",
        "missing_sku": "reject_missing_sku",
        "wrong_address": "reject_wrong_address",
        "canceled": "approve_cancelation",
        "cancelation_not_allowed": "refuse_cancelation",
        "cancellation_not_allowed": "refuse_cancellation",
        "cancelation not allowed": "refuse_cancelation_by_state",
        "answer_cancelation": "answer_cancelation",
    }
    fulfillment: Fulfillment

    def find(self) -> None:
        if "fulfillment_id" in self.kwargs:
            self.fulfillment = self._find(self.kwargs["fulfillment_id"])

    def lock(self) -> None:
        self.fulfillment.order.lock()

    def _find(self, fulfillment_id: int) -> Fulfillment:
        fulfillments = Fulfillment.objects.for_supplier(self.supplier).select_related("order", "partnership")
        fulfillment = fulfillments.filter(pk=fulfillment_id).first()
        if fulfillment is None:
            raise NotFound
        return fulfillment

    @extend_schema(
        summary="Capture fulfillments",
        parameters=[*FILTERS, LIMIT, CURSOR],
        responses={200: answers(FulfillmentJson, "Fulfillments, oldest first.", many=True)},
    )
    def capture(self, request: Request, **kwargs: Any) -> Response:
        """List the supplier's fulfillments; new work is `retailer_state` ordered, `fulfillment_state` new.

        Each call returns a fulfillment again until the supplier acts on it: delivery is at least once.
        """
        fulfillments = Fulfillment.objects.for_supplier(self.supplier).not_held()
        page = Keyset("id").page(rows(FulfillmentFilter.apply(request, fulfillments)), request)
        return Response(fulfillments_json(mark_captured(page.items)), headers=page.headers)

    @extend_schema(
        summary="Read a fulfillment", responses={200: answers(FulfillmentJson, "The fulfillment.")}
    )
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return one fulfillment with the same fields as in the list."""
        page = list(rows(Fulfillment.objects.filter(pk=self.fulfillment.pk)))
        return Response(fulfillments_json(page)[0])

    @extend_schema(
        summary="Save the invoice number", request=InvoiceBody, responses={200: answers(ResultJson, "Saved.")}
    )
    def invoice(self, request: Request, **kwargs: Any) -> Response:
        """Save the number of the supplier's invoice for this fulfillment."""
        body = read(InvoiceBody, request)
        with self.fulfillment.order.change(by=self.actor) as change:
            outcome = self.fulfillment.save_invoice(change, body["invoice_id"])
        return self._answer(outcome, "invoice_saved", f"Invoice {body['invoice_id']} is saved.")

    @extend_schema(
        summary="Accept",
        request=TrackingBody,
        responses={200: answers(ResultJson, "Accepted, or unchanged.")},
    )
    def accept(self, request: Request, **kwargs: Any) -> Response:
        """Accept the fulfillment. The tracking number is optional."""
        body = read(TrackingBody, request)
        refuse_units(json_of(request), WHOLE_ACCEPT)
        with self.fulfillment.order.change(by=self.actor) as change:
            outcome = self.fulfillment.accept(change, tracking_number=body["tracking_number"])
        return self._answer(outcome, ACCEPT.code, "Accepted.")

    @extend_schema(
        summary="Ship", request=ShipBody, responses={200: answers(ResultJson, "Shipped, or unchanged.")}
    )
    def ship(self, request: Request, **kwargs: Any) -> Response:
        """Ship one parcel. For a split shipment, repeat the call for each parcel."""
        body = read(ShipBody, request)
        quantities = self._units_by_line(body.get("lines"))
        with self.fulfillment.order.change(by=self.actor) as change:
            outcome = self.fulfillment.ship(
                change,
                tracking_number=body["tracking_number"],
                carrier=body.get("carrier", ""),
                quantities=quantities,
            )
        return self._answer(outcome, SHIP.code, f"Parcel {body['tracking_number']} is shipped.")

    def _units_by_line(self, lines: list[dict[str, int]] | None) -> dict[int, int] | None:
        """Return a parcel's units by line id; None for all open units."""
        if lines is None:
            return None
        known = set(self.fulfillment.lines.values_list("pk", flat=True))
        units: dict[int, int] = {}
        for index, line in enumerate(lines):
            if line["id"] not in known:
                message = f"{line['id']} is not a line of this fulfillment; it has {sorted(known)}."
                raise Invalid.at(f"lines[{index}].id", message, "not_found")
            units[line["id"]] = units.get(line["id"], 0) + line["quantity"]
        return units

    @extend_schema(
        summary="Reject", request=None, responses={200: answers(ResultJson, "Rejected, or unchanged.")}
    )
    def reject(self, request: Request, *, reason: State, **kwargs: Any) -> Response:
        """Reject the whole fulfillment: out of stock, missing sku, or wrong address."""
        refuse_units(json_of(request), "Reject single lines by POST …/fulfillments/rejections.")
        with self.fulfillment.order.change(by=self.actor) as change:
            outcome = self.fulfillment.reject(change, reason)
        return self._answer(outcome, REJECTIONS[reason].code, REJECTED[reason])

    @extend_schema(
        summary="Approve or refuse a cancellation",
        request=AnswerBody,
        responses={200: answers(ResultJson, "Answered, or unchanged.")},
    )
    def answer_cancelation(self, request: Request, **kwargs: Any) -> Response:
        """Answer a retailer's cancellation: `canceled` or `cancelation not allowed`."""
        body = read(AnswerBody, request)
        refuse_units(json_of(request), WHOLE_ANSWER)
        for name, pk in (("supplier_id", self.supplier.pk), ("fulfillment_id", self.fulfillment.pk)):
            if body.get(name) not in (None, pk):
                raise IdMismatch.at(name, f"Is {body[name]}, but the path has {pk}.", "id_mismatch")
        return self._answer_cancelation(CANCELATION_ANSWERS[body["status"]])

    @extend_schema(
        summary="Approve or refuse a cancellation by path",
        request=None,
        responses={200: answers(ResultJson, "Answered, or unchanged.")},
    )
    def answer_cancelation_by_path(self, request: Request, *, status: State, **kwargs: Any) -> Response:
        """Answer a retailer's cancellation, with the status in the path."""
        refuse_units(json_of(request), WHOLE_ANSWER)
        return self._answer_cancelation(status)

    def _answer_cancelation(self, status: State) -> Response:
        if status == CANCELED:
            with self.fulfillment.order.change(by=self.actor) as change:
                outcome = self.fulfillment.approve_cancelation(change)
            return self._answer(outcome, "canceled", "Canceled.")
        with self.fulfillment.order.change(by=self.actor) as change:
            outcome = self.fulfillment.refuse_cancelation(change)
        message = "The cancellation is refused; capture the fulfillment again."
        return self._answer(outcome, "cancelation_not_allowed", message)

    @extend_schema(
        summary="Ship several parcels",
        request=ShipmentsBody,
        responses={200: answers(ResultJson, "Shipped, or unchanged.")},
    )
    def shipments(self, request: Request, **kwargs: Any) -> Response:
        """Ship several parcels of one fulfillment in one call."""
        body = read(ShipmentsBody, request)
        fulfillment = self._find(body["id"])
        with fulfillment.order.change(by=self.actor) as change:
            outcome = fulfillment.ship_parcels(change, body["shipments"])
        return self._answer(outcome, SHIP.code, f"{len(body['shipments'])} parcels are shipped.")

    @extend_schema(
        summary="Reject lines in part",
        request=RejectionBody(many=True),
        responses={200: answers(RejectionsJson, "The result of each element.")},
    )
    def rejections(self, request: Request, **kwargs: Any) -> Response:
        """Reject some units of lines. Each element is a rejection that succeeds or fails by itself."""
        data = json_of(request)
        if not isinstance(data, list):
            raise Invalid.at("body", 'Must be an array of {"id", "items"}.')
        if not data or len(data) > MOST_REJECTIONS:
            message = f"Must have 1 to {MOST_REJECTIONS} elements."
            raise Invalid(message, [field_error("body", message)])
        elements = validated(RejectionBody, data, many=True)
        outcomes = self._reject_each(elements)
        failed = [outcome for outcome in outcomes if isinstance(outcome, ApiError)]
        if len(failed) == len(outcomes):
            raise failed[0]
        results = [_element_json(*pair) for pair in zip(elements, outcomes, strict=True)]
        changed = MoveOutcome.DONE in outcomes
        body: RejectionsJson = {
            "success": not failed,
            "code": "lines_rejected" if changed else "unchanged",
            "message": f"{len(outcomes) - len(failed)} of {len(outcomes)} elements are done.",
            "results": results,
        }
        return Response(body)

    def _reject_each(self, elements: list[dict[str, Any]]) -> list[MoveOutcome | ApiError]:
        """Reject one element after the other. Raises Busy or Unavailable if the database fails meanwhile."""
        done: list[MoveOutcome | ApiError] = []
        for element in elements:
            try:
                done.append(self._reject_element(element))
            except (DatabaseError, InterfaceError) as error:
                if not done or not lost_database(error):
                    raise
                raise type(database_error(error))(
                    f"The first {len(done)} of {len(elements)} elements are done; the next one failed. Send "
                    "all elements again in a few seconds: a repeated element changes nothing."
                ) from error
        return done

    def _reject_element(self, element: dict[str, Any]) -> MoveOutcome | ApiError:
        reason = State(element["reason"])
        try:
            fulfillment = self._find(element["id"])
            with fulfillment.order.change(by=self.actor) as change:
                return fulfillment.reject_items(
                    change, reason, element["items"], reject_id=element["reject_id"]
                )
        except ApiError as error:
            return error

    @extend_schema(
        summary="Record a return", request=ReturnBody, responses={200: answers(ResultJson, "Recorded.")}
    )
    def returns(self, request: Request, **kwargs: Any) -> Response:
        """Record units that came back after shipping, at most as many as were shipped."""
        body = read(ReturnBody, request)
        with self.fulfillment.order.change(by=self.actor) as change:
            outcome = self.fulfillment.record_return(
                change, body["return_lines"], reason=body["reason"], return_id=body.get("return_id")
            )
        return self._answer(outcome, "return_recorded", "The return is recorded.")

    def _answer(self, outcome: MoveOutcome, code: str, message: str) -> Response:
        if outcome is MoveOutcome.UNCHANGED:
            return Response(result("unchanged", "This was done before; nothing is changed."))
        return Response(result(code, message))


def _element_json(element: dict[str, Any], outcome: MoveOutcome | ApiError) -> RejectedJson:
    if isinstance(outcome, ApiError):
        return {"id": element["id"], "success": False, "code": outcome.code, "message": outcome.message}
    code = "lines_rejected" if outcome is MoveOutcome.DONE else "unchanged"
    return {"id": element["id"], "success": True, "code": code, "message": "Done."}
