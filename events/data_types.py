"""The `data` of each type of event, as TypedDicts. The schema documents are generated from `DATA_TYPES`."""

from __future__ import annotations

from typing import Any, Final, NotRequired, TypedDict


class UnitsJson(TypedDict):
    line: NotRequired[int]
    order_line_id: NotRequired[int]
    quantity: int


"""Units of one line. Suppliers get the `line` of their fulfillment; retailers get the `order_line_id`."""
ValueChangeJson = TypedDict("ValueChangeJson", {"from": Any, "to": Any})


class UnitsDataJson(TypedDict):
    """The units that the event is about."""

    items: list[UnitsJson]


class AcceptedDataJson(TypedDict):
    """The tracking number that the supplier gave on acceptance, or an empty string."""

    tracking_number: str


class ParcelDataJson(UnitsDataJson):
    """A parcel and its units. `shipped_at` is only in `fulfillment.parcel_kept`.

    `doubtful` is true if the check digit of the tracking number is wrong.
    """

    tracking_number: str
    carrier: str
    shipped_at: NotRequired[str]
    doubtful: NotRequired[bool]


class CorrectionDataJson(TypedDict):
    """A parcel with its new and its old values. `shipped_as` is the number that was reported first."""

    shipment_id: int
    tracking_number: str
    carrier: str
    old_tracking_number: str
    old_carrier: str
    shipped_as: str
    doubtful: NotRequired[bool]


class ExpectedLineJson(TypedDict):
    """An order line that waits for stock, with the day on which the stock is expected."""

    order_line_id: int
    expected_at: str | None


class ExpectedDataJson(TypedDict):
    """The lines whose restock date changed."""

    expected: list[ExpectedLineJson]


class ReasonDataJson(UnitsDataJson):
    """Units with the reason of their rejection, return or reassignment, and the restock date if known."""

    reason: str
    expected_at: NotRequired[str]


class RestockedDataJson(UnitsDataJson):
    """Returned units that went back into stock, with the id that the supplier gave the return, or null."""

    return_id: str | None


class CancelationDataJson(ReasonDataJson):
    """All units whose cancellation is requested (`items`), and the units of the newest request (`added`)."""

    added: list[UnitsJson]


class CancelRequestDataJson(TypedDict):
    """A cancel request: its lines, and the units that were canceled or requested from suppliers."""

    reason: str
    cancel_id: NotRequired[str]
    lines: list[dict[str, Any]]
    items: list[UnitsJson]
    dropped: list[UnitsJson]
    canceled: int
    requested: int


class StateDataJson(TypedDict):
    """The new state of an order, and the state before."""

    processing_state: str
    previous_state: str


class CreatedOrderDataJson(TypedDict):
    """The retailer's number of a new order, and the units that wait for stock."""

    retailer_order_id: str
    waiting: NotRequired[list[UnitsJson]]


class InvoiceDataJson(TypedDict):
    """The number of the supplier's invoice."""

    invoice_id: str


class QuantityDataJson(TypedDict):
    """The number of units. `asked_again` is the id of a supplier that may get its rejected units again."""

    quantity: int
    asked_again: NotRequired[int]


class ChangedPartsDataJson(TypedDict):
    """The names of the parts of the address that were corrected."""

    changed: list[str]


class ChangedFieldsDataJson(TypedDict):
    """The old and the new value of each changed field."""

    changed: dict[str, ValueChangeJson]


class EndedWaitDataJson(UnitsDataJson):
    """The units that no longer wait for stock; the reason says which limit was reached."""

    reason: str
    dropped: list[UnitsJson]
    canceled: int


class CreatedVariantDataJson(TypedDict):
    """A new variant."""

    variant_id: int
    sku: str
    title: str


class ChangedVariantDataJson(ChangedFieldsDataJson):
    """A variant with the old and the new value of each changed field."""

    variant_id: int
    sku: str


class TradeDataJson(TypedDict):
    """The parties whose trade was suspended or resumed. `until` is the day on which it resumes, if set."""

    supplier_id: int
    retailer_id: int
    until: NotRequired[str | None]


OnHandJson = TypedDict("OnHandJson", {"from": int, "to": int})


class CountedStockDataJson(TypedDict):
    """A push to a warehouse, with numbers of variants; or the count of one variant by an operator."""

    warehouse_id: int
    updated: NotRequired[int]
    unchanged: NotRequired[int]
    variant_id: NotRequired[int]
    on_hand: NotRequired[OnHandJson]
    reason: NotRequired[str]


class AdjustedStockDataJson(TypedDict):
    """The units of one variant in a warehouse before and after an adjustment."""

    warehouse_id: int
    variant_id: int
    on_hand: OnHandJson
    reason: NotRequired[str]


