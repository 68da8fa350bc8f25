"""Lists that stay fast at any length, and records that nobody may change by hand."""

from __future__ import annotations

from typing import TypeVar

from django.contrib import admin
from django.contrib.auth.base_user import AbstractBaseUser
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

from accounts.actors import Actor

Record = TypeVar("Record", bound=Model)


def operator_of(request: HttpRequest) -> Actor:
    """Who acts in the admin, which lets nobody in that is not logged in."""
    assert isinstance(request.user, AbstractBaseUser)
    return Actor.of_user(request.user)


def as_id(text: str) -> int:
    """What was typed as a record's number; 0, which is nobody's, where it cannot be one."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


class LongList(admin.ModelAdmin[Record]):
    """A list that may have millions of rows: newest first, and searched by what an index finds."""

    ordering = ("-id",)
    sortable_by = ("id",)
    search_fields = ("id",)  # there is a search; `search_condition` says what it looks at
    list_per_page = 50

    def search_condition(self, term: str) -> Q:
        """Whole values, or their beginnings, each with an index: a part of one would read the table."""
        return Q(pk=as_id(term))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Record], search_term: str
    ) -> tuple[QuerySet[Record], bool]:
        term = search_term.strip()
        return queryset.filter(self.search_condition(term)) if term else queryset, False


class ReadOnlyAdmin(LongList[Record]):
    """A list and its pages, without a way to add, change or delete."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Record | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Record | None = None) -> bool:
        return False
