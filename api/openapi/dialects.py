"""The dialects: operations and fields of existing clients, each with a canonical form in the interface.

The mark `x-also` names the canonical form, which new clients choose. Dialects stay supported, so they are not
marked as deprecated.
"""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

OPERATIONS: Final = dict.fromkeys(
    ("approve_cancelation", "refuse_cancelation", "refuse_cancellation"), "answer_cancelation"
)
"""Operations of dialects, each with its canonical operation."""
FIELDS: Final = {
    "TrackingBody": {"data": "tracking_number"},
    "ShipBody": {"data": "tracking_number"},
    "ImportProductsBody": {"url": "file_url", "schema": "field_mapping"},
    "PropertyBody": {"type": "name"},
}
"""Fields of dialects by component, each with the canonical field of the same body."""


def mark_dialects(paths: Schema, schemas: dict[str, Schema]) -> None:
    """Mark each operation and field of a dialect."""
    for item in paths.values():
        for operation in item.values():
            if operation["operationId"] in OPERATIONS:
                operation |= {"deprecated": False, "x-also": OPERATIONS[operation["operationId"]]}
    for component, fields in FIELDS.items():
        for name, canonical in fields.items():
            if component in schemas:
                schemas[component]["properties"][name] |= {"deprecated": False, "x-also": canonical}
