"""The base admin for records that operators edit in a form. It saves each change with an event."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Collection
from typing import Any, ClassVar

from django.contrib import admin
from django.forms import MediaDefiningClass, ModelForm
from django.http import HttpRequest

from accounts.actors import Actor
from accounts.operating.admin_base import Record, operator_of
from events.changes import add_recorded, change_recorded, delete_recorded


class AbstractMedia(ABCMeta, MediaDefiningClass):
    """The metaclass of an admin with abstract methods. A registered subclass must define all of them."""


class RecordedAdmin(admin.ModelAdmin[Record], metaclass=AbstractMedia):
    """An admin that records each change as `<event_subject>.created`, `.updated` or `.deleted`."""

    event_subject: ClassVar[str]

    @abstractmethod
    def event_fields(self, record: Record) -> dict[str, Any]:
        """Return the event's area, its parties, and its `data`."""

    def save_model(self, request: HttpRequest, obj: Record, form: ModelForm[Record], change: bool) -> None:
        self.save_recorded(obj, form.changed_data if change else None, by=operator_of(request))

    def save_recorded(self, record: Record, names: Collection[str] | None, *, by: Actor) -> None:
        """Save the fields `names` of a stored record. If `names` is None, save a new record."""
        if names is None:
            add_recorded(record, self.event_subject, by=by, **self.event_fields(record))
        else:
            change_recorded(record, names, self.event_subject, by=by, **self.event_fields(record))

    def delete_model(self, request: HttpRequest, obj: Record) -> None:
        delete_recorded(obj, self.event_subject, by=operator_of(request), **self.event_fields(obj))
