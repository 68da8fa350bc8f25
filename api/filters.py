"""Filters of lists, as one JSON object or as plain parameters. A wrong filter is refused, never ignored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl

import django_filters
from django import forms
from django.db.models import Model, QuerySet
from rest_framework.request import Request

from api.errors import InvalidFilter, InvalidJson, TooLarge, field_error
from api.fields import CONTROL, parse_moment
from api.openapi.parameters import LONGEST
from api.parsers import loads
from api.spelling import closest_match

M = TypeVar("M", bound=Model)

IN_FILTER = re.compile(r"filter\[(\w+)\](?:\[(\w+)\])?")

# Parameters of lists that are not filters.
COMMON = frozenset({"filter", "limit", "cursor", "sort", "ordering", "fields"})


def choice_filter(
    choices: Iterable[str], column: str | None = None, **kwargs: object
) -> django_filters.ChoiceFilter:
    """Return a filter that accepts one of several words. The error message lists the words."""
    words = list(choices)
    return django_filters.ChoiceFilter(
        column,
        choices=[(word, word) for word in words],
        error_messages={"invalid_choice": f"%(value)s is unknown. Use one of {', '.join(words)}."},
        **kwargs,
    )


class MomentField(forms.Field):
    """A form field for an ISO 8601 date-time. Other texts are refused."""

    def to_python(self, value: object) -> datetime | None:
        if value in self.empty_values:
            return None
        moment = parse_moment(str(value))
        if moment is None:
            raise forms.ValidationError("Must be a date-time such as 2026-01-31T12:00:00Z.", code="invalid")
        return moment


class MomentFilter(django_filters.Filter):  # type: ignore[misc]
    field_class = MomentField


class StrictFilterSet(django_filters.FilterSet):  # type: ignore[misc]
    """A FilterSet that refuses an unknown filter or a wrong value, instead of listing everything."""

    base_filters: dict[str, django_filters.Filter]

    def __init__(self, data: dict[str, str], queryset: QuerySet[Model] | None, **kwargs: object) -> None:
        # django-filter copies each filter for each request, so keep only the requested filters.
        self.base_filters = {name: item for name, item in self.base_filters.items() if name in data}
        super().__init__(data, queryset, **kwargs)

    @classmethod
    def apply(cls, request: Request, queryset: QuerySet[M]) -> QuerySet[M]:
        """Filter a queryset by the request's parameters. Raises InvalidFilter with the wrong parameters."""
        filtered: QuerySet[M] = cls._valid(request, queryset).qs
        return filtered

    @classmethod
    def requested(cls, request: Request) -> dict[str, object]:
        """Return the values of the request's filters, for a list without a queryset. Raises InvalidFilter."""
        form = cls._valid(request, None).form
        return {name: value for name, value in form.cleaned_data.items() if value not in (None, "")}

    @classmethod
    def looks_meant(cls, name: str, value: str) -> str:
        """Return the name of the filter that an unknown parameter probably means, or an empty string."""
        return ""

    @classmethod
    def _valid(cls, request: Request, queryset: QuerySet[Any] | None) -> Self:
        known = frozenset(cls.base_filters)
        plain = _parameters(request, known | COMMON)
        refuse_too_long(plain, known | COMMON)
        refuse_near_misses(plain, known | COMMON, cls.looks_meant)
        values = {name: value for name, value in plain.items() if name in known}
        for name, value in _from_object(plain.get("filter", ""), known).items():
            if values.setdefault(name, value) != value:
                message = f"Is {values[name]} as a parameter but {value} in the filter. Send one value."
                raise InvalidFilter.at(name, message)
        for name, value in values.items():
            if CONTROL.search(value):
                raise InvalidFilter.at(name, "Must not hold a control character.", "control")
        filters = cls(values, queryset=queryset)
        if not filters.is_valid():
            errors = [
                field_error(name, message["message"], message["code"] or "invalid")
                for name, messages in filters.errors.get_json_data().items()
                for message in messages
            ]
            raise InvalidFilter.of(errors)
        return filters


