"""The import of files in `tracking/`. Rows become a supplier's moves, by the same methods as API calls."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from psycopg.sql import Composable
from rest_framework.exceptions import ValidationError

from accounts.actors import Actor, ActorKind
from api.bodies import Body, validated
from api.errors import Invalid, invalid_fields
from fulfillments.change import Change
from fulfillments.files.asking import refuse_outdated
from fulfillments.files.carried_out import action_of, digests_of, remember, repeated_rows
from fulfillments.files.misnamed import refuse_misnamed
from fulfillments.files.units import LONGEST_ID, UnitsByLine, whole_number
from fulfillments.models import Fulfillment, MoveOutcome
from fulfillments.models.kept_parcel import unsent_units
from fulfillments.models.mechanism import check_same
from fulfillments.models.quantities import in_words
from fulfillments.models.shipment import ParcelContent
from fulfillments.parcel_bodies import CorrectionBody, ShipBody
from fulfillments.serializers import TrackingBody
from fulfillments.states import State
from fulfillments.tracking import identify
from imports.models import ImportJob
from imports.pipeline.columns import ROUNDED, FileColumn, TextColumn
from imports.pipeline.context import ImportContext
from imports.pipeline.row_importer import RowImporter

Rows = Sequence[Mapping[str, str]]
FILLED_IN = ("tracking_number", "old_tracking_number", "carrier", "reason", "shipped_at")
"""The cells that suppliers add to the rows of orders/."""
# Rows with the same values in these columns belong together: the lines of one parcel, or of one rejection.
TOGETHER = ("fulfillment_id", "action", "tracking_number", "old_tracking_number", "carrier", "reason")


class TrackingImporter(RowImporter):
    """The importer of a supplier's moves of its fulfillments."""

    columns: ClassVar[Mapping[str, FileColumn]] = {
        "fulfillment_id": TextColumn("fulfillment_id", required=True, example="1234"),
        "action": TextColumn("action", example="ship"),
        "tracking_number": TextColumn("tracking_number", example="1Z999AA10123456784"),
        "carrier": TextColumn("carrier", example="UPS"),
        "old_tracking_number": TextColumn("old_tracking_number", hidden=True),
        "line_id": TextColumn("line_id", example="5678"),
        "sku": TextColumn("sku", example="TSHIRT-RED-M"),
        "quantity": TextColumn("quantity", example="2"),
        "reason": TextColumn("reason"),
        "shipped_at": TextColumn("shipped_at", example="2030-01-31T12:00:00Z"),
        "asked_at": TextColumn("asked_at", example="2030-01-31T12:00:00.000000Z"),
    }

    def mandatory(self, options: Mapping[str, object]) -> list[str]:
        return ["fulfillment_id", "action"]

    def check_columns(self, read: Collection[str], ignored: Iterable[str]) -> None:
        refuse_misnamed(read, ignored)

    def together(self, context: ImportContext) -> list[Composable]:
        return [value for name, value in context.mapped.values.items() if name in TOGETHER]

    def repeated(self, job: ImportJob, rows: Rows) -> set[int]:
        return repeated_rows(job, rows)

    def warning(self, job: ImportJob, row: Mapping[str, str], *, repeated: bool) -> str:
        """Return a warning for a doubtful tracking number, or for a repeated answer to a cancellation.

        The repeated row answered an older request. It does not answer the request that is open now.
        """
        if not repeated:
            is_parcel = action_of(row) in PARCEL_ACTIONS and row.get("tracking_number")
            return identify(row["tracking_number"], row.get("carrier", "")).warning if is_parcel else ""
        if action_of(row) not in ANSWERS:
            return ""
        fulfillment = _fulfillment(job, row["fulfillment_id"])
        return ANSWERED_BEFORE if fulfillment.state == State.CANCELING else ""

    def carry_out(self, job: ImportJob, rows: Rows) -> bool:
        first = rows[0]
        action = action_of(first)
        if not action:
            refuse_answers_without_action(rows)
            return False
        if action not in ACTIONS:
            known = ", ".join(ACTIONS)
            raise Invalid.at(
                "action", f"{first['action'][:40]!r} is no action. Use one of {known}.", "invalid_choice"
            )
        fulfillment = _fulfillment(job, first["fulfillment_id"])
        actor = Actor(ActorKind.SUPPLIER, f"import:{job.pk}")
        with fulfillment.order.change(by=actor) as change:
            fulfillment.refresh_from_db(fields=["state", "tracking_number"])
            refuse_outdated(fulfillment, [row.get("asked_at", "") for row in rows])
            # Compute the digests before the move: they need the open request, which the move may end.
            digests = digests_of(fulfillment, *rows)
            outcome: MoveOutcome = ACTIONS[action](fulfillment, change, rows)
            remember(fulfillment, digests)
        return outcome is MoveOutcome.DONE


