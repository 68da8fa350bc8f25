"""Functions that save typed counts and restock dates of one warehouse, with the effects of a stock push."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.template.defaultfilters import pluralize

from accounts.actors import Actor
from accounts.models import Result
from accounts.operating.bulk_actions import record_single
from accounts.operating.operator_actions import AdminAction
from inventory.elements import IdType
from inventory.expecting import expect
from inventory.models import Warehouse
from inventory.services import push


@dataclass(frozen=True)
class StockEntry:
    """A typed row. `count` is None if it did not change; `sets_date` is true if the restock date changed."""

    variant_id: int
    count: int | None = None
    sets_date: bool = False
    expected_at: date | None = None

    def element(self) -> dict[str, object]:
        """Return the row as an element of a stock push."""
        day = self.expected_at.isoformat() if self.expected_at else None
        dated = {"expected_at": day} if self.sets_date else {}
        return {"variant_id": self.variant_id, "quantity": self.count, **dated}


def save_stock(
    warehouse: Warehouse, entries: Sequence[StockEntry], *, by: Actor, form_id: UUID | None
) -> tuple[Result, str]:
    """Save the entries in one transaction. If the same form is sent again, nothing changes."""
    return record_single(SAVE, warehouse, by=by, answers={"entries": entries}, form_id=form_id)


def _save(warehouse: Warehouse, by: Actor, answers: dict[str, Any]) -> str:
    entries: Sequence[StockEntry] = answers["entries"]
    counted = [entry for entry in entries if entry.count is not None]
    dated = [entry for entry in entries if entry.sets_date]
    only_dated = [entry for entry in dated if entry.count is None]
    errors = []
    if counted:
        errors = push(warehouse, IdType.VARIANT_ID, [entry.element() for entry in counted], by=by).errors
    expect({(entry.variant_id, warehouse.pk): entry.expected_at for entry in only_dated})
    refused = {counted[error.index].variant_id for error in errors}
    saved = [
        _counted(len(counted) - len(errors), "count"),
        _counted(sum(entry.variant_id not in refused for entry in dated), "restock date"),
    ]
    message = f"{warehouse}: {' and '.join(text for text in saved if text) or 'nothing'} saved."
    return " ".join([message, *(error.message for error in errors)])


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{pluralize(number)}" if number else ""


def _always(warehouse: Warehouse) -> str:
    return ""


SAVE = AdminAction[Warehouse]("save-stock", "Save stock", _save, _always, undo="Count again.")
