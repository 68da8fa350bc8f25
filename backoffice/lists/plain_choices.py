"""Plain browser fields in admin forms, instead of Django's widgets for related records and moments."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.admin import ModelAdmin
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.db.models import DateTimeField, Field, ForeignKey
from django.http import HttpRequest

from backoffice.lists.record_choice import record_field


class MomentInput(forms.DateTimeInput):
    """An input for a day and a time in one browser field."""

    input_type = "datetime-local"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"step": 1, **(attrs or {})}, format="%Y-%m-%dT%H:%M:%S")


class PlainChoicesMixin(ModelAdmin[Any]):
    """A mixin for all forms of the site: select boxes have no icons, and a moment is one field.

    Django's icons beside a choice open the raw form of the related record in a new window. Operators never
    need this window.
    """

    @property
    def media(self) -> forms.Media:
        """Return no scripts: the site's pages do not use Django's scripts. Widgets add their own scripts."""
        return forms.Media()

    def formfield_for_dbfield(self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: object) -> Any:
        if isinstance(db_field, DateTimeField):
            kwargs |= {"form_class": forms.DateTimeField, "widget": MomentInput}
        if isinstance(db_field, ForeignKey):
            kwargs |= record_field(db_field, self, request)
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and isinstance(field.widget, RelatedFieldWidgetWrapper):
            field.widget = field.widget.widget
        return field
