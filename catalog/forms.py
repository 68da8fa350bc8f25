"""Forms of the admin."""

from __future__ import annotations

from typing import TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model
from django.forms import ModelForm

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
