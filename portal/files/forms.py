"""Forms of a supplier's files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat

from accounts.models import Supplier
from api.errors import Invalid
from imports.drafts.mappings import choices
from imports.kinds import uploaded_by_operators


class FileForm(forms.Form):
    """The form that uploads a file: its kind and the file."""

    kind = forms.ChoiceField(
        choices=lambda: [(kind.name, kind.name.capitalize()) for kind in uploaded_by_operators()],
        label="Content",
    )
    file = forms.FileField(
        max_length=200,
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.tsv,.txt,.xlsx,.zip,.gz"}),
    )

    def clean_file(self) -> Any:
        file, most = self.cleaned_data["file"], settings.MAX_BODY_BYTES
        if file.size > most:
            limit = filesizeformat(most)
            raise forms.ValidationError(
                f"The file is larger than {limit}. Pack it as .zip, or send it by SFTP."
            )
        return file


class MappingForm(forms.Form):
    """The form that chooses a mapping. Mappings that fit the columns of the file come first."""

    mapping = forms.ChoiceField(
        required=False,
        label="Format of the file",
        help_text="The columns of these exports are known. Other files need the names of the template.",
    )

    def __init__(self, supplier: Supplier, columns: Sequence[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [(each.name, each.title) for each in choices(supplier, columns)]
        field = self.fields["mapping"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "Columns of the template"), *known]

    def body(self) -> dict[str, object]:
        """Return the chosen mapping as the body of an API request. Raises Invalid for a deleted mapping."""
        if not self.is_valid():
            name = str(self["mapping"].value())[:100]
            raise Invalid.at("mapping", f"There is no mapping {name!r} any more. Choose another one.")
        name = self.cleaned_data.get("mapping", "")
        return {"mapping": name} if name else {}
