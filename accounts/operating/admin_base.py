"""Base admins for lists that stay fast at any length, and for read-only records."""

from __future__ import annotations

from typing import TypeVar

from django.contrib import admin
from django.contrib.auth.base_user import AbstractBaseUser
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

from accounts.actors import Actor
from api.ids import as_id

Record = TypeVar("Record", bound=Model)


def operator_of(request: HttpRequest) -> Actor:
    """Return the operator of a request as an actor."""
    assert isinstance(request.user, AbstractBaseUser)  # the admin requires a login
    return Actor.of_user(request.user)


class LongList(admin.ModelAdmin[Record]):
    """A list that may have millions of rows. It shows the newest rows first and searches only by indexes."""

    ordering = ("-id",)
    sortable_by = ("id",)
    search_fields = ("id",)  # enables the search box; `search_condition` does the search
    list_per_page = 50

    def search_condition(self, term: str) -> Q:
        """Return the condition of a search. It must use an index: a substring search would read all rows."""
        return Q(pk=as_id(term))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Record], search_term: str
    ) -> tuple[QuerySet[Record], bool]:
        term = search_term.strip()
        return queryset.filter(self.search_condition(term)) if term else queryset, False


class ReadOnlyAdmin(LongList[Record]):
    """The admin of records that operators can only read."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Record | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Record | None = None) -> bool:
        return False
