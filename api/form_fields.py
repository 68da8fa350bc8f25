"""Fields of forms: texts without control characters, as in the API, and whole numbers."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError

from api.fields import control_fault

UNSEPARATED = "Write it without separators: 1000."
"""The advice for a typed or pasted number such as `1,000`."""


class WholeNumberField(forms.IntegerField):
    """A whole number. `1.000` is refused: Django reads it as 1, but many people mean 1000."""

    default_error_messages: ClassVar = {"invalid": f"Enter a whole number. {UNSEPARATED}"}

    def to_python(self, value: Any) -> int | None:
        if isinstance(value, str) and "." in value:
            raise ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(value)


def refuse_control_characters(value: object) -> None:
    """Validate the value of a text field. Raises ValidationError."""
    if isinstance(value, str) and (fault := control_fault(value)):
        raise ValidationError(fault, code="control")


def refuse_in_all_forms() -> None:
    """Add the validator to each text field of the forms that are defined after this call."""
    for kind in (forms.CharField, forms.EmailField, forms.URLField, forms.SlugField):
        kind.default_validators = [*kind.default_validators, refuse_control_characters]
