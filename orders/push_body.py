"""The body of a push. Many spellings of a value are accepted, and one form is stored (contract 4 and 12)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework.exceptions import ErrorDetail, ValidationError

from accounts.models import WhenShort
from api import fields
from api.bodies import Body, fields_of, reader
from api.errors import InvalidJson
from api.parsers import loads
from api.renderers import encode
from orders.addresses.addresses import normalised
from orders.models import OrderType

MOST_LINES = 1_000
MOST_WARNINGS = 100
MOST_LETTERS_OF_NOTES = 20_000


class AddressBody(Body):
    """An address. Missing parts are empty."""

    exacting = False

    first_name = fields.Optional()
    last_name = fields.Optional()
    address1 = fields.Optional()
    address2 = fields.Optional()
    country = fields.Optional(max_length=100)
    state = fields.Optional(max_length=100)
    city = fields.Optional(max_length=100)
    zip_code = fields.Optional(max_length=30)
    phone_number = fields.Optional(max_length=50)
    email = fields.Optional()
    company_name = fields.Optional()


ADDRESS_PARTS = fields_of(AddressBody)


class NoteBody(Body):
    name = fields.Text()
    value = fields.Text(max_length=2000, allow_blank=True)


class LineBody(Body):
    """One line: a quantity of the variant that `variant_id`, `upc` or `sku` names."""

    exacting = False

    sku = fields.Optional(max_length=100)
    upc = fields.Optional(max_length=14)
    supplier_id = fields.Id(required=False, allow_null=True)
    variant_id = fields.Id(required=False, allow_null=True)
    quantity = fields.Integer(min_value=1)
    billed_amount = fields.Exact(required=False, allow_null=True)
    tax_billed_amount = fields.Exact(required=False, allow_null=True)
    notes = NoteBody(many=True, required=False, allow_null=True)

    def validate(self, data: dict[str, object]) -> dict[str, object]:
        if not any(data.get(name) for name in ("sku", "upc", "variant_id")):
            message = "Needs a variant_id, a upc or a sku to find what is ordered."
            raise ValidationError({"sku": [ErrorDetail(message, code="required")]})
        return data


class OrderBody(AddressBody):
    """A pushed order. Parts of the shipping address may also be at the top level."""

    retailer_order_id = fields.Text(max_length=100)
    type = fields.Choice(choices=OrderType.choices, required=False, allow_null=True)
    id_in_source = fields.Optional(max_length=100)
    shipping_address = AddressBody(required=False)
    billing_address = AddressBody(required=False)
    shipping_method_code = fields.Optional(max_length=100)
    currency = fields.Currency(
        required=False,
        allow_null=True,
        help_text="The currency of billed amounts, shipping and taxes. Default: the retailer's currency.",
    )
    shipping_paid = fields.Exact(required=False, allow_null=True)
    shipping_tax = fields.Exact(required=False, allow_null=True)
    sales_division_code = fields.Optional(max_length=100)
    sales_order_number = fields.Optional(max_length=100)
    gift_message = fields.Optional(max_length=2000)
    is_gift = fields.Flag(required=False, allow_null=True)
    ship_until = fields.Date(required=False, allow_null=True)
    original_created_at = fields.Date(required=False, allow_null=True)
    when_short = fields.Choice(
        choices=WhenShort.choices,
        required=False,
        allow_null=True,
        help_text="What happens to units that are not in stock: they go to the best partner anyway, they "
        "stay with the order until stock arrives, or the order is refused (409). Default: the partnership's "
        "setting.",
    )
    notes = NoteBody(many=True, required=False, allow_null=True)
    reopen = fields.Flag(
        required=False,
        allow_null=True,
        help_text="If the order of this retailer_order_id is canceled, create a new one under the same "
        "number. Default: false.",
    )
    order_lines = LineBody(many=True, allow_empty=False, max_length=MOST_LINES)  # type: ignore[call-arg]

    def needed(self) -> list[str]:
        return [*super().needed(), "shipping_address"]

    def to_internal_value(self, data: object) -> dict[str, object]:
        if not isinstance(data, dict):
            return super().to_internal_value(data)  # type: ignore[no-any-return]
        body = {key: value for key, value in data.items() if key not in ADDRESS_PARTS}
        for name in ("shipping_address", "billing_address"):
            address = as_address(name, body.pop(name, None))
            if name == "shipping_address" and isinstance(address, dict | None):
                address = _top_level(data) | _filled(address or {})
            if address:
                body[name] = address
        checked = self._checked(body)
        checked["type"] = checked.get("type") or OrderType.DROPSHIP
        checked["is_gift"] = bool(checked.get("is_gift"))
        shipping = normalised(_whole(checked["shipping_address"]))
        billing = checked.get("billing_address")
        checked["shipping_address"] = shipping
        checked["billing_address"] = normalised(_whole(billing)) if billing else shipping
        return checked

    def _checked(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body's checked fields. Raises one ValidationError with all faults."""
        checked, errors = body, {}
        try:
            checked = super().to_internal_value(body)
        except ValidationError as error:
            errors = dict(error.detail)  # type: ignore[arg-type]
        missing = missing_parts(checked.get("shipping_address") or {})
        if missing and "shipping_address" not in errors and "unknown_field" not in _codes(errors):
            errors["shipping_address"] = missing
        if errors:
            raise ValidationError(errors)
        return checked

    def validate(self, content: dict[str, Any]) -> dict[str, object]:
        """Limit the length of all notes together, because every capture sends all of them to suppliers."""
        notes = [note for part in (content, *content["order_lines"]) for note in part.get("notes") or ()]
        letters = sum(len(note["name"]) + len(note["value"]) for note in notes)
        if letters > MOST_LETTERS_OF_NOTES:
            message = f"All notes together have {letters} characters; {MOST_LETTERS_OF_NOTES} is the maximum."
            raise ValidationError({"notes": [ErrorDetail(message, code="max_length")]})
        return content

    def warnings(self, data: Mapping[str, Any]) -> list[str]:
        """Return a warning for each ignored value: unknown fields, and address parts with two values."""
        shipping = as_address("shipping_address", data.get("shipping_address")) or {}
        twice = [
            part for part, value in _top_level(data).items() if shipping.get(part) not in (None, "", value)
        ]
        odd = [key for key in data if key not in self.fields and key not in ADDRESS_PARTS]
        for name in ("shipping_address", "billing_address"):
            odd += unknown_parts(name, data)
        odd += _unknown(reader(NoteBody), data.get("notes") or [], "notes[{}]")
        for index, line in enumerate(data["order_lines"]):
            odd += _unknown(reader(LineBody), [line], f"order_lines[{index}]")
            odd += _unknown(reader(NoteBody), line.get("notes") or [], f"order_lines[{index}].notes[{{}}]")
        differing = [f"{part}: differs from shipping_address.{part}, which counts." for part in twice]
        return ignored_fields(odd) + differing


