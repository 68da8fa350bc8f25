"""Forms of the admin."""

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
# What a page can send along as it has shown it.
SENT_ALONG = (CharField, DecimalField, BooleanField)


class WholeForm(ModelForm[M]):
    """Checks every constraint, also those that name a field which the page only shows.

    Django leaves these out, and the database's refusal would be a 500.
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
    """Prices and weights as people write them, without the zeros that their columns pad them with.

    The page sends along what it has shown. What a file, a partner or a colleague changed while it was open
    stays, where nobody changed it here; where somebody did, both are said, and nothing is saved.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, value in self.initial.items():
            if isinstance(value, Decimal):
                self.initial[name] = number(value)
        for field in self.fields.values():
            field.show_hidden_initial = bool(self.instance.pk) and type(field) in SENT_ALONG

    @cached_property
    def changed_data(self) -> list[str]:
        """What differs from what was shown; in the form of a script, from what is stored."""
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
            if name in data and _same(shown) != _same(stored) != _same(data[name]):
                message = f"It was {_said(shown)}, and was changed to {_said(stored)} meanwhile."
                message += " Save once more for yours."
                self.add_error(name, ValidationError(message, code="changed_meanwhile"))
                seen: Any = self.data
                self.data = seen = seen.copy()
                seen[self[name].html_initial_name] = "" if stored is None else str(stored)
        return data

    def _stored(self, name: str) -> Any:
        field, value = self.fields[name], self[name].initial
        return field.to_python(value) if type(field) in SENT_ALONG else value

    def _shown(self, name: str, stored: Any) -> Any:
        """What the page has shown of a field, where it said so."""
        field, sent = self.fields[name], self.data.get(self[name].html_initial_name)
        if sent is None or not field.show_hidden_initial:
            return stored
        try:
            return field.to_python(sent)
        except ValidationError:  # no page of ours
            return stored


def _same(value: Any) -> Any:
    """As it is compared: browsers end lines in their own way."""
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


def _said(value: Any) -> str:
    text = number(value) if isinstance(value, Decimal) else value
    return f"'{str(text if text is not None else '')[:100]}'"
