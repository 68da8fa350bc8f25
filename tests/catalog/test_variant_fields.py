"""Each field of a variant is in the model, the body, the answer and the import.

docs/architecture.md lists these four steps for a new field.
"""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import get_args, get_type_hints

from catalog.importing.columns import COLUMNS, STORED
from catalog.models import Variant
from catalog.serializers import EMPTY, VariantBody, VariantJson, variant_json

ARCHITECTURE = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text()
SET_BY_THE_SERVICE = {"id", "supplier_id", "created_at", "updated_at"}
READ_FROM_STOCK = {"expected_at"}
PLACES = {
    "`catalog.models.Variant`": {field.attname for field in Variant._meta.concrete_fields},
    "`catalog.serializers.VariantBody`": {*VariantBody().fields},
    "`catalog.serializers.VariantJson`": {*VariantJson.__annotations__},
    "`catalog.importing.columns`": {STORED.get(name, name) for name in COLUMNS},
}


def test_model_body_answer_and_import_have_every_field():
    fields = {*VariantJson.__annotations__} - SET_BY_THE_SERVICE - READ_FROM_STOCK
    assert {place: fields - names for place, names in PLACES.items() if fields - names} == {}


def test_the_architecture_lists_model_body_answer_and_import_in_order():
    section = ARCHITECTURE.split("## How to add a field of a variant\n")[1].split("\n## ")[0]
    assert re.findall(r"^[0-9]+\. (`[^`]+`)", section, re.MULTILINE) == list(PLACES)


def test_a_field_that_the_body_omits_becomes_empty():
    optional = {name for name, field in VariantBody().fields.items() if not field.required}
    assert set(EMPTY) == optional - {"listed"}
    variant = Variant(supplier_id=1, sku="LAMP", title="Lamp", retail_price=Decimal(5))
    assert {name: getattr(variant, name) for name in EMPTY} == EMPTY


def test_each_value_of_an_answer_has_the_type_that_the_schema_names():
    moment = datetime.fromisoformat("2026-11-23T08:00:00+00:00")
    variant = Variant(pk=1, supplier_id=2, sku="LAMP", title="Lamp", retail_price=Decimal("5.0000"))
    for field in Variant._meta.concrete_fields:
        if field.get_internal_type() == "DateTimeField":
            setattr(variant, field.attname, moment)
        if field.get_internal_type() == "DecimalField":
            setattr(variant, field.attname, Decimal("5.5000"))
    variant._prefetched_objects_cache = {"expected_stock": []}  # type: ignore[attr-defined]
    types = get_type_hints(VariantJson)
    for name, value in variant_json(variant).items():
        expected = types[name]
        allowed = get_args(expected) if type(None) in get_args(expected) else (expected,)
        assert isinstance(value, tuple(getattr(one, "__origin__", one) for one in allowed)), name
