"""The elements of a stock push, in each dialect that clients speak (contract 7, 10 and 12).

Read by hand: a serializer for each of 50,000 elements would cost more than writing them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from api.fields import CONTROL, INTEGER

MOST = 2**31 - 1
LONGEST = 100


class IdType(StrEnum):
    """What an identifier in a push or a stock file is."""

    SKU = "sku"
    UPC = "upc"
    EAN = "ean"
    ID_IN_SOURCE = "id_in_source"
    VARIANT_ID = "variant_id"


@dataclass(slots=True)
class Element:
    """So many pieces of what has this identifier; `index` is where it stood in the push."""

    index: int
    identifier: str
    amount: int


@dataclass(slots=True)
class ElementError:
    """Why an element did not land."""

    index: int
    identifier: object
    code: str
    message: str


class _Wrong(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def read_elements(
    elements: Sequence[object], id_type: IdType, warehouse_id: int
) -> tuple[list[Element], list[ElementError]]:
    """The elements of a push to that warehouse that can be understood, and the errors of the others."""
    good: list[Element] = []
    errors: list[ElementError] = []
    for index, element in enumerate(elements):
        try:
            good.append(_read(index, element, id_type, warehouse_id))
        except _Wrong as wrong:
            errors.append(ElementError(index, _named(element, id_type), wrong.code, wrong.message))
    return good, errors


def _read(index: int, element: object, id_type: IdType, warehouse_id: int) -> Element:
    if not isinstance(element, dict):
        raise _Wrong("invalid", f'Must be an object such as {{"{id_type.value}": "A-1", "quantity": 5}}.')
    _refuse_others(element, warehouse_id)
    identifier = _one_of(element, "id", id_type.value)
    amount = _one_of(element, "amount", "quantity")
    return Element(index, _identifier(identifier, id_type), _amount(amount))


def _refuse_others(element: dict[str, Any], warehouse_id: int) -> None:
    """Refuse what is said of one element, and would be passed over: another place, or a moment of its own."""
    place = element.get("warehouse_id")
    if place is not None and _number(place, MOST) != warehouse_id:
        message = f"This push is of warehouse {warehouse_id}: push what is in another one by itself."
        raise _Wrong("contradiction", message)
    if element.get("as_of") is not None:
        raise _Wrong("contradiction", "as_of is said of the whole push: push counts of another moment apart.")


def _one_of(element: dict[str, Any], first: str, second: str) -> object:
    """The value under either name; both may stand there when they agree."""
    value, other = element.get(first), element.get(second)
    if value is None:
        value = other
    if value is None:
        raise _Wrong("required", f"{first} is missing ({second} means the same).")
    if other is not None and other != value:
        raise _Wrong("ambiguous", f"{first} and {second} mean the same, but differ.")
    return value


def _identifier(value: object, id_type: IdType) -> str:
    if id_type is IdType.VARIANT_ID:
        return str(_whole(value, "variant_id", most=2**63 - 1))
    if not isinstance(value, str):
        raise _Wrong("invalid", f"The {id_type.value} must be a string.")
    text = value.strip()
    if not text:
        raise _Wrong("required", f"The {id_type.value} is empty.")
    if len(text) > LONGEST or CONTROL.search(text):
        raise _Wrong("invalid", f"The {id_type.value} is too long or holds a control character.")
    return text


def _amount(value: object) -> int:
    return _whole(value, "amount", most=MOST)


def _whole(value: object, name: str, *, most: int) -> int:
    number = _number(value, most)
    if number is None:
        raise _Wrong("invalid", f"The {name} must be a whole number.")
    if not 0 <= number <= most:
        raise _Wrong("out_of_range", f"The {name} must be from 0 to {most}.")
    return number


def _number(value: object, most: int) -> int | None:
    """A whole number, also in a string or written with a point (`5`, `"5"`, `5.0`)."""
    if type(value) is int:
        return value
    if isinstance(value, str) and len(value) < 30 and INTEGER.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, Decimal) and abs(value) <= most and value == value.to_integral_value():
        return int(value)
    return None


def _named(element: object, id_type: IdType) -> object:
    """The identifier as the client wrote it, when it is one that can be sent back."""
    if not isinstance(element, dict):
        return None
    value = element.get("id", element.get(id_type.value))
    return value[:LONGEST] if isinstance(value, str) else value if isinstance(value, int) else None
