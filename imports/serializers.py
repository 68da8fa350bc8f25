"""Bodies and answers of imports (interface 9 and 12, contract 6, 10 and 12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any, NotRequired, TypedDict

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.bodies import Body
from api.fields import Exact, Flag, Id, Integer, Moment, Optional, Text
from api.renderers import iso, number
from imports.expressions import LONGEST, ExpressionError, parse_assignments
from imports.importer import importer_of
from imports.mapping import TRANSFORMERS, read_entries, snake_case
from imports.models import ImportJob, ImportPolicy, Kind, Reject, Status

SHOWN_ERRORS = 20
CLOCK_SKEW = timedelta(minutes=5)

MAPPING_OBJECT = {
    "type": "object",
    "required": ["source_field", "destination_field"],
    "properties": {
        "source_field": {"type": "string", "description": "The column's name in the file."},
        "destination_field": {
            "type": "string",
            "description": "Also price, gtin, option.color, property.Fabric.",
        },
        "option_type": {"type": "string", "enum": ["color", "size", "width"]},
        "string_transformer": {"type": "string", "enum": list(TRANSFORMERS)},
        "math_transformer": {"type": "string", "example": "value * 1.2"},
        "split_by_character": {"type": "string"},
    },
    "description": "camelCase spellings of the keys are understood too.",
}
MAPPING_TEXT = {"type": "string", "example": "Name:title", "description": "Column in the file:field"}


@extend_schema_field({"type": "array", "items": {"oneOf": [MAPPING_TEXT, MAPPING_OBJECT]}})
class MappingField(serializers.Field[list[Any], Any, Any, Any]):
    """Entries of a mapping; each is read, and may be wrong, alone."""

    default_error_messages = {"invalid": "Must be an array."}

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("invalid")
        return data

    def to_representation(self, value: list[Any]) -> Any:
        return value


@extend_schema_field({"type": "array", "items": {"type": "string"}, "example": ["sku,title", "A-1,Shirt"]})
class CsvLines(serializers.Field[list[str], Any, Any, Any]):
    """CSV lines, the first being the header."""

    default_error_messages = {"invalid": "Must be an array of texts: CSV lines, the first being the header."}

    def to_internal_value(self, data: Any) -> list[str]:
        if not isinstance(data, list):
            self.fail("invalid")
        for index, line in enumerate(data):
            if not isinstance(line, str):
                raise serializers.ValidationError({index: ["Must be a text in quotes."]})  # type: ignore[dict-item]
            if not line.isascii() and any("\ud800" <= each <= "\udfff" for each in line):
                raise serializers.ValidationError({index: ["Holds half a character."]})  # type: ignore[dict-item]
        return data

    def to_representation(self, value: list[str]) -> Any:
        return value


class CamelBody(Body):
    """Knows its keys in camelCase too."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            known = {snake_case(key): key for key in data if snake_case(key) != key}
            data = {**data, **{name: data[key] for name, key in known.items() if name not in data}}
        return super().to_internal_value(data)


class FileTypeBody(CamelBody):
    file_type = Optional(max_length=20, help_text="`csv`, the default and the only one.")

    def validate_file_type(self, value: str) -> str:
        if value and value.lower() != "csv":
            raise serializers.ValidationError("Must be csv.", code="invalid_choice")
        return value


class ProductMappingBody(FileTypeBody):
    """How the columns of a product file become fields."""

    field_mapping = MappingField(required=False, allow_null=True)
    schema = MappingField(required=False, allow_null=True, help_text="Objects as in field_mapping.")
    math_transformer = Optional(
        max_length=LONGEST, help_text="Such as `wholesale_price = round(retail_price * 0.55, 2)`."
    )

    def options(self) -> dict[str, Any]:
        """What the job keeps of it. Raises Invalid for a mapping that cannot be."""
        columns, data = importer_of(Kind.PRODUCTS).columns, self.validated_data
        entries = read_entries(data.get("field_mapping") or [], columns, "field_mapping")
        entries = read_entries(data.get("schema") or [], columns, "schema", entries)
        return {
            "field_mapping": [entry.as_json() for entry in entries],
            "math_transformer": data.get("math_transformer", ""),
        }

    def validate_math_transformer(self, value: str) -> str:
        columns = importer_of(Kind.PRODUCTS).columns
        try:
            parse_assignments(value, [name for name, column in columns.items() if column.numeric])
        except ExpressionError as error:
            raise serializers.ValidationError(str(error), code="invalid_expression") from error
        return value