ORDER_FIELDS = tuple(
    name for name in fields_of(OrderBody) if name not in (*ADDRESS_PARTS, "order_lines", "reopen")
)
"""The pushed fields that `Order` stores under the same names."""

NOT_SHARED = frozenset(
    {
        *("type", "id_in_source", "shipping_paid", "shipping_tax", "sales_division_code"),
        *("original_created_at", "when_short", "currency"),
    }
)
"""The pushed fields that suppliers do not see. A test checks that suppliers see every other field."""

LINE_FIELDS = {name: name for name in fields_of(LineBody)}
"""The pushed fields of a line, and the names of their columns."""
LINE_FIELDS |= {"supplier_id": "asked_supplier_id", "variant_id": "asked_variant_id"}


def ignored_fields(names: Sequence[str]) -> list[str]:
    """Return a warning for each ignored field, up to the limit, and the number of other ignored fields."""
    warnings = [f"{name}: there is no such field; it was ignored." for name in names[:MOST_WARNINGS]]
    if len(names) > MOST_WARNINGS:
        warnings.append(f"There are {len(names) - MOST_WARNINGS} more fields that were ignored.")
    return warnings


def unknown_parts(name: str, data: Mapping[str, object]) -> list[str]:
    """Return the paths of unknown parts in the address `name` of a body."""
    return _unknown(reader(AddressBody), [as_address(name, data.get(name)) or {}], name)


def _unknown(body: Body, items: list[dict[str, object]], path: str) -> list[str]:
    return [f"{path.format(index)}.{key}" for index, item in enumerate(items) for key in body.unknown(item)]


def _top_level(data: Mapping[str, object]) -> dict[str, object]:
    """Return the address parts at the top level of a body."""
    return _filled({part: data[part] for part in ADDRESS_PARTS if part in data})


def _filled(address: Mapping[str, object]) -> dict[str, object]:
    return {part: value for part, value in address.items() if value not in (None, "")}


def _codes(errors: Any) -> list[str]:
    """Return the error codes of the faults, without the faults of nested objects."""
    return [fault.code for faults in errors.values() if isinstance(faults, list) for fault in faults]


def as_address(name: str, value: object) -> Any:
    """Return an address as an object, or None if it is empty. The value may be a string with JSON.

    Raises ValidationError for other values.
    """
    value = value.strip() if isinstance(value, str) else value
    if isinstance(value, str) and value:
        try:
            value = loads(value)
        except InvalidJson:
            value = "no address"
        if not isinstance(value, dict):
            message = "Must be an object with the address parts, or a string that holds such a JSON object."
            raise ValidationError({name: [ErrorDetail(message, code="invalid")]})
    if value is not None and not isinstance(value, dict | str):
        raise ValidationError(
            {name: [ErrorDetail("Must be an object with the address parts.", code="invalid")]}
        )
    return value or None


def pushed_address(address: Mapping[str, str]) -> dict[str, str]:
    """Return an address with all parts and a country code. Raises ValidationError if a part is missing."""
    if missing := missing_parts(address):
        raise ValidationError({"shipping_address": missing})
    return normalised(_whole(address))


def _whole(address: Mapping[str, str]) -> dict[str, str]:
    return {part: address.get(part, "") for part in ADDRESS_PARTS}


def missing_parts(shipping: Mapping[str, object]) -> dict[str, Any]:
    """Return a fault for each missing part of an address that a shipment needs."""
    names = [part for part in ("country", "address1") if not shipping.get(part)]
    return {name: [ErrorDetail("An order cannot be shipped without it.", code="required")] for name in names}


def digest(content: Mapping[str, object]) -> str:
    """Return the hash of a normalised body. The order of keys and the formats of numbers do not matter."""
    return hashlib.sha256(encode(_sorted(content))).hexdigest()


def _sorted(value: object) -> Any:
    """Sort the keys of a value, and leave out empty values, which mean the same as missing values."""
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value) if value[key] not in (None, "", [])}
    if isinstance(value, list):
        return [_sorted(each) for each in value]
    return value
