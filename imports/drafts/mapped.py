"""Store an uploaded file with the mapping that fits its header, and describe errors for operators."""

from __future__ import annotations

from collections.abc import Iterable

from rest_framework.exceptions import ValidationError

from accounts.actors import Actor
from accounts.models import Supplier
from api.errors import ApiError, invalid_fields
from imports.drafts.first_rows import UnreadableDraft
from imports.drafts.mappings import suggested
from imports.drafts.sample import FileSample, from_json, read_sample
from imports.drafts.services import create_draft, discard
from imports.kinds import kind_of
from imports.models import ImportDraft
from imports.pipeline.errors import Unreadable
from imports.pipeline.mapping import ALIASES
from sftp_ingest.area import contents

FAULTS = (ApiError, ValidationError, Unreadable, OSError)
"""The errors of unreadable files, wrong mappings and a storage that does not answer."""


def mapped_draft(
    supplier: Supplier, kind: str, name: str, chunks: Iterable[bytes], *, by: Actor
) -> ImportDraft:
    """Store a file as a draft with the suggested mapping. Raises one of FAULTS if the file is unreadable.

    A packed file is only stored here. A worker reads it later, and the first page that shows the draft
    suggests the mapping.
    """
    draft = create_draft(supplier, kind, name, chunks, by=by)
    if draft.is_packed:
        return draft
    try:
        draft.body = first_body(draft, sample_of(draft))
    except (Unreadable, OSError):
        discard(draft.pk, draft.blob_id)
        raise
    draft.save(update_fields=["body"])
    return draft


def sample_of(draft: ImportDraft) -> FileSample:
    """Return the first rows of a draft. For a packed file, return the rows that a worker has stored.

    Raises Unreadable, OSError.
    """
    if draft.problem:
        raise UnreadableDraft(draft.problem)
    if draft.sample is not None:
        return from_json(draft.sample)
    known = {*kind_of(draft.kind).importer.columns, *ALIASES}
    with contents.local_file(draft.blob) as path:
        return read_sample(path, known)


def first_body(draft: ImportDraft, sample: FileSample) -> dict[str, object]:
    """Return the suggested mapping as a request body."""
    kind = kind_of(draft.kind)
    if kind.form:
        return kind.form.guessed_body(draft.supplier, sample.columns)
    name = suggested(draft.supplier, sample.columns) if kind.has_saved_mappings else ""
    return {"mapping": name} if name else {}


def in_words(error: Exception) -> str:
    """Return the error's message for operators."""
    if isinstance(error, ValidationError):
        error = invalid_fields(error.detail)
    if isinstance(error, ApiError) and error.errors:
        return " ".join(dict.fromkeys(each["message"] for each in error.errors))
    return str(getattr(error, "message", "")) or "The file cannot be read at the moment. Try again."
