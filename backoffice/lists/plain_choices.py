"""Fields of forms without Django's own widgets for records and moments."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.admin import ModelAdmin
from django.contrib.admin.widgets import AutocompleteMixin, RelatedFieldWidgetWrapper
from django.db.models import DateTimeField, Field
from django.http import HttpRequest


class MomentInput(forms.DateTimeInput):
    """A day and a time, which the browser lets choose in one field."""

    input_type = "datetime-local"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"step": 1, **(attrs or {})}, format="%Y-%m-%dT%H:%M:%S")


class PlainChoicesMixin(ModelAdmin[Any]):
    """A mixin for all forms of the site: a choice of a record is only the choice, a moment is one field.

    Django's icons beside a choice open the raw form of the other record in a new window, which operators
    never need here.
    """

    @property
    def media(self) -> forms.Media:
        """Load no scripts but the ones of the widgets. Django's own are for its icons, raw ids and lists."""
        return forms.Media()

    def formfield_for_dbfield(self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any) -> Any:
        if isinstance(db_field, DateTimeField):
            kwargs |= {"form_class": forms.DateTimeField, "widget": MomentInput}
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and isinstance(field.widget, RelatedFieldWidgetWrapper):
            field.widget = field.widget.widget
        if field is not None and isinstance(field.widget, AutocompleteMixin):
            field.widget.attrs["data-dropdown-parent"] = "#content"  # inside a landmark
        return field
