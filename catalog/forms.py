"""Forms of the admin pages of this app, and the base of forms that check all constraints."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.forms import ModelForm
from rest_framework.exceptions import ValidationError as InvalidBody

from accounts.actors import Actor
from accounts.models import Supplier
from accounts.operating.shown_values import ShownValuesForm
from api.bodies import fields_of, validated
from api.currencies import fraction_errors
from api.envelope import FieldErrorJson
from api.errors import invalid_fields
from api.renderers import iso, number
from catalog.fields import lines_of
from catalog.gtin import LENGTHS
from catalog.models import PRICE_FIELDS, Variant
from catalog.serializers import EMPTY, VariantBody
from imports.pipeline.number_columns import DOT_EITHER

M = TypeVar("M", bound=Model)


class WholeForm(ModelForm[M]):
    """A form that checks every constraint, also constraints on read-only fields of the page.

    Django skips constraints on such fields. The database would then refuse the row and cause a 500 answer.
    """

    def validate_unique(self) -> None:
        super().validate_unique()
        if self.errors:
            return
        try:
            self.instance.validate_constraints()
        except ValidationError as error:
            self.add_error(None, error)


class LinesField(forms.Field):
    """Several texts, one in each line."""

    widget = forms.Textarea(attrs={"rows": 5, "cols": 40})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:
        return lines_of(value or "")


class VariantForm(ShownValuesForm, WholeForm[Variant]):
    """The form of a variant. It shows prices and weights without padding zeros."""

    description_bullets = LinesField(required=False, help_text="One in each line.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, value in self.initial.items():
            if isinstance(value, Decimal):
                self.initial[name] = number(value)
        if self.instance.pk:
            self.send_shown_values()

    def clean(self) -> dict[str, object]:
        values = super().clean()
        self._refuse_two_meanings()
        self._read_as_patch(values)
        supplier = self.instance.supplier if self.instance.pk else values.get("supplier")
        if isinstance(supplier, Supplier):
            prices: dict[str, Any] = {name: values.get(name) for name in PRICE_FIELDS}
            changed = {name: price for name, price in prices.items() if name in self.changed_data}
            self._show(fraction_errors(supplier.currency, changed))
        return values

    def _refuse_two_meanings(self) -> None:
        """Refuse a typed price such as `1.000`: its point may be a decimal point or separate thousands."""
        for name in {*PRICE_FIELDS} & {*self.changed_data}:
            typed = str(self[name].data or "").strip()
            if re.fullmatch(DOT_EITHER, typed):
                whole = typed.replace(".", "")
                self.add_error(name, f"{typed} has two meanings. Write {whole} or {typed}0.")

    def _read_as_patch(self, values: dict[str, object]) -> None:
        """Check and read the changed values as a PATCH of the API does. The form itself checks numbers."""
        names = {*self.changed_data} & {*fields_of(VariantBody)}
        if names & {*LENGTHS}:
            names |= {*LENGTHS}  # these numbers must agree, so check the unchanged numbers, too
        given = {name: _as_json(name, values[name]) for name in names if name in values}
        given = {name: value for name, value in given.items() if not isinstance(value, Decimal)}
        try:
            read: dict[str, object] = validated(VariantBody, given, instance=self.instance, partial=True)
        except InvalidBody as error:
            self._show(invalid_fields(error.detail).errors or [])
            return
        for name, value in read.items():
            values[name] = value
            if name not in self.changed_data and value != getattr(self.instance, name):
                self.changed_data.append(name)

    def _show(self, faults: list[FieldErrorJson]) -> None:
        """Show each fault at its field. The message of a fault inside an array begins with its path."""
        for fault in faults:
            path, message = fault["field"], fault["message"]
            name = re.split(r"[.\[]", path)[0]
            self.add_error(name, message if path == name else f"{path}: {message}")

    def apply(self, *, by: Actor) -> bool:
        """Change the variant and record an event, as the API does. Return whether any value changed.

        Raises ApiError.
        """
        values = {name: self.cleaned_data[name] for name in self.changed_data}
        return Variant.objects.get(pk=self.instance.pk).change(values, by=by)


def _as_json(name: str, value: object) -> object:
    """Return a field's value as a client of the API sends it. An emptied field has its default value."""
    if isinstance(value, datetime):
        return iso(value)
    return EMPTY.get(name) if value is None else value
