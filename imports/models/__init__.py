"""Import jobs, their rejects, and the suppliers' settings for them (contract 6 and 12)."""

from imports.models.auto_import import AutoImport
from imports.models.correction import Correction
from imports.models.draft import ImportDraft
from imports.models.job import WORKER, ImportJob
from imports.models.job_content import LEFT_OUT
from imports.models.job_progress import COUNTERS
from imports.models.policy import ImportPolicy
from imports.models.reject import Reject
from imports.models.saved_mapping import SavedMapping
from imports.models.upload_chunk import UploadChunk
from imports.states import Status

__all__ = [
    "LEFT_OUT",
    "COUNTERS",
    "WORKER",
    "AutoImport",
    "Correction",
    "ImportDraft",
    "ImportJob",
    "ImportPolicy",
    "Reject",
    "SavedMapping",
    "Status",
    "UploadChunk",
]
