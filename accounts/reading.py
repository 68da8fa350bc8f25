"""Records that operators may look at, and nobody may change by hand."""

from __future__ import annotations

from typing import TypeVar

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

Record = TypeVar("Record", bound=Model)


class ReadOnlyAdmin(admin.ModelAdmin[Record]):
    """A list and its pages, without a way to add, change or delete."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Record | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Record | None = None) -> bool:
        return False