def _fulfillment(job: ImportJob, number: str) -> Fulfillment:
    fulfillments = Fulfillment.objects.filter(supplier_id=job.supplier_id).select_related(
        "order", "partnership"
    )
    pk = whole_number(number, LONGEST_ID)
    fulfillment = fulfillments.filter(pk=pk).first() if pk is not None else None
    if fulfillment is None:
        raise Invalid.at("fulfillment_id", f"You have no fulfillment {number[:40]!r}.", "not_found")
    return fulfillment


def _checked(body: type[Body], given: dict[str, str]) -> dict[str, Any]:
    """Return the values, validated as an API body.

    Raises Invalid for wrong values, and for a tracking number that lost digits in a spreadsheet.
    """
    number = given.get("tracking_number", "")
    if re.match(ROUNDED, number, re.IGNORECASE):
        message = (
            f"{number!r} is a long number that a spreadsheet has rounded: its last digits are lost. "
            "Format the column as text, and enter the number again."
        )
        raise Invalid.at("tracking_number", message, "damaged_text")
    try:
        checked: dict[str, object] = validated(body, given)
    except ValidationError as error:
        raise invalid_fields(error.detail) from error
    return checked


def _accept(fulfillment: Fulfillment, change: Change, rows: Rows) -> MoveOutcome:
    """Accept the fulfillment. A shipped fulfillment stays unchanged, because it was accepted before."""
    body = _checked(TrackingBody, {"tracking_number": rows[0].get("tracking_number", "")})
    number = body["tracking_number"]
    if fulfillment.state == State.SHIPPED:
        if fulfillment.shipment_of(number) is None:
            check_same(fulfillment.state, "tracking_number", fulfillment.tracking_number, number)
        return MoveOutcome.UNCHANGED
    return fulfillment.accept(change, tracking_number=number)


def refuse_answers_without_action(rows: Rows) -> None:
    """Raise Invalid if rows without an action have cells that only a supplier fills in.

    Other rows without an action are allowed: they are rows of new.csv that the supplier has not decided yet.
    """
    for name in FILLED_IN:
        if any(row.get(name) for row in rows):
            message = f"Is empty, but the row has a {name}. Write an action, such as ship, or empty {name}."
            raise Invalid.at("action", message, "required")


def _left_at(rows: Rows) -> dict[str, str]:
    """Return `shipped_at` of a parcel, if its rows have a value. Raises Invalid for different values."""
    moments = sorted({row["shipped_at"] for row in rows if row.get("shipped_at")})
    if len(moments) > 1:
        message = f"One parcel leaves at one moment, but its rows have {moments[0]} and {moments[1]}."
        raise Invalid.at("shipped_at", message)
    return {"shipped_at": moments[0]} if moments else {}