def _parameters(request: Request, known: frozenset[str]) -> dict[str, str]:
    """Return the parameters by name. If a known parameter occurs twice, both values must be equal.

    Many clients write an object into a URL as `filter[updated_at][gt]=…`, which means `updated_at__gt`.
    """
    values_by_name: dict[str, str] = {}
    for written, values in request.query_params.lists():
        in_filter = IN_FILTER.fullmatch(written)
        name = "__".join(part for part in in_filter.groups() if part) if in_filter else written
        if in_filter:
            _known(name, known)
        if written.startswith("filter.") or (written.startswith("filter[") and not in_filter):
            raise InvalidFilter.at(written, 'Write filter={"…": "…"}, as one URL-encoded JSON object.')
        for value in values:
            first = values_by_name.setdefault(name, value)
            if name in known and first != value:
                raise InvalidFilter.at(name, f"Is given twice, as {first} and as {value}. Send one value.")
    return values_by_name


def refuse_repeated(request: Request, known: frozenset[str]) -> None:
    """Refuse a parameter with two different values, since the intended value is unknown."""
    for name in sorted(known):
        values = list(dict.fromkeys(request.query_params.getlist(name)))
        if len(values) > 1:
            raise InvalidFilter.at(
                name, f"Is given twice, as {values[0]} and as {values[1]}. Send one value."
            )


def refuse_undecodable(request: Request, known: frozenset[str]) -> None:
    """Refuse a parameter that is not UTF-8. Django replaces its bytes, so the list would find nothing."""
    if not any("\ufffd" in value for _, values in request.query_params.lists() for value in values):
        return
    for name, value in parse_qsl(request.META.get("QUERY_STRING", ""), encoding="latin-1"):
        try:
            value.encode("latin-1", "replace").decode()
        except UnicodeDecodeError as error:
            if name in known or IN_FILTER.fullmatch(name):
                message = "Is not UTF-8. Encode the characters of the URL as UTF-8 (%C3%BC for ü)."
                raise InvalidFilter.at(name, message, "undecodable") from error


def _nothing_meant(name: str, value: str) -> str:
    """Return an empty string, which suggests no parameter. This function is the default of `looks_meant`."""
    return ""


def refuse_near_misses(
    params: dict[str, str], known: frozenset[str], looks_meant: Callable[[str, str], str] = _nothing_meant
) -> None:
    """Refuse a misspelled parameter. Other unknown parameters are ignored (contract 2)."""
    for name, value in params.items():
        if name in known:
            continue
        if near := closest_match(name, known) or looks_meant(name, value):
            raise InvalidFilter.at(name, f"Unknown parameter. Did you mean {near}?", "unknown")


def refuse_too_long(params: dict[str, str], known: frozenset[str], *, most: int = LONGEST) -> None:
    """Refuse a known parameter that exceeds its documented length. `api.pagination` checks cursors itself."""
    for name, value in params.items():
        if name in known and name != "cursor" and len(value) > most:
            raise InvalidFilter.at(name, f"Has {len(value)} characters; the maximum is {most}.", "max_length")


def _from_object(text: str, known: frozenset[str]) -> dict[str, str]:
    """Flatten `{"updated_at": {"gt": "…"}}` to `{"updated_at__gt": "…"}`."""
    if not text:
        return {}
    try:
        value = loads(text)
    except (InvalidJson, TooLarge) as error:
        message = error.message.replace("The body", "The filter").replace("the body", "the filter")
        raise InvalidFilter.at("filter", message) from error
    if not isinstance(value, dict):
        raise InvalidFilter.at("filter", 'Must be a JSON object, such as {"fulfillment_state": "new"}.')
    flat: dict[str, str] = {}
    for key, condition in value.items():
        steps = condition if isinstance(condition, dict) and condition else {"": condition}
        for step, operand in steps.items():
            name = f"{key}__{step}" if step else key
            if _known(name, known) in flat:
                raise InvalidFilter.at(f"filter.{name}", "Is given twice. Send one value.")
            flat[name] = _operand(name, operand)
    return flat


def _known(name: str, known: frozenset[str]) -> str:
    if name not in known:
        raise InvalidFilter.at(
            f"filter.{name}", f"Unknown filter. The filters are {', '.join(sorted(known))}."
        )
    return name


def _operand(name: str, operand: object) -> str:
    if not isinstance(operand, str | int) or isinstance(operand, bool) or operand == "":
        raise InvalidFilter.at(f"filter.{name}", "Must be a non-empty string.")
    if CONTROL.search(str(operand)):
        raise InvalidFilter.at(f"filter.{name}", "Must not hold a control character.", "control")
    return str(operand)
