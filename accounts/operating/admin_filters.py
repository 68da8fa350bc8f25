"""Filters of the admin's lists. Each filter also builds its URL parameters for links to a filtered list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse

M = TypeVar("M", bound=Model)


class Narrowing(Protocol):
    """A filter of a list with its chosen value: it filters rows, and returns its URL parameters."""

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]: ...

    def parameters(self) -> dict[str, str]: ...


class FlagFilter(ABC, admin.SimpleListFilter):
    """A filter with one choice. Its methods are class methods, so pass the class itself as a `Narrowing`."""

    parameter_name: str
    label: ClassVar[str]
    chosen: ClassVar[str] = "1"

    @classmethod
    @abstractmethod
    def narrow(cls, rows: QuerySet[M]) -> QuerySet[M]:
        """Return the rows that this filter shows if it is chosen."""

    @classmethod
    def parameters(cls) -> dict[str, str]:
        return {cls.parameter_name: cls.chosen}

    @classmethod
    def is_chosen(cls, request: HttpRequest) -> bool:
        return request.GET.get(cls.parameter_name) == cls.chosen

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(self.chosen, self.label)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[M]) -> QuerySet[M]:
        return self.narrow(queryset) if self.value() == self.chosen else queryset


@dataclass(frozen=True)
class FieldIs:
    """A filter for one value of a field in the list's `list_filter`."""

    field: str
    value: str

    def narrow(self, rows: QuerySet[M]) -> QuerySet[M]:
        return rows.filter(**{self.field: self.value})

    def parameters(self) -> dict[str, str]:
        return {f"{self.field}__exact": self.value}


def list_url(model: type[Model], filters: Iterable[Narrowing] = ()) -> str:
    """Return the URL of a model's list with these filters chosen."""
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    parameters = {name: value for chosen in filters for name, value in chosen.parameters().items()}
    return f"{url}?{urlencode(parameters)}" if parameters else url
