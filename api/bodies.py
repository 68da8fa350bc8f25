"""Request bodies: read whole, refused with every fault named, or turned into plain data."""

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

# Each object of a body is read by the fields of its kind, which takes longer than to send it.
MOST_OBJECTS = 10_000
# Of an object's unknown keys so many are held against the known ones, which takes a moment for each.
MOST_SUSPECTS = 50

# What says which pieces are meant, and how many, by whatever name.
PIECES = {"line", "lines", "items", "line_id", "order_line_id", "variant_id", "sku", "upc", "ean"}
PIECES |= {"quantity", "qty", "amount", "count", "pieces", "units"}

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
    """Whether a misspelt optional field is refused too; off where the answer can name it in `warnings`."""
    most_objects: ClassVar[int | None] = MOST_OBJECTS
    """How many objects there may be in it; None where it counts them itself."""
    narrowed_by: ClassVar[str] = ""
    """A field whose absence means everything: nothing that may say how much is taken for noise then."""

    often_meant: ClassVar[Mapping[str, str]] = {}
    """What is surely meant by fields that there are not, where passing them over would do something else."""

    @classmethod
    def many_init(cls, *args: Any, **kwargs: Any) -> Any:
        """An array of these; what may be null is the array, never an element."""
        nullable = kwargs.pop("allow_null", False)
        kwargs["error_messages"] = ARRAY_MESSAGES | kwargs.get("error_messages", {})
        array = super().many_init(*args, **kwargs)
        # A serializer copies its fields by making them anew from these.
        array.allow_null = array._kwargs["allow_null"] = nullable  # type: ignore[attr-defined]
        return array

    def to_internal_value(self, data: Any) -> Any:
        if self.parent is not None and getattr(self.root, "partial", False):
            # What a PATCH names it replaces: an object in it is whole, as in a POST.
            return reader(type(self)).to_internal_value(data)
        if isinstance(data, dict):
            self._refuse_misspellings(data)
        return super().to_internal_value(data)

    def unknown(self, data: dict[str, Any]) -> list[str]:
        """The keys of the body that this serializer does not know."""
        return [key for key in data if key not in self.fields]

    def needed(self) -> list[str]:
        """The fields that a body cannot do without."""
        return [name for name, field in self.fields.items() if field.required]

    def _refuse_misspellings(self, data: dict[str, Any]) -> None:
        absent = [name for name in self.fields.keys() if name not in data]  # noqa: SIM118 - its stubs err
        needed = [name for name in self.needed() if name in absent]
        everything = bool(self.narrowed_by) and data.get(self.narrowed_by) is None
        for key in self.unknown(data)[:MOST_SUSPECTS]:
            near = closest_match(key, needed, likeness=0.8)
            if self.exacting and not near:
                surely = self.often_meant.get(key)
                near = surely if surely and surely not in data else closest_match(key, absent)
            if not near and everything and self._may_narrow(key, data[key]):
                near = self.narrowed_by
            if near:
                message = f"Unknown field. Did you mean {near}?"
                raise ValidationError({key: [ErrorDetail(message, code="unknown_field")]})

    def _may_narrow(self, key: str, value: Any) -> bool:
        """Whether an unknown field may stand for the one whose absence means everything."""
        narrows = self.fields[self.narrowed_by]
        counts = isinstance(narrows, serializers.IntegerField) and isinstance(value, int | float | Decimal)
        return may_name_pieces(key, value) or (counts and not isinstance(value, bool))


def may_name_pieces(key: str, value: Any) -> bool:
    """Whether a field that nobody asked for may say which pieces are meant, or how many."""
    return isinstance(value, dict | list) or key.lower() in PIECES


def refuse_pieces(data: Any, instead: str) -> None:
    """Refuse what would do a part of what a call can only do as a whole, rather than do all of it.

    Raises Invalid naming the first such field, with `instead`: what takes parts.
    """
    message = f"This call is for all its pieces. {instead}"
    if isinstance(data, list) and data:  # an empty one is how some languages write an empty object
        raise Invalid(message)
    fields: dict[str, Any] = data if isinstance(data, dict) else {}
    for key, value in fields.items():
        if value is not None and may_name_pieces(key, value):
            raise Invalid.at(key, message, "unknown_field")


def json_of(request: Request) -> Any:
    """The request's JSON; an empty body, of whatever content type, is an empty object."""
    data = request.data
    return {} if isinstance(data, QueryDict) else data


def read(serializer: type[S], request: Request, **kwargs: Any) -> Any:
    """The validated body of a request. Raises ValidationError naming each field at fault."""
    data = json_of(request)
    if not isinstance(data, dict):
        raise Invalid("The body must be a JSON object.")
    return validated(serializer, data, **kwargs)


def validated(serializer: type[S], data: Any, **kwargs: Any) -> Any:
    """Data that a serializer has checked.

    Raises ValidationError naming each field at fault, TooLarge before any is looked at.
    """
    most = getattr(serializer, "most_objects", MOST_OBJECTS)
    if most is not None and _objects(data) > most:
        raise TooLarge(f"The body has more than {most} objects: send fewer at once.")
    if not kwargs:
        return reader(serializer).run_validation(data)  # type: ignore[arg-type]  # its stubs: not hashable
    checked = serializer(data=data, **kwargs)
    checked.is_valid(raise_exception=True)
    return checked.validated_data


def _objects(data: Any) -> int:
    """How many objects there are in what was sent."""
    if isinstance(data, dict):
        return 1 + sum(map(_objects, data.values()))
    return sum(map(_objects, data)) if isinstance(data, list) else 0


@functools.cache
def reader(serializer: type[S]) -> S:
    """The one instance of a serializer that reads all bodies of its kind.

    Making its fields anew costs more than reading a body; validating leaves no trace in them.
    """
    return serializer()


def fields_of(body: type[Body]) -> tuple[str, ...]:
    """The names of a body's fields, in their order."""
    return tuple(reader(body).fields.keys())
