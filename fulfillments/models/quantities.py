"""Units of a fulfillment's lines, in the forms that callers, events and messages use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from api.errors import Invalid
from catalog.models import Variant
from fulfillments.models.line import FulfillmentLine

Quantities = Mapping[int, int]
"""Units by the id of a fulfillment's line."""


class NamedUnits(dict[int, int]):
    """Units by the id of a line. `fields` has the request field of each quantity, for error messages."""

    def __init__(self, units: Quantities, fields: Mapping[int, str]) -> None:
        super().__init__(units)
        self.fields = fields


def as_items(quantities: Quantities) -> list[dict[str, int]]:
    return [{"line": line, "quantity": quantity} for line, quantity in sorted(quantities.items()) if quantity]


def order_items(quantities: Quantities) -> list[dict[str, int]]:
    """Return units by order line, in the form of an order's events."""
    return [
        {"order_line_id": line, "quantity": quantity} for line, quantity in quantities.items() if quantity
    ]


def check_within(
    lines: list[FulfillmentLine],
    quantities: Quantities,
    limit: Callable[[FulfillmentLine], int],
    word: str,
    field: str,
) -> None:
    """Raise Invalid for a line of another fulfillment, or for more units than the limit.

    The error names the request field with the line's quantity if this field is known, else `field`.
    """
    known = {line.pk: line for line in lines}
    fields = quantities.fields if isinstance(quantities, NamedUnits) else {}
    for pk, quantity in quantities.items():
        if pk not in known:
            raise Invalid.at(field, f"{pk} is not a line of this fulfillment; it has {sorted(known)}.")
        if quantity > limit(known[pk]):
            name = f"line {pk} ({known[pk].sku})"
            message = f"{name} has {limit(known[pk])} units {word}; {quantity} are too many."
            raise Invalid.at(fields.get(pk, field), message)


def spread(
    lines: list[FulfillmentLine],
    items: Sequence[Mapping[str, Any]],
    room: Callable[[FulfillmentLine], int],
    path: str,
) -> NamedUnits:
    """Return units by line for items that name a line by its id, sku, upc or ean.

    Several lines with the same name are filled in turn. Raises Invalid for an item with a name that no line
    has, and for an item whose names belong to different lines. `path` is the request field of the items, for
    the error.
    """
    quantities, fields = dict[int, int](), dict[int, str]()
    named_lines = _LinesByName(lines)
    for index, item in enumerate(items):
        name = next(field for field in NAMES if item.get(field))
        matching = named_lines.matching(name, item[name])
        if not matching:
            known = ", ".join(sorted(str(value) or "(none)" for value in named_lines.known(name)))
            message = f"{item[name]} is not in this fulfillment; its lines have {known}."
            raise Invalid.at(f"{path}[{index}].{name}", message, "not_found")
        named_lines.refuse_two(item, matching, f"{path}[{index}]")
        left = int(item["quantity"])
        for line in matching:
            units = min(left, max(room(line) - quantities.get(line.pk, 0), 0))
            quantities[line.pk] = quantities.get(line.pk, 0) + units
            left -= units
        fields |= {line.pk: f"{path}[{index}].quantity" for line in matching}
        # The last line also gets the units for which no line has room: the move then raises an error.
        quantities[matching[-1].pk] += left
    return NamedUnits({line: quantity for line, quantity in quantities.items() if quantity}, fields)


NAMES = ("id", "sku", "upc", "ean")
"""The fields of an item that can name a line. The first field with a value is used."""


class _LinesByName:
    """A fulfillment's lines by id, sku, upc or ean.

    A value is compared with the agreed values of the lines, then with the present values of their variants.
    """

    def __init__(self, lines: list[FulfillmentLine]) -> None:
        self._lines = lines
        self._agreed: dict[str, dict[str, list[FulfillmentLine]]] = {}
        self._now: dict[str, dict[str, list[FulfillmentLine]]] = {}

    def matching(self, name: str, value: str) -> list[FulfillmentLine]:
        agreed = self._by_agreed(name).get(value, [])
        return agreed if agreed or name == "id" else self._by_now(name).get(value, [])

    def refuse_two(self, item: Mapping[str, Any], matching: list[FulfillmentLine], path: str) -> None:
        """Raise Invalid if the item has a name of other lines. A name that no line has is ignored."""
        for name in NAMES:
            others = self.matching(name, item[name]) if item.get(name) else matching
            if others and not any(line in matching for line in others):
                line, other = matching[0], others[0]
                message = (
                    f"{item[name]} is line {other.pk} ({other.sku}), but this element names line {line.pk} "
                    f"({line.sku})."
                )
                raise Invalid.at(f"{path}.{name}", message, "contradiction")

    def known(self, name: str) -> Collection[str]:
        """Return the agreed values of the field `name`, or else the present values of the variants."""
        return self._by_agreed(name) or self._by_now(name)

    def _by_agreed(self, name: str) -> dict[str, list[FulfillmentLine]]:
        if name not in self._agreed:
            # Lines have no field `ean`, so there are no agreed values for it.
            named = ((getattr(line, name), line) for line in self._lines if hasattr(line, name))
            self._agreed[name] = _grouped(named)
        return self._agreed[name]

    def _by_now(self, name: str) -> dict[str, list[FulfillmentLine]]:
        if name not in self._now:
            variants = Variant.objects.filter(pk__in={line.variant_id for line in self._lines})
            names: dict[int, str] = dict(variants.values_list("pk", name))
            self._now[name] = _grouped((names[line.variant_id], line) for line in self._lines)
        return self._now[name]


def _grouped(named: Iterable[tuple[str, FulfillmentLine]]) -> dict[str, list[FulfillmentLine]]:
    groups: dict[str, list[FulfillmentLine]] = {}
    for name, line in named:
        groups.setdefault(name, []).append(line)
    return groups


def by_variant(lines: list[FulfillmentLine], quantities: Quantities) -> Counter[int]:
    """Return the units of each variant.

    A repeated request for a parcel is recognized by these sums, because it may name other lines of the same
    variants.
    """
    variants = {line.pk: line.variant_id for line in lines}
    total: Counter[int] = Counter()
    for line, quantity in quantities.items():
        total[variants.get(line, 0)] += quantity
    return total


def in_words(lines: list[FulfillmentLine], quantities: Quantities) -> str:
    """Return text such as `2 of line 7 (LAMP), 1 of line 8 (MAT)`."""
    skus = {line.pk: line.sku for line in lines}
    named = (f"{units} of line {line} ({skus.get(line, '')})" for line, units in sorted(quantities.items()))
    return ", ".join(named) or "nothing"
