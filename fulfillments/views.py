"""The endpoints of suppliers' fulfillments (interface 4, endpoints 1 to 7; further forms in contract 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.db import DatabaseError, InterfaceError
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from api.bodies import json_of, read, refuse_units, validated
from api.envelope import ResultJson, result
from api.errors import (
    ApiError,
    Invalid,
    NotFound,
    answer,
    database_error,
    field_error,
    lost_database,
)
from api.pagination import Keyset
from api.schema import CURSOR, LIMIT, answers
from fulfillments.capturing import mark_captured
from fulfillments.filters import FILTERS, FulfillmentFilter
from fulfillments.models import Fulfillment, MoveOutcome, Shipment
from fulfillments.models.kept_parcel import unsent_units
from fulfillments.models.quantities import NamedUnits, spread
from fulfillments.parcel_bodies import CorrectionBody, ShipBody, ShipmentsBody
from fulfillments.selectors import fulfillments_json, rows
from fulfillments.serializers import (
    CANCELATION_ANSWERS,
    AnswerBody,
    FulfillmentJson,
    InvoiceBody,
    OutOfStockBody,
    RejectedJson,
    RejectionBody,
    RejectionsJson,
    ReturnBody,
    ShippedJson,
    TrackingBody,
    check_answer,
    check_ids,
    restock_day,
)
from fulfillments.states import ACCEPT, CANCELED, REFUSALS, REJECTIONS, SHIP, State
from fulfillments.tracking import identify

MOST_REJECTIONS = 1_000
WHOLE_ACCEPT = (
    "A fulfillment is accepted as a whole, without lines. Reject lines that you cannot ship by"
    " POST …/fulfillments/rejections, and ship the others by setStatus/shipped with lines."
)
WHOLE_ANSWER = "The answer to a cancellation covers all requested units, so it has no lines."


class FulfillmentViewSet(SupplierViewSet):
    """The endpoints with which a supplier reads and moves its fulfillments."""

    read_scope, write_scope = Scope.FULFILLMENTS_READ, Scope.FULFILLMENTS_WRITE
    piecemeal = frozenset({"rejections"})
    operation_ids: ClassVar[dict[str, str]] = {
        "accept": "accept_fulfillment",
        "ship": "ship_fulfillment",
        "invoice": "save_invoice",
        "shipments": "ship_parcels",
        "rejections": "reject_lines",
        "correct_shipment": "correct_shipment",
        "returns": "record_return",
        "out_of_stock": "reject_out_of_stock",
        "missing_sku": "reject_missing_sku",
        "wrong_address": "reject_wrong_address",
        "canceled": "approve_cancelation",
        "cancelation_not_allowed": "refuse_cancelation",
        "cancellation_not_allowed": "refuse_cancellation",
        "answer_cancelation": "answer_cancelation",
    }
    fulfillment: Fulfillment
    shipment: Shipment

    def find(self) -> None:
        if "fulfillment_id" in self.kwargs:
            self.fulfillment = self._find(self.kwargs["fulfillment_id"])
        if "shipment_id" in self.kwargs:
            shipment = self.fulfillment.shipments.filter(pk=self.kwargs["shipment_id"]).first()
            if shipment is None:
                raise NotFound
            self.shipment = shipment

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
    def capture(self, request: Request, **kwargs: object) -> Response:
        """List the supplier's fulfillments. New work is `retailer_state` ordered, `fulfillment_state` new.

        Each call returns a fulfillment again until the supplier acts on it: delivery is at least once.
        """
        fulfillments = Fulfillment.objects.for_supplier(self.supplier).not_held()
        listed = FulfillmentFilter.apply(request, fulfillments)
        page = Keyset("id").page(rows(listed), request)
        # The answer to HEAD has no body: the supplier sees no fulfillment, so nothing is captured.
        shown = page.items if request.method == "HEAD" else mark_captured(page.items, listed)
        return Response(fulfillments_json(shown), headers=page.headers)

    @extend_schema(
        summary="Read a fulfillment", responses={200: answers(FulfillmentJson, "The fulfillment.")}
    )
    def retrieve(self, request: Request, **kwargs: object) -> Response:
        """Return one fulfillment with the same fields as in the list."""
        page = list(rows(Fulfillment.objects.filter(pk=self.fulfillment.pk)))
        return Response(fulfillments_json(page)[0])

    @extend_schema(
        summary="Save the invoice number", request=InvoiceBody, responses={200: answers(ResultJson, "Saved.")}
    )
    def invoice(self, request: Request, **kwargs: object) -> Response:
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
    def accept(self, request: Request, **kwargs: object) -> Response:
        """Accept the fulfillment. The tracking number is optional."""
        body = read(TrackingBody, request)
        refuse_units(self._matching(request), WHOLE_ACCEPT)
        with self.fulfillment.order.change(by=self.actor) as change:
            outcome = self.fulfillment.accept(change, tracking_number=body["tracking_number"])
        return self._answer(outcome, ACCEPT.code, "Accepted.")

    @extend_schema(
        summary="Ship", request=ShipBody, responses={200: answers(ShippedJson, "Shipped, or unchanged.")}
    )
    def ship(self, request: Request, **kwargs: object) -> Response:
        """Ship one parcel. For a split shipment, repeat the call for each parcel."""
        body = read(ShipBody, request)
        self._matching(request)
        with self.fulfillment.order.change(by=self.actor) as change:
            outcome = self.fulfillment.ship(
                change,
                tracking_number=body["tracking_number"],
                carrier=body.get("carrier", ""),
                quantities=self._units_by_line(body.get("lines")),
                shipped_at=body.get("shipped_at"),
            )
        message = f"Parcel {body['tracking_number']} is shipped."
        return self._with_warnings(self._answer(outcome, SHIP.code, message), [body])

    def _units_by_line(self, lines: list[dict[str, object]] | None) -> NamedUnits | None:
        """Return a parcel's units by line id; None for all open units. The order has to be locked."""
        if lines is None:
            return None
        all_lines = list(self.fulfillment.lines.order_by("pk"))
        return spread(all_lines, lines, unsent_units(self.fulfillment), "lines")

    @extend_schema(
        summary="Reject",
        request=OutOfStockBody,
        responses={200: answers(ResultJson, "Rejected, or unchanged.")},
    )
    def reject(self, request: Request, *, reason: State, **kwargs: object) -> Response:
        """Reject the whole fulfillment: out of stock, missing sku, or wrong address."""
        data = self._matching(request)
        refuse_units(data, "Reject single lines by POST …/fulfillments/rejections.")
        # Some programming languages write an empty object as an empty array.
        day = restock_day({} if data == [] else read(OutOfStockBody, request), reason)
        with self.fulfillment.order.change(by=self.actor) as change:
            outcome = self.fulfillment.reject(change, reason, expected_at=day)
        return self._answer(outcome, REJECTIONS[reason].code, REFUSALS[reason].message)

    @extend_schema(
        summary="Approve or refuse a cancellation",
        request=AnswerBody,
        responses={200: answers(ResultJson, "Answered, or unchanged.")},
    )
    def answer_cancelation(self, request: Request, **kwargs: object) -> Response:
        """Answer a retailer's cancellation: `canceled` or `cancelation not allowed`."""
        body = read(AnswerBody, request)
        refuse_units(self._matching(request), WHOLE_ANSWER)
        return self._answer_cancelation(CANCELATION_ANSWERS[body["status"]])

    @extend_schema(
        summary="Approve or refuse a cancellation by path",
        request=None,
        responses={200: answers(ResultJson, "Answered, or unchanged.")},
    )
    def answer_cancelation_by_path(self, request: Request, *, status: State, **kwargs: object) -> Response:
        """Answer a retailer's cancellation, with the status in the path."""
        data = self._matching(request)
        refuse_units(data, WHOLE_ANSWER)
        check_answer(data, status)
        return self._answer_cancelation(status)

    def _matching(self, request: Request) -> object:
        """Return the JSON of a setStatus call. Raises IdMismatch if it names other ids than the path."""
        data = json_of(request)
        check_ids(data, supplier_id=self.supplier.pk, fulfillment_id=self.fulfillment.pk)
        return data

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
        responses={200: answers(ShippedJson, "Shipped, or unchanged.")},
    )
    def shipments(self, request: Request, **kwargs: object) -> Response:
        """Ship several parcels of one fulfillment in one call."""
        body = read(ShipmentsBody, request)
        fulfillment = self._find(body["id"])
        with fulfillment.order.change(by=self.actor) as change:
            outcome = fulfillment.ship_parcels(change, body["shipments"])
        shipped = self._answer(outcome, SHIP.code, "All parcels of this request are shipped.")
        return self._with_warnings(shipped, body["shipments"])

    @extend_schema(
        summary="Correct a parcel",
        request=CorrectionBody,
        responses={200: answers(ShippedJson, "Corrected, or unchanged.")},
    )
    def correct_shipment(self, request: Request, **kwargs: object) -> Response:
        """Correct the tracking number or the carrier of a parcel, for some days after `shipped_at`."""
        body = read(CorrectionBody, request)
        shipment = self.shipment
        with self.fulfillment.order.change(by=self.actor) as change:
            outcome = self.fulfillment.correct_shipment(change, shipment, **body)
        message = f"Parcel {shipment.tracking_number} is corrected."
        parcel = {"tracking_number": shipment.tracking_number, "carrier": shipment.carrier}
        return self._with_warnings(self._answer(outcome, "shipment_corrected", message), [parcel])

    @extend_schema(
        summary="Reject lines in part",
        request=RejectionBody(many=True),
        responses={200: answers(RejectionsJson, "The result of each element.")},
    )
    def rejections(self, request: Request, **kwargs: object) -> Response:
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
        results = [_element_json(*pair) for pair in zip(elements, outcomes, strict=True)]
        if len(failed) == len(outcomes):
            refused = answer(failed[0])
            if len(results) > 1:
                refused.data["results"] = results
            return refused
        changed = MoveOutcome.DONE in outcomes
        body: RejectionsJson = {
            "success": not failed,
            "code": "lines_rejected" if changed else "unchanged",
            "message": f"{len(outcomes) - len(failed)} of {len(outcomes)} elements are done.",
            "results": results,
        }
        return Response(body)

    def _reject_each(self, elements: list[dict[str, object]]) -> list[MoveOutcome | ApiError]:
        """Reject the elements in turn. Raises Busy or Unavailable if the database fails in between."""
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
            day = restock_day(element, reason)
            fulfillment = self._find(element["id"])
            with fulfillment.order.change(by=self.actor) as change:
                return fulfillment.reject_items(
                    change, reason, element["items"], reject_id=element["reject_id"], expected_at=day
                )
        except ApiError as error:
            return error

    @extend_schema(
        summary="Record a return", request=ReturnBody, responses={200: answers(ResultJson, "Recorded.")}
    )
    def returns(self, request: Request, **kwargs: object) -> Response:
        """Record units that came back after shipping, at most as many as were shipped."""
        body = read(ReturnBody, request)
        with self.fulfillment.order.change(by=self.actor) as change:
            outcome = self.fulfillment.record_return(
                change, body["return_lines"], reason=body["reason"], return_id=body.get("return_id")
            )
        return self._answer(outcome, "return_recorded", "The return is recorded.")

    @staticmethod
    def _with_warnings(answer: Response, parcels: Sequence[Mapping[str, object]]) -> Response:
        """Add a warning for each parcel whose tracking number has a wrong check digit."""
        found = (identify(parcel["tracking_number"], parcel.get("carrier") or "") for parcel in parcels)
        answer.data["warnings"] = [each.warning for each in found if each.warning]
        return answer

    def _answer(self, outcome: MoveOutcome, code: str, message: str) -> Response:
        if outcome is MoveOutcome.UNCHANGED:
            return Response(result("unchanged", "This was done before; nothing is changed."))
        if outcome is MoveOutcome.KEPT:
            message = "An operator holds the order: the parcel is kept, and is shipped at the release."
        return Response(result(code, message))


def _element_json(element: dict[str, Any], outcome: MoveOutcome | ApiError) -> RejectedJson:
    if isinstance(outcome, ApiError):
        return {"id": element["id"], "success": False, "code": outcome.code, "message": outcome.message}
    code = "lines_rejected" if outcome is MoveOutcome.DONE else "unchanged"
    return {"id": element["id"], "success": True, "code": code, "message": "Done."}
