"""Forms of the admin pages of this app, and the base of forms that check all constraints."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model
from django.forms import BooleanField, CharField, DecimalField, ModelForm
from django.utils.functional import cached_property

from api.renderers import number
from catalog.models import Variant

M = TypeVar("M", bound=Model)
# Fields whose shown value the page sends back in a hidden input.
WITH_SHOWN_VALUE = (CharField, DecimalField, BooleanField)


class WholeForm(ModelForm[M]):
    """A form that checks every constraint, also constraints on read-only fields of the page.

    Django skips these, and the error of the database would be a 500.
    """

    def validate_unique(self) -> None:
        super().validate_unique()
        if self.errors:
            return
        try:
            self.instance.validate_constraints()
        except ValidationError as error:
            self.add_error(None, error)


class VariantForm(WholeForm[Variant]):
    """The form of a variant. It shows prices and weights without padding zeros.

    The page also sends the values that it showed. A change by a file, a partner or a colleague made while
    the page was open stays, unless the user changed the same field. Then the form shows both values and
    saves nothing.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, value in self.initial.items():
            if isinstance(value, Decimal):
                self.initial[name] = number(value)
        for field in self.fields.values():
            field.show_hidden_initial = bool(self.instance.pk) and type(field) in WITH_SHOWN_VALUE

    @cached_property
    def changed_data(self) -> list[str]:
        """Return the fields that differ from the shown values, or else from the stored values."""
        return [
            name
            for name, field in self.fields.items()
            if field.has_changed(self._shown(name, self._stored(name)), self[name].data)
        ]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name in self.changed_data:
            stored = self._stored(name)
            shown = self._shown(name, stored)
            if name in data and _comparable(shown) != _comparable(stored) != _comparable(data[name]):
                message = f"Someone changed {_quoted(shown)} to {_quoted(stored)} in the meantime."
                message += " Save again to use your value."
                self.add_error(name, ValidationError(message, code="changed_meanwhile"))
                data_sent: Any = self.data
                self.data = data_sent = data_sent.copy()
                data_sent[self[name].html_initial_name] = "" if stored is None else str(stored)
        return data

    def _stored(self, name: str) -> Any:
        field, value = self.fields[name], self[name].initial
        return field.to_python(value) if type(field) in WITH_SHOWN_VALUE else value

    def _shown(self, name: str, stored: Any) -> Any:
        """Return the value that the page showed, if it sent one."""
        field, sent = self.fields[name], self.data.get(self[name].html_initial_name)
        if sent is None or not field.show_hidden_initial:
            return stored
        try:
            return field.to_python(sent)
        except ValidationError:  # the value does not come from our page
            return stored


def _comparable(value: Any) -> Any:
    """Return the value with one kind of line ends: browsers send `\\r\\n`."""
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


def _quoted(value: Any) -> str:
    text = number(value) if isinstance(value, Decimal) else value
    return f"'{str(text if text is not None else '')[:100]}'"
