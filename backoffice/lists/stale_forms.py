"""Forms of records that another operator changed while the page was open."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.options import get_content_type_for_model
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone

from accounts.operating.shown_values import ShownValuesForm

RECENT = timedelta(days=1)
READ = 20


class StaleFormMixin(ModelAdmin[Any]):
    """A mixin for all forms of the site: a save keeps changes that others saved while the form was open.

    Fields that the operator did not change keep their stored values. If both operators changed the same
    field, the form names the other author, shows both values and keeps the typed text. The next click saves
    the typed text.
    """

    def get_form(
        self, request: HttpRequest, obj: object = None, change: bool = False, **kwargs: object
    ) -> type[ModelForm[Any]]:
        form: type[ModelForm[Any]] = super().get_form(request, obj, change=change, **kwargs)
        if obj is None or issubclass(form, ShownValuesForm):
            return form
        return type(form.__name__, (StaleRecordForm, form), {})


class StaleRecordForm(ShownValuesForm):
    """A form that keeps the stored values of fields that the operator did not change.

    StaleFormMixin makes it the first base class, so its methods run before the methods of the admin's form.
    """

    instance: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.send_shown_values()

    def clean(self) -> dict[str, object]:
        data = super().clean()
        for name in data.keys() - set(self.changed_data):
            if self.fields[name].show_hidden_initial:
                data[name] = self._stored(name)
        return data

    def changed_by(self, name: str) -> str:
        """Return the operator who changed the field in the admin within a day, else "Someone"."""
        entries = LogEntry.objects.filter(
            content_type=get_content_type_for_model(self.instance),
            object_id=str(self.instance.pk),
            action_flag=CHANGE,
            action_time__gte=timezone.now() - RECENT,
        )
        label = str(self.fields[name].label or name)
        for entry in entries.select_related("user").order_by("-action_time")[:READ]:
            if label.lower() in (changed.lower() for changed in _labels(entry)):
                return entry.user.get_username()
        return super().changed_by(name)


def _labels(entry: LogEntry) -> list[str]:
    """Return the labels of the changed fields in an entry of the admin's log."""
    try:
        parts = json.loads(entry.change_message or "[]")
        return [str(label) for part in parts for label in part.get("changed", {}).get("fields", ())]
    except (ValueError, AttributeError):
        return []
