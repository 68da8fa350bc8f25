"""The form of a slip template."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.operating.shown_values import ShownValuesForm
from api.ids import LARGEST_ID
from fulfillments.models import SlipTemplate
from fulfillments.slips.logos import stored_logo


class SlipTemplateForm(ShownValuesForm, forms.ModelForm[SlipTemplate]):
    """The fields of a slip template, with its logo as an upload."""

    new_logo = forms.FileField(
        required=False,
        label="Logo",
        help_text="PNG or JPEG, at most 1 MB and 4,000 pixels.",
        widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg"}),
    )
    remove_logo = forms.BooleanField(required=False)
    previewed = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST_ID,
        label="Preview with fulfillment",
        help_text="The number of a fulfillment. Empty: the newest one.",
    )

    class Meta:
        model = SlipTemplate
        fields = (
            "wanted",
            "language",
            "paper",
            "header",
            "new_logo",
            "remove_logo",
            "return_address",
            "footer",
            "show_prices",
            "show_supplier",
            "previewed",
        )
        widgets = {name: forms.Textarea(attrs={"rows": 3}) for name in ("header", "footer", "return_address")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance.logo:
            del self.fields["remove_logo"]
        if self.instance.pk:
            self.send_shown_values()

    @property
    def changed_columns(self) -> list[str]:
        """Return the columns of the template that the form changes."""
        columns = {"new_logo": "logo", "remove_logo": "logo"}
        changed = [name for name in self.changed_data if name != "previewed"]
        return list(dict.fromkeys(columns.get(name, name) for name in changed))

    def clean_new_logo(self) -> bytes | None:
        file = self.cleaned_data["new_logo"]
        return stored_logo(file.read()) if file else None

    def clean(self) -> dict[str, object]:
        cleaned: dict[str, object] = super().clean() or self.cleaned_data
        if cleaned.get("new_logo"):
            self.instance.logo = cleaned["new_logo"]
        elif cleaned.get("remove_logo"):
            self.instance.logo = b""
        return cleaned