def _ship(fulfillment: Fulfillment, change: Change, rows: Rows) -> MoveOutcome:
    given = {name: rows[0].get(name, "") for name in ("tracking_number", "carrier")} | _left_at(rows)
    body = _checked(ShipBody, given)
    number = body["tracking_number"]
    known = fulfillment.shipment_of(number)
    kept = fulfillment.kept_parcels.filter(tracking_number=number).first() if change.held else None
    units = _units_of_parcel(fulfillment, known or kept).named_by(rows)
    is_kept = change.held and body.get("shipped_at")
    if fulfillment.state == State.NEW and known is None and not is_kept:
        fulfillment.accept(change)  # shipping new work also accepts the work
    return fulfillment.ship(
        change,
        tracking_number=number,
        carrier=body.get("carrier", ""),
        quantities=units,
        field="quantity",
        shipped_at=body.get("shipped_at"),
    )


def _units_of_parcel(fulfillment: Fulfillment, known: ParcelContent | None) -> UnitsByLine:
    """Return the units that rows of a parcel may name: of a known parcel its own, else the unsent units."""
    if known is not None:
        return UnitsByLine(fulfillment, {item["line"]: item["quantity"] for item in known.items})
    unsent = unsent_units(fulfillment)
    return UnitsByLine(fulfillment, {line.pk: unsent(line) for line in fulfillment.lines.all()})


def _correct(fulfillment: Fulfillment, change: Change, rows: Rows) -> MoveOutcome:
    given = {name: rows[0].get(name, "") for name in ("tracking_number", "carrier")}
    body = _checked(CorrectionBody, {name: value for name, value in given.items() if value})
    old = rows[0].get("old_tracking_number", "")
    shipment = fulfillment.shipment_of(old)
    if shipment is None:
        message = f"Fulfillment {fulfillment.pk} has no parcel {old!r} to correct."
        raise Invalid.at("old_tracking_number", message, "not_found" if old else "required")
    return fulfillment.correct_shipment(change, shipment, **body)


def _reject(fulfillment: Fulfillment, change: Change, rows: Rows) -> MoveOutcome:
    units = UnitsByLine(fulfillment).named_by(rows)
    return fulfillment.reject(change, State(action_of(rows[0])), quantities=units)


def _approve(fulfillment: Fulfillment, change: Change, rows: Rows) -> MoveOutcome:
    _check_whole_answer(fulfillment, rows)
    return fulfillment.approve_cancelation(change)


def _refuse(fulfillment: Fulfillment, change: Change, rows: Rows) -> MoveOutcome:
    _check_whole_answer(fulfillment, rows)
    return fulfillment.refuse_cancelation(change)


def _check_whole_answer(fulfillment: Fulfillment, rows: Rows) -> None:
    """Raise Invalid if rows name only some of the units to cancel, because one answer covers all units."""
    if fulfillment.state != State.CANCELING:
        return
    lines = fulfillment.lines.filter(cancel_requested__gt=0).order_by("pk")
    requested: dict[int, int] = dict(lines.values_list("pk", "cancel_requested"))
    named = UnitsByLine(fulfillment, requested).named_by(rows)
    if named is not None and named != requested:
        skus = list(fulfillment.lines.all())
        raise Invalid.at(
            "quantity",
            f"One answer covers all units that the retailer wants to cancel: {in_words(skus, requested)}. "
            f"These rows name {in_words(skus, named)}. Answer all rows of orders/canceling.csv alike, or "
            "leave line_id, sku and quantity empty.",
        )


ACTIONS = {
    "accept": _accept,
    "ship": _ship,
    "correct": _correct,
    "out_of_stock": _reject,
    "missing_sku": _reject,
    "wrong_address": _reject,
    "cancel_approved": _approve,
    "cancel_refused": _refuse,
}
PARCEL_ACTIONS = ("ship", "correct")
ANSWERS = ("cancel_approved", "cancel_refused")
ANSWERED_BEFORE = (
    "This row was carried out before, so it does not answer the request that is open now. Read "
    "orders/canceling.csv, and answer with the asked_at of its rows."
)
