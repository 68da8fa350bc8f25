"""The elements of a stock push, in all notations that clients use (contract 7, 10 and 12).

The code uses no serializers, because 50,000 serializers would take longer than the statements for the counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum

from api.bodies import MOST_SUSPECTS
from api.fields import CONTROL, INTEGER
from api.ids import LARGEST_ID
from api.spelling import closest_match
from inventory.expecting import PAST, is_past

MOST = 2**31 - 1
LONGEST = 100
OPTIONAL = ("expected_at", "warehouse_id", "as_of")
"""The fields that an element may leave out. Without a check, a misspelled field would be ignored."""
ALIKE = 0.88
"""The least likeness of a misspelling and its field.

`expectedAt` is read as `expected_at`. But `warehouse` is not read as `warehouse_id`, because it may hold a
name.
"""


class IdType(StrEnum):
    """The kind of identifier in a push or a stock file."""

    SKU = "sku"
    UPC = "upc"
    EAN = "ean"
    ID_IN_SOURCE = "id_in_source"
    VARIANT_ID = "variant_id"


@dataclass(slots=True)
class Element:
    """The count of one identifier, in units; `index` is its position in the push."""

    index: int
    identifier: str
    amount: int
    expected_at: date | None = None
    sets_date: bool = False
    """Whether the element has `expected_at`; null removes the date."""


@dataclass(slots=True)
class ElementError:
    """The reason why an element was rejected."""

    index: int
    identifier: object
    code: str
    message: str


class _InvalidElement(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def read_elements(
    elements: Sequence[object], id_type: IdType, warehouse_id: int
) -> tuple[list[Element], list[ElementError]]:
    """Return the valid elements of a push to this warehouse, and the errors of the other elements."""
    valid: list[Element] = []
    errors: list[ElementError] = []
    misspelled = _misspelled(elements)
    for index, element in enumerate(elements):
        try:
            _refuse_misspellings(element, misspelled)
            valid.append(_read(index, element, id_type, warehouse_id))
        except _InvalidElement as error:
            errors.append(
                ElementError(index, _identifier_as_sent(element, id_type), error.code, error.message)
            )
    return valid, errors


def _misspelled(elements: Sequence[object]) -> dict[str, str]:
    """Return the keys that are probably misspelled optional fields, each with the name of the field."""
    known = {"id", "amount", "quantity", *OPTIONAL, *IdType}
    unknown = dict.fromkeys(
        key for element in elements if isinstance(element, dict) for key in element if key not in known
    )
    near = {key: closest_match(key, OPTIONAL, likeness=ALIKE) for key in list(unknown)[:MOST_SUSPECTS]}
    return {key: name for key, name in near.items() if name}


def _refuse_misspellings(element: object, misspelled: dict[str, str]) -> None:
    if misspelled and isinstance(element, dict):
        for key, name in misspelled.items():
            if key in element and name not in element:
                raise _InvalidElement("unknown_field", f"{key}: Unknown field. Did you mean {name}?")


def _read(index: int, element: object, id_type: IdType, warehouse_id: int) -> Element:
    if not isinstance(element, dict):
        raise _InvalidElement(
            "invalid", f'Must be an object such as {{"{id_type.value}": "A-1", "quantity": 5}}.'
        )
    _refuse_contradictions(element, warehouse_id)
    identifier = _one_of(element, "id", id_type.value)
    amount = _one_of(element, "amount", "quantity")
    read = Element(index, _identifier(identifier, id_type), _amount(amount))
    if "expected_at" in element:
        read.sets_date, read.expected_at = True, _day(element["expected_at"])
    return read


def _day(value: object) -> date | None:
    """Return a restock date; None for null."""
    if value is None:
        return None
    try:
        day = date.fromisoformat(value) if isinstance(value, str) and len(value) == 10 else None
    except ValueError:
        day = None
    if day is None:
        raise _InvalidElement("invalid_date", "expected_at must be a date such as 2030-01-31.")
    if is_past(day):
        raise _InvalidElement("invalid_date", f"expected_at: {PAST}")
    return day


def _refuse_contradictions(element: dict[str, object], warehouse_id: int) -> None:
    """Refuse an element with another warehouse or its own time, because these apply to the whole push."""
    named = element.get("warehouse_id")
    if named is not None and _number(named, MOST) != warehouse_id:
        message = f"This push is for warehouse {warehouse_id}. Send a separate push for each warehouse."
        raise _InvalidElement("contradiction", message)
    if element.get("as_of") is not None:
        message = "as_of applies to the whole push. Send a separate push for counts of another time."
        raise _InvalidElement("contradiction", message)


def _one_of(element: dict[str, object], first: str, second: str) -> object:
    """Return the value of the key `first` or `second`. If the element has both keys, they must agree."""
    value, other = element.get(first), element.get(second)
    if value is None:
        value = other
    if value is None:
        raise _InvalidElement("required", f"{first} is missing ({second} means the same).")
    if other is not None and other != value:
        raise _InvalidElement("ambiguous", f"{first} and {second} mean the same, but differ.")
    return value


def _identifier(value: object, id_type: IdType) -> str:
    if id_type is IdType.VARIANT_ID:
        return str(_whole(value, "variant_id", most=LARGEST_ID))
    if not isinstance(value, str):
        raise _InvalidElement("invalid", f"The {id_type.value} must be a string.")
    text = value.strip()
    if not text:
        raise _InvalidElement("required", f"The {id_type.value} is empty.")
    if len(text) > LONGEST or CONTROL.search(text):
        message = f"The {id_type.value} is too long or contains a control character."
        raise _InvalidElement("invalid", message)
    return text


def _amount(value: object) -> int:
    return _whole(value, "amount", most=MOST)


def _whole(value: object, name: str, *, most: int) -> int:
    number = _number(value, most)
    if number is None:
        raise _InvalidElement("invalid", f"The {name} must be a whole number.")
    if not 0 <= number <= most:
        raise _InvalidElement("out_of_range", f"The {name} must be from 0 to {most}.")
    return number


def _number(value: object, most: int) -> int | None:
    """Return a whole number, also from a string or with a decimal point (`5`, `"5"`, `5.0`)."""
    if type(value) is int:
        return value
    if isinstance(value, str) and len(value) < 30 and INTEGER.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, Decimal) and abs(value) <= most and value == value.to_integral_value():
        return int(value)
    return None


def _identifier_as_sent(element: object, id_type: IdType) -> object:
    """Return the identifier as the client sent it, to name the element in an error."""
    if not isinstance(element, dict):
        return None
    value = element.get("id")
    if value is None:
        value = element.get(id_type.value)
    return value[:LONGEST] if isinstance(value, str) else value if isinstance(value, int) else None
