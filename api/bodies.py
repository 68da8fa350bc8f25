"""The validation of request bodies. It names every fault and returns plain data."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar, TypeVar

from django.http import QueryDict
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request

from api.errors import Invalid, TooLarge
from api.spelling import closest_match

# Validating an object costs the server more time than reading its bytes, so the number of objects is limited.
MOST_OBJECTS = 10_000
# Comparing an unknown key with the known keys takes time, so only this many unknown keys are compared.
MOST_SUSPECTS = 50

# Common names of fields in which clients name a line or a number of units.
UNIT_NAMES = {"line", "lines", "items", "line_id", "order_line_id", "variant_id", "sku", "upc", "ean"}
UNIT_NAMES |= {"quantity", "qty", "amount", "count", "pieces", "units"}

SWITCHES = ("active", "enabled", "is_active", "is_enabled", "paused", "disabled")
NO_TRIAL = "This call has no trial run, so it would change data. Leave the field out to make the change."

ARRAY_MESSAGES = {
    "not_a_list": "Must be an array.",
    "empty": "Must have at least one element.",
    "max_length": "Has too many elements: {max_length} is the most.",
}

S = TypeVar("S", bound=serializers.BaseSerializer[Any])


class Body(serializers.Serializer[Any]):
    """A JSON object. Unknown keys are ignored, unless they look like a misspelling."""

    default_error_messages = {"invalid": "Must be a JSON object."}

    exacting: ClassVar[bool] = True
    """Whether to refuse misspelled optional fields too. False if the answer names them in `warnings`."""
    most_objects: ClassVar[int | None] = MOST_OBJECTS
    """The maximum number of objects in the body. None if the body's own validation counts them."""
    narrowed_by: ClassVar[str] = ""
    """The field that limits the request, for example to some lines of an order.

    Without this field, the request has no limit, so an unknown field that may mean this field is refused.
    """

    often_meant: ClassVar[Mapping[str, str]] = {}
    """Common wrong names of fields, each with the right name. A body with only the wrong name is refused."""

    @classmethod
    def many_init(cls, *args: Any, **kwargs: Any) -> Any:
        """Return a serializer for an array of bodies. `allow_null` allows a null array, not null elements."""
        nullable = kwargs.pop("allow_null", False)
        kwargs["error_messages"] = ARRAY_MESSAGES | kwargs.get("error_messages", {})
        array = super().many_init(*args, **kwargs)
        # Set `allow_null` in `_kwargs` too: DRF copies a field by calling its class again with `_kwargs`.
        array.allow_null = array._kwargs["allow_null"] = nullable  # type: ignore[attr-defined]
        return array

    def to_internal_value(self, data: object) -> Any:
        if self.parent is not None and getattr(self.root, "partial", False):
            # A PATCH replaces each field that it names, so a nested object must be complete, as in a POST.
            return reader(type(self)).to_internal_value(data)
        if isinstance(data, dict):
            self._refuse_misspellings(data)
        return super().to_internal_value(data)

    def unknown(self, data: dict[str, object]) -> list[str]:
        """Return the keys of the body that this serializer does not know."""
        return [key for key in data if key not in self.fields]

    def needed(self) -> list[str]:
        """Return the names of the required fields."""
        return [name for name, field in self.fields.items() if field.required]

    def _refuse_misspellings(self, data: dict[str, object]) -> None:
        absent = [name for name in self.fields.keys() if name not in data]  # noqa: SIM118 - wrong stubs
        needed = [name for name in self.needed() if name in absent]
        everything = bool(self.narrowed_by) and data.get(self.narrowed_by) is None
        for key in self.unknown(data)[:MOST_SUSPECTS]:
            near = closest_match(key, needed, likeness=0.8)
            if self.exacting and not near:
                meant_field = self.often_meant.get(key)
                certain = meant_field if meant_field and meant_field not in data else None
                near = certain or closest_match(key, absent)
            if not near and everything and self._may_narrow(key, data[key]):
                near = self.narrowed_by
            trial = self.exacting and "dry_run" not in self.fields and requests_trial(key, data[key])
            if near or trial:
                message = f"Unknown field. Did you mean {near}?" if near else NO_TRIAL
                raise ValidationError({key: [ErrorDetail(message, code="unknown_field")]})

    def _may_narrow(self, key: str, value: object) -> bool:
        """Tell whether a client that sent this unknown field probably meant the field `narrowed_by`."""
        narrows = self.fields[self.narrowed_by]
        counts = isinstance(narrows, serializers.IntegerField) and isinstance(value, int | float | Decimal)
        return may_name_units(key, value) or (counts and not isinstance(value, bool))