class ImportProductsBody(ProductMappingBody):
    file_url = Optional(max_length=1000, help_text="A path in the upload area, or an sftp:// URL.")
    url = Optional(max_length=1000, help_text="The same as file_url.")
    data = CsvLines(  # type: ignore[assignment] # the interface names it so
        required=False, allow_null=True, help_text="Instead of file_url: CSV lines."
    )
    dry_run = Flag(required=False, help_text="Tell what the import would do, and do nothing.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        urls = [name for name in ("file_url", "url") if attrs.get(name)]
        if attrs.get("data") and urls:
            raise serializers.ValidationError({"data": f"Give either {urls[0]} or data, not both."})
        if len(urls) == 2 and attrs["file_url"] != attrs["url"]:
            raise serializers.ValidationError({"url": "Means the same as file_url, but differs from it."})
        if not urls and not attrs.get("data"):
            raise serializers.ValidationError({"file_url": ["Give file_url or data."]}, code="required")
        return attrs


ID_TYPES = ("sku", "upc", "ean", "id_in_source", "variant_id")


class StockMappingBody(FileTypeBody):
    """Which columns of a stock file say what, and where that stock is."""

    protocol = Optional(max_length=20, help_text="`SFTP`, in any case.")
    amount_field = Optional(max_length=200, help_text="The column with quantities; default quantity.")
    id_field = Optional(max_length=200, help_text="The column with identifiers; default sku.")
    id_type = Optional(max_length=20, help_text=f"One of {', '.join(ID_TYPES)}; default sku.")
    warehouse_id = Id(required=False, allow_null=True)
    warehouse_field = Optional(max_length=200, help_text="A column with the warehouse's id or exact name.")
    mode = Optional(
        max_length=10, help_text="`delta` (default), or `full`: what the file does not name becomes 0."
    )
    as_of = Moment(
        required=False, allow_null=True, help_text="When it was counted; an older count is refused."
    )

    def validate_protocol(self, value: str) -> str:
        if value and value.lower() != "sftp":
            raise serializers.ValidationError("Must be SFTP.", code="invalid_choice")
        return value

    def validate_id_type(self, value: str) -> str:
        if value and value.lower() not in ID_TYPES:
            raise serializers.ValidationError(f"Must be one of {', '.join(ID_TYPES)}.", code="invalid_choice")
        return value.lower() or "sku"

    def validate_mode(self, value: str) -> str:
        if value and value.lower() not in ("delta", "full"):
            raise serializers.ValidationError("Must be delta or full.", code="invalid_choice")
        return value.lower() or "delta"

    def validate_as_of(self, value: Any) -> Any:
        if value is not None and value > timezone.now() + CLOCK_SKEW:
            raise serializers.ValidationError("Is in the future; nothing was counted there yet.")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("warehouse_id") and attrs.get("warehouse_field"):
            raise serializers.ValidationError(
                {"warehouse_field": "Give either this or warehouse_id, not both."}
            )
        if not attrs.get("warehouse_id") and not attrs.get("warehouse_field"):
            raise serializers.ValidationError(
                {"warehouse_id": ["Give warehouse_id or warehouse_field."]}, code="required"
            )
        return attrs

    def options(self) -> dict[str, Any]:
        """What the job keeps of it."""
        data = self.validated_data
        as_of = data.get("as_of")
        return {
            "id_field": data.get("id_field") or "sku",
            "amount_field": data.get("amount_field") or "quantity",
            "id_type": data.get("id_type") or "sku",
            "warehouse_id": data.get("warehouse_id"),
            "warehouse_field": data.get("warehouse_field", ""),
            "mode": data.get("mode") or "delta",
            "as_of": as_of.isoformat() if as_of else None,
        }


class ImportInventoryBody(StockMappingBody):
    url = Text(max_length=1000, help_text="A path in the upload area, or an sftp:// URL.")
    dry_run = Flag(required=False, help_text="Tell what the import would do, and do nothing.")


class AutoProductsBody(ProductMappingBody):
    enabled = Flag(required=False)


class AutoInventoryBody(StockMappingBody):
    enabled = Flag(required=False)


class PolicyBody(Body):
    """The brake. What is absent stays as it is; null switches a part off."""

    zeroed_share = Exact(required=False, max_digits=4, decimal_places=3, max_value=Decimal(1))
    zeroed_least = Integer(required=False, min_value=0)
    zeroed_in_delta = Flag(required=False)
    delisted_share = Exact(
        required=False, allow_null=True, max_digits=4, decimal_places=3, max_value=Decimal(1)
    )
    price_factor = Exact(
        required=False, allow_null=True, max_digits=8, decimal_places=3, min_value=Decimal(1)
    )


class PolicyJson(TypedDict):
    """When an import waits for approval."""

    zeroed_share: Decimal
    zeroed_least: int
    zeroed_in_delta: bool
    delisted_share: Decimal | None
    price_factor: Decimal | None


def policy_json(policy: ImportPolicy) -> PolicyJson:
    return {
        "zeroed_share": number(policy.zeroed_share),
        "zeroed_least": policy.zeroed_least,
        "zeroed_in_delta": policy.zeroed_in_delta,
        "delisted_share": number(policy.delisted_share),
        "price_factor": number(policy.price_factor),
    }


class AutoImportJson(TypedDict):
    """What becomes of a file that is put into the folder of this kind."""

    kind: str
    enabled: bool
    options: dict[str, Any]


class RejectJson(TypedDict):
    """Why a row did not land; `line` is the physical line on which it starts, the header being 1."""

    line: int
    field: str
    code: str
    message: str


class JobErrorJson(TypedDict):
    code: str
    message: str


class JobJson(TypedDict):
    """An import. When it has ended well, the five counts from `created` on make up `rows_total`."""

    id: int
    kind: str
    status: Status
    source: str
    dry_run: bool
    rows_total: int | None
    rows_done: int
    created: int
    updated: int
    unchanged: int
    rejected: int
    duplicates: int
    rows_per_second: int | None
    seconds_left: int | None
    warnings: list[str]
    ignored_columns: list[str]
    report: dict[str, Any]
    error: JobErrorJson | None
    errors: list[RejectJson]
    errors_url: str
    created_at: str
    started_at: str | None
    finished_at: str | None


class StartedJson(JobJson):
    success: NotRequired[bool]
    message: NotRequired[str]


class JobsJson(TypedDict):
    """A page of imports."""

    next: str | None
    previous: str | None
    results: list[JobJson]


def reject_json(reject: Reject) -> RejectJson:
    return {"line": reject.line, "field": reject.field, "code": reject.code, "message": reject.message}


FIRST_ERRORS = """
    SELECT r.* FROM unnest(%s::bigint[]) AS job (id) CROSS JOIN LATERAL (
        SELECT * FROM imports_reject WHERE job_id = job.id ORDER BY line, id LIMIT %s) AS r
"""


def first_errors(jobs: Iterable[ImportJob]) -> Mapping[int, list[Reject]]:
    """The first errors of each job, in one query for all of them."""
    found: dict[int, list[Reject]] = {job.pk: [] for job in jobs if job.rejected}
    if found:
        for reject in Reject.objects.raw(FIRST_ERRORS, [list(found), SHOWN_ERRORS]):
            found[reject.job_id].append(reject)
    return found


def job_json(job: ImportJob, errors: Iterable[Reject], base: str) -> JobJson:
    """A job as the API shows it; `base` is the absolute URL of the service."""
    rate, left = progress(job)
    return {
        "id": job.pk,
        "kind": job.kind,
        "status": Status(job.status),
        "source": job.source,
        "dry_run": job.dry_run,
        "rows_total": job.rows_total,
        "rows_done": job.rows_done,
        "created": job.created,
        "updated": job.updated,
        "unchanged": job.unchanged,
        "rejected": job.rejected,
        "duplicates": job.duplicates,
        "rows_per_second": rate,
        "seconds_left": left,
        "warnings": job.warnings,
        "ignored_columns": job.ignored_columns,
        "report": job.report,
        "error": job.error,
        "errors": [reject_json(each) for each in errors],
        "errors_url": f"{base}/v3/suppliers/{job.supplier_id}/imports/{job.pk}/errors",
        "created_at": iso(job.created_at),
        "started_at": iso(job.started_at),
        "finished_at": iso(job.finished_at),
    }


def progress(job: ImportJob) -> tuple[int | None, int | None]:
    """Rows a second so far, and the seconds that are left at that rate; None where that is not known."""
    waiting = job.status in (Status.QUEUED, Status.AWAITING_APPROVAL)
    if waiting or job.started_at is None or not job.rows_done:
        return None, None
    seconds = ((job.finished_at or timezone.now()) - job.started_at).total_seconds()
    rate = job.rows_done / max(seconds, 0.001)
    if job.status != Status.RUNNING or job.rows_total is None:
        return round(rate), None
    return round(rate), round((job.rows_total - job.rows_done) / max(rate, 0.001))
