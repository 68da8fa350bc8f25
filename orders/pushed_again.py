"""A push under the number of an existing order: a repetition, or an error if its content differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from api.errors import ApiError, field_error
from orders.addresses.addresses import normalised
from orders.amounts import refuse_fractions
from orders.models import Order, OrderLine
from orders.personal import personal_fields
from orders.processing_state import ProcessingState
from orders.push_body import LINE_FIELDS, ORDER_FIELDS, digest


class OrderConflict(ApiError):
    code, status = "order_conflict", 409


def check_same_content(
    order: Order, pushed: Order, lines: Sequence[OrderLine], content: Mapping[str, object]
) -> None:
    """Raise OrderConflict or Invalid unless the push has the content of the existing order."""
    same = {digest(content)}
    if order.currency == pushed.currency:  # a push may leave out its default currency
        same |= {digest({**content, "currency": each}) for each in ("", order.currency)}
    if order.content_digest in same:
        return
    # Check after the comparison: a repetition is not refused, even if the default currency has changed.
    refuse_fractions(pushed, lines)
    differing = _differing(order, pushed, lines)
    if differing or order.erased_at is not None:
        raise _conflict(order, differing)


def _conflict(order: Order, differing: Sequence[str]) -> OrderConflict:
    named = f", which differs in {', '.join(differing[:5])}" if differing else ""
    more = f" and {len(differing) - 5} more" if len(differing) > 5 else ""
    erased = " (its personal data is erased and cannot be compared)" if order.erased_at is not None else ""
    return OrderConflict(
        f"retailer_order_id {order.retailer_order_id} was pushed before with other content, as order "
        f"{order.pk}{erased}{named}{more}. A second push does not change an order: {_instead(order)}.",
        [field_error(field, f"Differs from order {order.pk}.", "differs") for field in differing],
    )


def _instead(order: Order) -> str:
    if order.processing_state == ProcessingState.CANCELED:
        return 'it is canceled, so send "reopen": true to push a new order under this number'
    if order.processing_state == ProcessingState.COMPLETED:
        return "it is completed, so use another number"
    return "cancel it, or use another number"


def _differing(order: Order, pushed: Order, lines: Sequence[OrderLine]) -> list[str]:
    """Return the fields in which a push differs from the stored order. Erased fields are left out."""
    # Old orders still have the country in the retailer's spelling, so normalise their addresses first.
    before = {name: getattr(order, name) for name in ORDER_FIELDS}
    before |= {name: normalised(before[name]) for name in ("shipping_address", "billing_address")}
    erased, erased_of_lines = _erased(order, Order), _erased(order, OrderLine)
    names = [name for name in ORDER_FIELDS if name not in erased]
    differing = [name for name in names if getattr(pushed, name) != before[name]]
    known = list(order.lines.order_by("position"))
    if len(lines) != len(known):
        return [*differing, "order_lines"]
    return differing + [
        f"order_lines[{line.position}].{name}"
        for line, kept in zip(lines, known, strict=True)
        for name, column in LINE_FIELDS.items()
        if column not in erased_of_lines and getattr(line, column) != getattr(kept, column)
    ]


def _erased(order: Order, model: type[Order | OrderLine]) -> set[str]:
    """Return the fields of the order, or of its lines, whose pushed values are erased."""
    return set() if order.erased_at is None else {field.name for field in personal_fields(model)}
