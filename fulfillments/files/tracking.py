"""Files in `tracking/`: each row is a supplier's move, made by the methods that the API uses."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from psycopg.sql import Composable
from rest_framework.exceptions import ValidationError

from accounts.actors import Actor, ActorKind
from api.bodies import Body, validated
from api.errors import Invalid, invalid_fields
from fulfillments.change import Change
from fulfillments.files.units import LONGEST_ID, UnitsByLine, whole_number
from fulfillments.models import Fulfillment, MoveOutcome
from fulfillments.serializers import ShipBody, TrackingBody
from fulfillments.states import State
from imports.models import ImportJob, Kind
from imports.pipeline.columns import ROUNDED, FileColumn, TextColumn
from imports.pipeline.context import ImportContext
from imports.pipeline.row_importer import RowImporter

Rows = Sequence[Mapping[str, str]]
# Rows with the same values here belong together: the lines of one parcel, or of one rejection.
TOGETHER = ("fulfillment_id", "action", "tracking_number", "carrier", "reason")


class TrackingImporter(RowImporter):
    """Imports a supplier's moves of its fulfillments, row by row."""

    kind = Kind.FULFILLMENTS
    columns: ClassVar[Mapping[str, FileColumn]] = {
        "fulfillment_id": TextColumn("fulfillment_id", required=True, example="1234"),
        "action": TextColumn("action", required=True, example="ship"),
        "tracking_number": TextColumn("tracking_number", example="1Z999AA10123456784"),
        "carrier": TextColumn("carrier", example="UPS"),
        "line_id": TextColumn("line_id", example="5678"),
        "sku": TextColumn("sku", example="TSHIRT-RED-M"),
        "quantity": TextColumn("quantity", example="2"),
        "reason": TextColumn("reason"),
    }

    def mandatory(self, options: Mapping[str, Any]) -> list[str]:
        return ["fulfillment_id", "action"]

    def together(self, context: ImportContext) -> list[Composable]:
        return [value for name, value in context.mapped.values.items() if name in TOGETHER]

    def carry_out(self, job: ImportJob, rows: Rows) -> bool:
        first = rows[0]
        action = _action(first)
        if action not in ACTIONS:
            known = ", ".join(ACTIONS)
            raise Invalid.at("action", f"{first['action'][:40]!r} is none of {known}.", "invalid_choice")
        fulfillment = _fulfillment(job, first["fulfillment_id"])
        actor = Actor(ActorKind.SUPPLIER, f"import:{job.pk}")
        with fulfillment.order.change(by=actor) as change:
            outcome: MoveOutcome = ACTIONS[action](fulfillment, change, rows)
        return outcome is MoveOutcome.DONE


def _action(row: Mapping[str, str]) -> str:
    """Return the action in the spelling of `ACTIONS`."""
    return row["action"].lower().replace(" ", "_").replace("-", "_")


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
    """Return the values as an API body validates them. Raises Invalid, also for a number that lost digits."""
    number = given["tracking_number"]
    if re.match(ROUNDED, number, re.IGNORECASE):
        message = (
            f"{number!r} is a long number that a spreadsheet has rounded: its last digits are lost. "
            "Format the column as text, and enter the number again."
        )
        raise Invalid.at("tracking_number", message, "damaged_text")
    try:
        checked: dict[str, Any] = validated(body, given)
    except ValidationError as error:
        raise invalid_fields(error.detail) from error
    return checked


def _accept(fulfillment: Fulfillment, change: Change, rows: Rows) -> MoveOutcome:
    body = _checked(TrackingBody, {"tracking_number": rows[0].get("tracking_number", "")})
    return fulfillment.accept(change, tracking_number=body["tracking_number"])


def _ship(fulfillment: Fulfillment, change: Change, rows: Rows) -> MoveOutcome:
    body = _checked(ShipBody, {name: rows[0].get(name, "") for name in ("tracking_number", "carrier")})
    number = body["tracking_number"]
    known = fulfillment.shipments.filter(tracking_number=number).first()
    shipped = {item["line"]: item["quantity"] for item in known.items} if known else None
    units = UnitsByLine(fulfillment, shipped).named_by(rows)
    fulfillment.refresh_from_db(fields=["state"])
    if fulfillment.state == State.NEW:
        fulfillment.accept(change)  # shipping new work also accepts it
    return fulfillment.ship(
        change, tracking_number=number, carrier=body.get("carrier", ""), quantities=units, field="quantity"
    )


def _reject(fulfillment: Fulfillment, change: Change, rows: Rows) -> MoveOutcome:
    reason = State(_action(rows[0]))
    if not any(UnitsByLine.names_lines(row) for row in rows):
        return fulfillment.reject(change, reason)
    reject_id = _reject_id(rows)
    if fulfillment.rejections.filter(reject_id=reject_id).exists():
        return MoveOutcome.UNCHANGED
    units = UnitsByLine(fulfillment).named_by(rows)
    return fulfillment.reject(change, reason, quantities=units, reject_id=reject_id)


def _reject_id(rows: Rows) -> str:
    """Return an id that is the same for the same rows in another file."""
    content = sorted(tuple(sorted(row.items())) for row in rows)
    return f"file:{hashlib.sha256(repr(content).encode()).hexdigest()[:40]}"


def _approve(fulfillment: Fulfillment, change: Change, rows: Rows) -> MoveOutcome:
    return fulfillment.approve_cancelation(change)


def _refuse(fulfillment: Fulfillment, change: Change, rows: Rows) -> MoveOutcome:
    return fulfillment.refuse_cancelation(change)


ACTIONS = {
    "accept": _accept,
    "ship": _ship,
    "out_of_stock": _reject,
    "missing_sku": _reject,
    "wrong_address": _reject,
    "cancel_approved": _approve,
    "cancel_refused": _refuse,
}
