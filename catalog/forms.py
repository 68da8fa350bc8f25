"""Forms of the admin."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model
from django.forms import ModelForm

from api.renderers import number
from catalog.models import Variant

M = TypeVar("M", bound=Model)


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
    """Prices and weights as people write them, without the zeros that their columns pad them with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, value in self.initial.items():
            if isinstance(value, Decimal):
                self.initial[name] = number(value)