class WarehouseDataJson(TypedDict):
    """A warehouse. `changed` is only in `warehouse.updated`."""

    warehouse_id: int
    name: str
    is_default: bool
    changed: NotRequired[dict[str, ValueChangeJson]]


class ImportMappingDataJson(TypedDict):
    """A saved mapping. `changed` is only in `import_mapping.updated`."""

    import_mapping_id: int
    name: str
    kind: str
    changed: NotRequired[dict[str, ValueChangeJson]]


class ImportPolicyDataJson(ChangedFieldsDataJson):
    """The changed limits of an approval rule. A new or deleted rule is compared with the default rule."""

    import_policy_id: int


class AutoImportDataJson(ChangedFieldsDataJson):
    """The changed fields of an automatic import.

    A new or deleted automatic import is compared with a disabled automatic import without options.
    """

    auto_import_id: int
    kind: str


class ImportFailureJson(TypedDict):
    """The reason why an import failed as a whole."""

    code: str
    message: str


class ImportDataJson(TypedDict):
    """An import job with its new status. An ended job has counts of rows, and an `error` if it failed.

    `left_out` names the warehouses that the approval excluded.
    """

    kind: str
    status: str
    source: str
    dry_run: bool
    reason: NotRequired[str]
    left_out: NotRequired[list[str]]
    created: NotRequired[int]
    updated: NotRequired[int]
    unchanged: NotRequired[int]
    rejected: NotRequired[int]
    duplicates: NotRequired[int]
    error: NotRequired[ImportFailureJson]


class WebhookDataJson(TypedDict):
    """The webhook that was tested."""

    webhook_id: int
    url: str


class NoDataJson(TypedDict):
    """No values: the event's type, order and fulfillment are sufficient."""


DATA_TYPES: Final[dict[str, type]] = {
    "order.created": CreatedOrderDataJson,
    "order.address_corrected": ChangedPartsDataJson,
    "order.ship_until_changed": ChangedFieldsDataJson,
    "order.cancel_requested": CancelRequestDataJson,
    "order.routed_again": QuantityDataJson,
    "order.stock_arrived": UnitsDataJson,
    "order.stock_expected": ExpectedDataJson,
    **dict.fromkeys(("order.held", "order.released", "order.erased"), NoDataJson),
    **dict.fromkeys(
        ("order.processing", "order.exception", "order.completed", "order.canceled"), StateDataJson
    ),
    **dict.fromkeys(
        (
            *("fulfillment.created", "fulfillment.extended", "fulfillment.held", "fulfillment.released"),
            "fulfillment.cancelation_refused",
        ),
        NoDataJson,
    ),
    "fulfillment.accepted": AcceptedDataJson,
    "fulfillment.shipped": ParcelDataJson,
    "fulfillment.parcel_kept": ParcelDataJson,
    "fulfillment.shipment_corrected": CorrectionDataJson,
    **dict.fromkeys(
        ("fulfillment.rejected", "fulfillment.returned", "fulfillment.withdrawn"), ReasonDataJson
    ),
    "fulfillment.cancelation_requested": CancelationDataJson,
    **dict.fromkeys(("fulfillment.canceled", "fulfillment.stock_arrived"), UnitsDataJson),
    "fulfillment.restocked": RestockedDataJson,
    "fulfillment.invoiced": InvoiceDataJson,
    "fulfillment.address_corrected": ChangedPartsDataJson,
    "fulfillment.ship_until_changed": ChangedFieldsDataJson,
    "order.wait_ended": EndedWaitDataJson,
    "variant.created": CreatedVariantDataJson,
    "variant.updated": ChangedVariantDataJson,
    **dict.fromkeys(("trade.suspended", "trade.resumed"), TradeDataJson),
    "inventory.updated": CountedStockDataJson,
    "inventory.adjusted": AdjustedStockDataJson,
    **dict.fromkeys(("warehouse.created", "warehouse.updated"), WarehouseDataJson),
    **dict.fromkeys(
        ("import_mapping.created", "import_mapping.updated", "import_mapping.deleted"), ImportMappingDataJson
    ),
    **dict.fromkeys(
        ("import_policy.created", "import_policy.updated", "import_policy.deleted"), ImportPolicyDataJson
    ),
    **dict.fromkeys(
        ("auto_import.created", "auto_import.updated", "auto_import.deleted"), AutoImportDataJson
    ),
    **dict.fromkeys(
        (
            *("import.queued", "import.started", "import.awaiting_approval", "import.approved"),
            *("import.succeeded", "import.failed", "import.retried", "import.cancel_requested"),
            "import.canceled",
        ),
        ImportDataJson,
    ),
    "webhook.tested": WebhookDataJson,
}
"""The data of each type of event that partners read. Other apps may register further types."""
