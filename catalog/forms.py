"""Forms of the admin pages of this app, and the base of forms that check all constraints."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model
from django.forms import ModelForm

from accounts.actors import Actor
from accounts.operating.shown_values import ShownValuesForm
from api.renderers import number
from catalog.gtin import LENGTHS, error_in, twin_of
from catalog.models import Variant

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


class VariantForm(ShownValuesForm, WholeForm[Variant]):
    """The form of a variant. It shows prices and weights without padding zeros."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, value in self.initial.items():
            if isinstance(value, Decimal):
                self.initial[name] = number(value)
        if self.instance.pk:
            self.send_shown_values()

    def clean(self) -> dict[str, object]:
        values = super().clean()
        for name in {*LENGTHS} & {*self.changed_data}:
            number_given = str(values.get(name) or "")
            if number_given and (error := error_in(number_given, LENGTHS[name])):
                self.add_error(name, error)
        if not {*LENGTHS} & {*self.errors}:
            self._agree_with_gtin(values)
        return values

    def _agree_with_gtin(self, values: dict[str, object]) -> None:
        """Refuse a UPC or EAN that contradicts the GTIN. Fill in an empty UPC or EAN."""
        gtin = values.get("gtin")
        twin = twin_of(str(gtin or ""))
        if twin is None or values[twin] == gtin or not {twin, "gtin"} & {*self.changed_data}:
            return
        if values[twin]:
            self.add_error(twin, f"Contradicts the GTIN {gtin}. Change both.")
            return
        values[twin] = gtin
        self.changed_data.append(twin)

    def apply(self, *, by: Actor) -> bool:
        """Change the variant and record an event, as the API does. Return whether any value changed.

        Raises ApiError.
        """
        values = {name: self.cleaned_data[name] for name in self.changed_data}
        return Variant.objects.get(pk=self.instance.pk).change(values, by=by)
