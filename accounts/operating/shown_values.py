"""Forms that keep the changes that others made while the page was open."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import EMPTY_VALUES
from django.db.models import QuerySet
from django.forms import BaseForm, Field, HiddenInput, PasswordInput
from django.forms.widgets import MultipleHiddenInput
from django.utils.functional import cached_property

from api.renderers import number


class ShownList(HiddenInput):
    """A hidden input with all chosen values of a field as JSON.

    Django's hidden inputs, one for each value, cannot show that nothing was chosen.
    """

    def format_value(self, value: Iterable[object] | None) -> str:
        return json.dumps([str(each) for each in value or ()])

    def value_from_datadict(self, data: Mapping[str, str], files: object, name: str) -> list[str] | None:
        """Return the sent values. Return None if the page sent no such list."""
        try:
            values = json.loads(data.get(name) or "")
        except ValueError:
            return None
        return [str(each) for each in values] if isinstance(values, list) else None


class ShownValuesForm(BaseForm):
    """A form whose page also sends the values that it showed.

    The form keeps the changes that a file, a partner or a colleague made while the page was open. If the user
    has changed such a field, too, the form shows the user's value and the new value, and saves nothing.
    """

    def send_shown_values(self) -> None:
        for field in self.fields.values():
            field.show_hidden_initial = not (field.disabled or isinstance(field.widget, PasswordInput))
            if issubclass(field.hidden_widget, MultipleHiddenInput):
                field.hidden_widget = ShownList

    def changed_by(self, name: str) -> str:
        """Return the author of the latest change of a field. Override this method to return a name."""
        return "Someone"

    @cached_property
    def changed_data(self) -> list[str]:
        """Return the fields whose sent value differs from the shown value, or else from the stored value."""
        return [
            name
            for name, field in self.fields.items()
            if field.has_changed(self._shown(name, self._stored(name)), self[name].data)
        ]

    def changed_by_others(self) -> set[str]:
        """Return the fields whose stored value is no longer the value that the page showed."""
        stored = {name: self._stored(name) for name in self.fields}
        return {
            name
            for name in stored
            if _comparable(self._shown(name, stored[name])) != _comparable(stored[name])
        }

    def clean(self) -> dict[str, object]:
        data = super().clean() or {}
        for name in self.changed_data:
            stored = self._stored(name)
            shown = self._shown(name, stored)
            if name in data and _comparable(shown) != _comparable(stored) != _comparable(data[name]):
                message = (
                    f"{self.changed_by(name)} changed {_quoted(shown)} to {_quoted(stored)} in the meantime."
                )
                message += " Save again to use your value."
                self.add_error(name, ValidationError(message, code="changed_meanwhile"))
                data_sent: Any = self.data
                self.data = data_sent = data_sent.copy()
                data_sent[self[name].html_initial_name] = _sent_text(self.fields[name], stored)
        return data

    def _stored(self, name: str) -> Any:
        """Return the stored value in the form that a value has after a page has shown it and sent it back."""
        field, value = self.fields[name], self[name].initial
        return field.to_python(field.prepare_value(value)) if field.show_hidden_initial else value

    def _shown(self, name: str, stored: object) -> Any:
        """Return the value that the page showed. If the page sent no such value, return the stored value."""
        field = self.fields[name]
        if not field.show_hidden_initial:
            return stored
        sent = field.hidden_widget().value_from_datadict(self.data, self.files, self[name].html_initial_name)
        if sent is None:
            return stored
        try:
            return field.to_python(sent)
        except ValidationError:  # the value does not come from our page
            return stored


def is_untouched(shown: list[str], sent: list[str]) -> bool:
    """Return whether the sent texts of an input equal the shown texts, as ShownValuesForm sends them.

    A ticked box sends `on`, and an unticked box nothing.
    """
    boxes = {"True": ["on"], "False": [], "": []}
    chosen = ShownList().value_from_datadict({"": shown[0]}, {}, "")
    return sent in (shown, boxes.get(shown[0])) or (chosen is not None and sorted(chosen) == sorted(sent))


def _sent_text(field: Field, value: object) -> str:
    """Return the text that a page sends back for a shown value."""
    return field.hidden_widget().format_value(field.prepare_value(value)) or ""


def _comparable(value: object) -> Any:
    """Return the value with `\\n` for each line end, and with None for every empty value.

    Browsers send `\\r\\n` for a line end, and an empty text for None.
    """
    if isinstance(value, str):
        value = value.replace("\r\n", "\n")
    if isinstance(value, QuerySet):
        value = list(value)
    return None if value in EMPTY_VALUES else value


def _quoted(value: object) -> str:
    if isinstance(value, Decimal):
        value = number(value)
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return f"'{str(value if value is not None else '')[:100]}'"
