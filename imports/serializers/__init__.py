"""Bodies and answers of imports (interface 9 and 12, contract 6, 10 and 12)."""

from imports.serializers.jobs import JobJson, JobsJson, StartedJson, first_errors, job_json, progress
from imports.serializers.mappings import MappingJson, MappingsJson, mapping_json
from imports.serializers.products import (
    AutoProductsBody,
    ImportProductsBody,
    ProductMappingBody,
    SavedMappingBody,
)
from imports.serializers.settings import (
    AutoImportJson,
    PolicyBody,
    PolicyJson,
    auto_import_json,
    policy_json,
)
from imports.serializers.stock import AutoInventoryBody, ImportInventoryBody, StockMappingBody

__all__ = [
    "AutoImportJson",
    "AutoInventoryBody",
    "AutoProductsBody",
    "ImportInventoryBody",
    "ImportProductsBody",
    "JobJson",
    "JobsJson",
    "MappingJson",
    "MappingsJson",
    "PolicyBody",
    "PolicyJson",
    "ProductMappingBody",
    "SavedMappingBody",
    "StartedJson",
    "StockMappingBody",
    "auto_import_json",
    "first_errors",
    "job_json",
    "mapping_json",
    "policy_json",
    "progress",
]
