"""Forms that keep the changes that others made while the page was open."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.forms import (
    BaseForm,
    BooleanField,
    CharField,
    ChoiceField,
    DateField,
    DecimalField,
    EmailField,
    IntegerField,
    ModelChoiceField,
    PasswordInput,
    TypedChoiceField,
    URLField,
)
from django.utils.functional import cached_property

from api.renderers import number

# The types of fields for which the page sends the shown value back in a hidden input.
WITH_SHOWN_VALUE = (
    *(CharField, EmailField, URLField, ChoiceField, TypedChoiceField, ModelChoiceField),
    *(BooleanField, DateField, DecimalField, IntegerField),
)


class ShownValuesForm(BaseForm):
    """A form whose page also sends the values that it showed.

    The form keeps the changes that a file, a partner or a colleague made while the page was open. If the user
    has changed such a field, too, the form shows the user's value and the new value, and saves nothing.
    """

    def send_shown_values(self) -> None:
        for field in self.fields.values():
            is_secret = isinstance(field.widget, PasswordInput)
            field.show_hidden_initial = type(field) in WITH_SHOWN_VALUE and not is_secret

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
                known = self.fields[name].prepare_value(stored)
                data_sent[self[name].html_initial_name] = "" if known is None else str(known)
        return data

    def _stored(self, name: str) -> Any:
        field, value = self.fields[name], self[name].initial
        return field.to_python(value) if type(field) in WITH_SHOWN_VALUE else value

    def _shown(self, name: str, stored: object) -> Any:
        """Return the value that the page showed. If the page sent no such value, return the stored value."""
        field, sent = self.fields[name], self.data.get(self[name].html_initial_name)
        if sent is None or not field.show_hidden_initial:
            return stored
        try:
            return field.to_python(sent)
        except ValidationError:  # the value does not come from our page
            return stored


def _comparable(value: object) -> Any:
    """Return the value with one kind of line ends: browsers send `\\r\\n`."""
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


def _quoted(value: object) -> str:
    text = number(value) if isinstance(value, Decimal) else value
    return f"'{str(text if text is not None else '')[:100]}'"
