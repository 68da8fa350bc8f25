"""Filters of lists: as one JSON object, or as plain parameters; never silently wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Self, TypeVar

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

# Parameters that are not filters, but that a filter's name could be mistaken for.
COMMON = frozenset({"filter", "limit", "cursor", "sort", "ordering", "fields"})


def choice_filter(
    choices: Iterable[str], column: str | None = None, **kwargs: Any
) -> django_filters.ChoiceFilter:
    """A filter by one of some words, which are listed where it is none."""
    words = list(choices)
    return django_filters.ChoiceFilter(
        column,
        choices=[(word, word) for word in words],
        error_messages={"invalid_choice": f"%(value)s is none of {', '.join(words)}."},
        **kwargs,
    )


class MomentField(forms.Field):
    """An ISO 8601 moment; a bad one is refused, never ignored."""

    def to_python(self, value: Any) -> datetime | None:
        if value in self.empty_values:
            return None
        moment = parse_moment(str(value))
        if moment is None:
            raise forms.ValidationError("Must be a date-time such as 2026-01-31T12:00:00Z.", code="invalid")
        return moment


class MomentFilter(django_filters.Filter):  # type: ignore[misc]
    field_class = MomentField


class StrictFilterSet(django_filters.FilterSet):  # type: ignore[misc]
    """A FilterSet that refuses what it does not understand, instead of listing everything."""

    base_filters: dict[str, django_filters.Filter]

    def __init__(self, data: dict[str, str], queryset: QuerySet[Model] | None, **kwargs: object) -> None:
        # Each filter is copied for each request: only those that are asked for.
        self.base_filters = {name: each for name, each in self.base_filters.items() if name in data}
        super().__init__(data, queryset, **kwargs)

    @classmethod
    def apply(cls, request: Request, queryset: QuerySet[M]) -> QuerySet[M]:
        """The queryset under the request's filters. Raises InvalidFilter naming what is wrong."""
        found: QuerySet[M] = cls._valid(request, queryset).qs
        return found

    @classmethod
    def asked(cls, request: Request) -> dict[str, Any]:
        """The values of the request's filters, for a list that is no queryset. Raises InvalidFilter."""
        form = cls._valid(request, None).form
        return {name: value for name, value in form.cleaned_data.items() if value not in (None, "")}

    @classmethod
    def _valid(cls, request: Request, queryset: QuerySet[Any] | None) -> Self:
        known = frozenset(cls.base_filters)
        plain = _once(request, known | COMMON)
        refuse_near_misses(plain, known | COMMON)
        values = {name: value for name, value in plain.items() if name in known}
        for name, value in _from_object(plain.get("filter", ""), known).items():
            if values.setdefault(name, value) != value:
                raise InvalidFilter.at(name, f"Is {values[name]} as a parameter but {value} in the filter.")
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
            raise InvalidFilter("; ".join(f"{e['field']}: {e['message']}" for e in errors), errors)
        return filters


def _once(request: Request, known: frozenset[str]) -> dict[str, str]:
    """The parameters by name; one that is given twice must have the same value.

    `filter[updated_at][gt]=…` is how many clients write an object into a URL: it means `updated_at__gt`.
    """
    said: dict[str, str] = {}
    for written, values in request.query_params.lists():
        in_filter = IN_FILTER.fullmatch(written)
        name = "__".join(part for part in in_filter.groups() if part) if in_filter else written
        if in_filter:
            _known(name, known)
        if written.startswith("filter.") or (written.startswith("filter[") and not in_filter):
            raise InvalidFilter.at(written, 'Write filter={"…": "…"}, as one URL-encoded JSON object.')
        for value in values:
            if name in known and said.setdefault(name, value) != value:
                raise InvalidFilter.at(name, f"Is given twice, as {said[name]} and as {value}.")
            said.setdefault(name, value)
    return said


def refuse_repeated(request: Request, known: frozenset[str]) -> None:
    """Refuse a parameter that is given twice with different values: which one is meant is not guessed at."""
    for name in sorted(known):
        said = list(dict.fromkeys(request.query_params.getlist(name)))
        if len(said) > 1:
            raise InvalidFilter.at(name, f"Is given twice, as {said[0]} and as {said[1]}.")


def refuse_near_misses(params: dict[str, str], known: frozenset[str]) -> None:
    """Refuse an unknown parameter that is nearly a known one; others are ignored (contract 12).

    A known one is refused when it is longer than the document says. What a cursor is, its reader knows.
    """
    for name, value in params.items():
        if name in known:
            if len(value) > LONGEST and name != "cursor":
                raise InvalidFilter.at(
                    name, f"Has {len(value)} characters; the maximum is {LONGEST}.", "max_length"
                )
            continue
        if near := closest_match(name, known):
            raise InvalidFilter.at(name, f"Unknown parameter. Did you mean {near}?", "unknown")


def _from_object(text: str, known: frozenset[str]) -> dict[str, str]:
    """`{"updated_at": {"gt": "…"}}` as `{"updated_at__gt": "…"}`."""
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
        steps = condition if isinstance(condition, dict) else {"": condition}
        for step, operand in steps.items():
            name = f"{key}__{step}" if step else key
            flat[_known(name, known)] = _operand(name, operand)
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