def names_of_switch(field: str) -> dict[str, str]:
    """Return `often_meant` for a field that switches something on or off.

    Webhooks have `active`, and automatic imports have `enabled`. A client that confuses them would switch
    nothing off.
    """
    return dict.fromkeys((name for name in SWITCHES if name != field), field)


def may_name_units(key: str, value: object) -> bool:
    """Tell whether an unknown field may name units or a number of units."""
    return isinstance(value, dict | list) or key.lower() in UNIT_NAMES


def requests_trial(key: str, value: object) -> bool:
    """Tell whether an unknown field asks for a trial without changes, such as `"dry_run": true`."""
    name = key.lower().replace("_", "").replace("-", "")
    return name == "dryrun" and value not in (None, False, "", 0, "0", "false")


def refuse_units(data: object, instead: str) -> None:
    """Refuse a body that names units, for a call that always concerns all units.

    `instead` is a sentence that names the API call for some of the units. Raises Invalid for the first field
    that names units or asks for a trial.
    """
    message = f"This call concerns all units. {instead}"
    # Allow an empty array: some languages write an empty object as an empty array.
    if isinstance(data, list) and data:
        raise Invalid(message)
    fields: dict[str, object] = data if isinstance(data, dict) else {}
    for key, value in fields.items():
        if value is not None and may_name_units(key, value):
            raise Invalid.at(key, message, "unknown_field")
        if requests_trial(key, value):
            raise Invalid.at(key, NO_TRIAL, "unknown_field")


def json_of(request: Request) -> Any:
    """Return the request's JSON. An empty body (of any content type) and null count as an empty object.

    Some generated clients send null if they have no body.
    """
    data = request.data
    return {} if data is None or isinstance(data, QueryDict) else data


def read(serializer: type[S], request: Request, **kwargs: object) -> Any:
    """Return the validated body of a request. Raises ValidationError that names each wrong field."""
    data = json_of(request)
    if not isinstance(data, dict):
        raise Invalid("The body must be a JSON object.")
    return validated(serializer, data, **kwargs)


def validated(serializer: type[S], data: Any, **kwargs: Any) -> Any:
    """Validate data with a serializer.

    Raises TooLarge before any field is checked, or ValidationError that names each wrong field.
    """
    most = getattr(serializer, "most_objects", MOST_OBJECTS)
    if most is not None and _objects(data) > most:
        raise TooLarge(f"The body has more than {most} objects. Send fewer in one request.")
    if not kwargs:
        return reader(serializer).run_validation(data)  # type: ignore[arg-type]  # DRF's stubs: not hashable
    checked = serializer(data=data, **kwargs)
    checked.is_valid(raise_exception=True)
    return checked.validated_data


def _objects(data: object) -> int:
    """Count the objects in a body."""
    if isinstance(data, dict):
        return 1 + sum(map(_objects, data.values()))
    return sum(map(_objects, data)) if isinstance(data, list) else 0


@functools.cache
def reader(serializer: type[S]) -> S:
    """Return the shared instance of a serializer class.

    Creating the fields of a serializer takes longer than reading a body, and validation does not change the
    fields.
    """
    return serializer()


def fields_of(body: type[Body]) -> tuple[str, ...]:
    """Return the names of a body's fields, in order."""
    return tuple(reader(body).fields.keys())
