"""Bodies and answers of imports (interface 9 and 12, contract 6, 10 and 12)."""

from imports.serializers.field_mapping import SavedMappingBody
from imports.serializers.jobs import JobJson, JobsJson, StartedJson, first_errors, job_json, progress
from imports.serializers.mappings import MappingJson, MappingsJson, mapping_json
from imports.serializers.settings import (
    AutoImportJson,
    PolicyBody,
    PolicyJson,
    auto_import_json,
    policy_json,
)

__all__ = [
    "AutoImportJson",
    "JobJson",
    "JobsJson",
    "MappingJson",
    "MappingsJson",
    "PolicyBody",
    "PolicyJson",
    "SavedMappingBody",
    "StartedJson",
    "auto_import_json",
    "first_errors",
    "job_json",
    "mapping_json",
    "policy_json",
    "progress",
]
