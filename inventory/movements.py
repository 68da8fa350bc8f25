"""The columns of the stock ledger, and the only function that builds SQL to write movements."""

from __future__ import annotations

from typing import NamedTuple

from inventory.models import MovementKind, StockMovement

TABLE = StockMovement._meta.db_table

COLUMNS = tuple(field.column for field in StockMovement._meta.concrete_fields)

DEFAULTS = {
    "variant_id": "variant_id",
    "warehouse_id": "warehouse_id",
    "on_hand_change": "0",
    "reserved_change": "0",
    "on_hand": "on_hand",
    "reserved": "reserved",
}
"""The expressions of required columns; the database fills in the other columns."""


class MovementRow(NamedTuple):
    """The columns of a movement that differ between the movements of one change."""

    variant_id: int
    warehouse_id: int
    kind: str
    on_hand_change: int
    reserved_change: int
    on_hand: int
    reserved: int
    moved: int
    order_id: int | None
    fulfillment_id: int | None
    reason: str


TYPES = {
    **dict.fromkeys(("variant_id", "warehouse_id", "order_id", "fulfillment_id"), "bigint"),
    **dict.fromkeys(("on_hand_change", "reserved_change", "on_hand", "reserved", "moved"), "int"),
    **dict.fromkeys(("kind", "reason"), "text"),
}


def insert_movements(kind: MovementKind | None, rows: str, /, *, table: str = TABLE, **values: str) -> str:
    """Return an INSERT that appends one movement for each row of `rows`.

    `rows` is the SQL text after FROM. `values` has SQL expressions by column. Without an expression, ids,
    `on_hand` and `reserved` are copied from the row's columns of the same name, and changes are 0. `kind` may
    be None if `values` has an expression for the column `kind`.
    """
    expressions = DEFAULTS | ({"kind": f"'{kind}'"} if kind else {}) | values
    if unknown := expressions.keys() - set(COLUMNS):
        raise ValueError(f"A stock movement has no column {', '.join(sorted(unknown))}.")
    names = [name for name in COLUMNS if name in expressions]
    selected = ", ".join(expressions[name] for name in names)
    return f"INSERT INTO {table} ({', '.join(names)})\nSELECT {selected}\nFROM {rows}"


def movement_arrays(*names: str) -> str:
    """Return a FROM item `m` that unpacks one array parameter per column, with the row's `position`."""
    arrays = ", ".join(f"%({name}s)s::{TYPES[name]}[]" for name in names)
    return f"unnest({arrays}) WITH ORDINALITY AS m ({', '.join(names)}, position)"


def array_params(movements: list[MovementRow], *names: str) -> dict[str, list[object]]:
    """Return the parameters of `movement_arrays`."""
    return {f"{name}s": [getattr(movement, name) for movement in movements] for name in names}
