"""Forms for a file that an operator uploads in the browser."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat

from accounts.models import Supplier
from imports.drafts.chunks import chunk_bytes
from imports.kinds import uploaded_by_operators


class UploadForm(forms.Form):
    """The form that uploads a file: supplier, kind and file."""

    supplier = forms.ModelChoiceField(Supplier.objects.order_by("name"))
    kind = forms.ChoiceField(
        choices=lambda: [(kind.name, f"{kind.name}: {kind.content}") for kind in uploaded_by_operators()],
        widget=forms.RadioSelect,
        initial=lambda: uploaded_by_operators()[0].name,
    )
    file = forms.FileField(
        max_length=200,
        required=False,
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.tsv,.txt,.xlsx,.zip,.gz"}),
    )

    upload = forms.UUIDField(required=False, widget=forms.HiddenInput)
    chunks = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)
    name = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)
    """The file name of a chunked upload."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        most = settings.BROWSER_UPLOAD_BYTES
        self.fields["file"].help_text = (
            f"CSV, a CSV packed as .zip or .gz, or .xlsx, at most {filesizeformat(most)}. Pack larger files, "
            "or put them into the supplier's upload area."
        )
        sizes = {"data-most": str(most), "data-chunk": str(chunk_bytes())}
        self.fields["file"].widget.attrs |= sizes
        self.initial.setdefault("upload", uuid4())

    def clean(self) -> dict[str, object]:
        """Require a file, or the number of chunks that the browser has already uploaded."""
        given = super().clean() or self.cleaned_data
        if not given.get("file") and not given.get("chunks"):
            self.add_error("file", "Choose a file.")
        return given


class ChunkForm(forms.Form):
    """The form of one chunk of a large file."""

    upload = forms.UUIDField()
    position = forms.IntegerField(min_value=0, max_value=1_000_000)
    chunk = forms.FileField()
