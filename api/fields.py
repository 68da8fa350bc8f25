"""Serializer fields that accept every clear spelling of a value and refuse ambiguous spellings."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from django.utils.dateparse import parse_date, parse_datetime
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.currencies import CURRENCIES, UNKNOWN
from api.ids import LARGEST_ID

INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|[\ud800-\udfff]")


def control_fault(text: str) -> str:
    """Return a message that points at the first control character of a text, or an empty string."""
    found = CONTROL.search(text)
    if found is None:
        return ""
    position = found.start() + 1
    return f"Must not hold a control character: U+{ord(found[0]):04X} (at character {position})."


class Text(serializers.CharField):
    """A string, trimmed. A number is refused, because it may have lost leading zeros."""

    default_error_messages = {
        "invalid": "Must be a string.",
        "number": "Must be a string: write it in quotes, with its leading zeros.",
    }

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", 255)
        super().__init__(**kwargs)

    def run_validation(self, data: object = serializers.empty) -> Any:
        if isinstance(data, int | Decimal) and not isinstance(data, bool):
            raise serializers.ValidationError(self.error_messages["number"], code="invalid")
        if data is not serializers.empty and data is not None and not isinstance(data, str):
            self.fail("invalid")
        if isinstance(data, str) and (fault := control_fault(data)):
            raise serializers.ValidationError(fault, code="control")
        return super().run_validation(data)


class Optional(Text):
    """A string that may be absent, empty or null. All three mean the empty string."""

    def __init__(self, **kwargs: object) -> None:
        super().__init__(required=False, allow_blank=True, allow_null=True, **kwargs)

    def run_validation(self, data: object = serializers.empty) -> Any:
        value = super().run_validation(data)
        return "" if value is None else value


class Integer(serializers.IntegerField):
    """A whole number, as a JSON number or a string (`3`, `"3"`, `3.0`)."""

    default_error_messages = {"invalid": "Must be a whole number."}

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("max_value", 2**31 - 1)
        super().__init__(**kwargs)

    def to_internal_value(self, data: object) -> int:
        if isinstance(data, str) and INTEGER.fullmatch(data.strip()) and len(data) < 30:
            return int(data)
        if isinstance(data, Decimal) and -(10**18) < data < 10**18 and data == data.to_integral_value():
            return int(data)
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return int(data)


class Id(Integer):
    def __init__(self, **kwargs: object) -> None:
        super().__init__(min_value=1, max_value=LARGEST_ID, **kwargs)


class Exact(serializers.DecimalField):
    """An exact decimal, as a JSON number or a string. It is never rounded."""

    default_error_messages = {"invalid": "Must be a number such as 19.99."}

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("max_digits", 14)
        kwargs.setdefault("decimal_places", 4)
        kwargs.setdefault("min_value", Decimal(0))
        super().__init__(coerce_to_string=False, normalize_output=False, **kwargs)

    def to_internal_value(self, data: object) -> Decimal:
        if isinstance(data, bool) or not isinstance(data, int | str | Decimal):
            self.fail("invalid")
        text = str(data).strip()
        if not DECIMAL.fullmatch(text) or len(text) > 60:
            self.fail("invalid")
        return self.quantize(self.validate_precision(_plain(Decimal(text))))

    def quantize(self, value: Decimal) -> Decimal:
        return value


def _plain(value: Decimal) -> Decimal:
    """Remove trailing zeros, so that they do not count as digits when the precision is checked."""
    stripped = value.normalize()
    exponent = stripped.as_tuple().exponent
    if isinstance(exponent, int) and exponent > 0 and stripped.adjusted() < 25:
        # Write 1E+2 as 100. Larger numbers keep their exponent: the check of the precision refuses them.
        return Decimal(f"{stripped:f}")
    return stripped


class Choice(serializers.ChoiceField):
    """One of several words. The error message lists the words."""

    def __init__(self, choices: Any, **kwargs: Any) -> None:
        super().__init__(choices, **kwargs)
        if "invalid_choice" not in (kwargs.get("error_messages") or {}):
            listed = ", ".join(map(str, self.choices))
            self.error_messages["invalid_choice"] = f"Must be one of {listed}."
            self.error_messages["null"] = self.error_messages["invalid_choice"]


class Currency(Text):
    """A currency's code of ISO 4217, in upper or lower case."""

    def __init__(self, **kwargs: object) -> None:
        super().__init__(max_length=3, min_length=3, **kwargs)

    def run_validation(self, data: object = serializers.empty) -> Any:
        if isinstance(data, str):
            data = data.strip().upper()
            if data not in CURRENCIES:
                raise serializers.ValidationError(f"{data[:20]!r} {UNKNOWN}", code="invalid_currency")
        return super().run_validation(data)


class Array(serializers.ListField):
    """An array whose length is checked before its elements."""

    default_error_messages = {"not_a_list": "Must be an array."}

    def to_internal_value(self, data: Any) -> list[object]:
        if isinstance(data, list) and self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return super().to_internal_value(data)


class Flag(serializers.BooleanField):
    """The JSON values true and false, and nothing else."""

    default_error_messages = {"invalid": "Must be true or false, without quotes. 0 and 1 are not accepted."}

    def to_internal_value(self, data: object) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


@extend_schema_field(OpenApiTypes.DATE)
class Date(serializers.Field[date, Any, str, Any]):
    """A date as `YYYY-MM-DD`. A date-time is read as its date."""

    default_error_messages = {"invalid": "Must be a date such as 2026-01-31."}

    def to_internal_value(self, data: object) -> date:
        if not isinstance(data, str) or not data.isascii():
            self.fail("invalid")
        try:
            value = parse_date(data) or _date_of(parse_datetime(data))
        except ValueError:
            value = None
        if value is None:
            self.fail("invalid")
        return value

    def to_representation(self, value: date) -> str:
        return value.isoformat()


def _date_of(moment: datetime | None) -> date | None:
    return moment.date() if moment else None


def parse_moment(text: str) -> datetime | None:
    """Parse an ISO 8601 date-time, or a date as its first instant. Return None for other texts.

    A time without an offset is UTC.
    """
    if not text.isascii() or len(text) > 40:
        return None
    try:
        # If a client does not encode its URL, the plus of +00:00 arrives as a space.
        moment = parse_datetime(re.sub(r" (\d\d:?\d\d)$", r"+\1", text))
        if moment is None:
            day = parse_date(text)
            moment = datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None
        if moment is None:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@extend_schema_field(OpenApiTypes.DATETIME)
class Moment(serializers.Field[datetime, Any, str, Any]):
    """An ISO 8601 date-time."""

    default_error_messages = {"invalid": "Must be a date-time such as 2026-01-31T12:00:00Z."}

    def to_internal_value(self, data: object) -> datetime:
        moment = parse_moment(data) if isinstance(data, str) else None
        if moment is None:
            self.fail("invalid")
        return moment

    def to_representation(self, value: datetime) -> str:
        return value.isoformat()
