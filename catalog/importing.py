"""Products from files: what the columns are, and how a batch of them lands (contract 6)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.db import IntegrityError, transaction
from django.db.models import NOT_PROVIDED, Field
from psycopg.sql import SQL, Composable, Identifier, Literal
from psycopg.types.json import Jsonb

from catalog.gtin import EAN, GTIN, UPC
from catalog.models import Variant
from catalog.pulse import beat_after_commit
from catalog.serializers import LONG
from imports.batches import BATCH, TOP
from imports.columns import (
    Barcode,
    Column,
    Fault,
    Flag,
    Lines,
    Moment,
    Number,
    Pairs,
    Text,
    Urls,
    text,
)
from imports.importer import Importer, Landed, Lookup, Run
from imports.models import ImportPolicy, Kind
from imports.staging import row, value
from imports.staging import run as execute

PRICES = ("retail_price", "wholesale_price")
COLUMNS: tuple[Column, ...] = (
    Text("sku", required=True, example="TSHIRT-RED-M", longest=100),
    Text("model", example="TSHIRT", longest=100),
    Number("retail_price", required=True, example="19.99"),
    Number("wholesale_price", example="11.50"),
    Text("title", required=True, example="T-shirt, red, M", longest=500),
    Text("description", example="Cotton, made to last.", longest=LONG),
    Text("description_extra", example="Wash at 30 degrees.", longest=LONG),
    Barcode("upc", example="036000291452", lengths=UPC),
    Barcode("ean", example="4006381333931", lengths=EAN),
    Text("id_in_source", example="10045", longest=100),
    Number("weight", example="0.25"),
    Urls("images", example="https://example.com/1.jpg|https://example.com/2.jpg"),
    Number("special_sale_price", example="14.99"),
    Moment("special_sale_price_start", example="2026-11-27T00:00:00Z"),
    Moment("special_sale_price_end", example="2026-12-01T00:00:00Z"),
    Lines("description_bullets", example="Pure cotton|Fair trade"),
    Flag("listed", hidden=True),
    Barcode("gtin", hidden=True, lengths=GTIN),
    Pairs("option", hidden=True, key="type", choices=("color", "size", "width")),
    Pairs("property", hidden=True, key="name"),
)
# Fields whose database column has another name.
STORED = {"option": "options", "property": "properties"}
# A GTIN of these lengths is also the number of that kind.
OF_GTIN = {"upc": "(12)", "ean": "(8, 13)"}
TABLE = Identifier(Variant._meta.db_table)


def column_of(field: str) -> Identifier:
    return Identifier(STORED.get(field, field))


class ProductImporter(Importer):
    kind = Kind.PRODUCTS
    tables: ClassVar[Mapping[str, Sequence[str]]] = {Variant._meta.db_table: ("id", "supplier_id", "sku")}
    columns: ClassVar[Mapping[str, Column]] = {column.name: column for column in COLUMNS}

    def key(self, run: Run) -> list[Composable]:
        return [run.compiled.values["sku"]]

    def mandatory(self, options: Mapping[str, Any]) -> list[str]:
        return ["sku"]

    def lookup(self, run: Run) -> Lookup:
        values = run.compiled.values
        found = SQL("v.supplier_id = {} AND v.sku = {}").format(run.supplier, values["sku"])
        joins = SQL("LEFT JOIN {} AS v ON {}").format(TABLE, SQL("false") if run.first else found)
        same = [
            self._same(name, each, run.compiled.untouched(name))
            for name, each in values.items()
            if name != "sku"
        ]
        same += [
            SQL("(length({0}) NOT IN {1} OR v.{2} = {0})").format(
                values["gtin"], SQL(lengths), Identifier(name)
            )
            for name, lengths in OF_GTIN.items()
            if "gtin" in values
        ]
        unchanged = SQL(" AND ").join([SQL("v.id IS NOT NULL"), *same])
        return Lookup(joins, {"variant_id": SQL("v.id")}, unchanged)

    def _same(self, name: str, new: Composable, raw: Composable | None) -> Composable:
        stored = SQL("v.{}").format(column_of(name))
        if name == "listed":
            return SQL("({0} = '' OR {0} = {1}::text)").format(new, stored)
        if isinstance(self.columns[name], Number | Moment):
            return SQL("{} IS NOT DISTINCT FROM {}").format(stored, new)
        if raw is not None and isinstance(self.columns[name], Text | Barcode | Urls):
            # Most cells are just as they are stored, and then need no trimming to be known for that.
            return SQL("({0} = {1} OR {0} = {2})").format(stored, raw, new)
        return SQL("{} = {}").format(stored, new)

    def faults(self, run: Run) -> list[tuple[str, Fault]]:
        fields = run.compiled.fields
        found = [
            (
                name,
                Fault(
                    SQL("b.variant_id IS NULL"),
                    "required",
                    text(f"{name} is mandatory for a new product, and the file has no such column."),
                ),
            )
            for name, column in self.columns.items()
            if column.required and name not in fields
        ]
        start, end = "special_sale_price_start", "special_sale_price_end"
        if start in fields and end in fields:
            condition = SQL("b.{} < b.{} AND b.{} > '-infinity'").format(*map(Identifier, (end, start, end)))
            found.append((end, Fault(condition, "invalid", text(f"{end} is before its start."))))
        for name in OF_GTIN:
            if "gtin" in fields and name in fields:
                condition = SQL("length(b.gtin) IN {} AND b.{} NOT IN ('', b.gtin)").format(
                    SQL(OF_GTIN[name]),
                    Identifier(name),
                )
                found.append(
                    ("gtin", Fault(condition, "contradiction", text(f"Is another number than the {name}.")))
                )
        return found

    def land(self, run: Run) -> Landed:
        targets = self._targets(run)
        there, missing = row(
            SQL("SELECT count(variant_id), count(*) - count(variant_id) FROM {}").format(BATCH)
        )
        updated = self._update(targets) if there else 0
        created, overtaken = self._insert(run) if missing else (0, 0)
        return Landed(created, updated + overtaken)

    def _targets(self, run: Run) -> dict[str, Composable]:
        """For each stored column its value from the batch; NULL from `listed` and by GTIN means as it was."""
        fields = run.compiled.fields
        targets: dict[str, Composable] = {}
        targets |= {STORED.get(name, name): SQL("b.{}").format(Identifier(name)) for name in fields}
        if "listed" in fields:
            targets["listed"] = SQL("nullif(b.listed, '')::boolean")
        for name, lengths in OF_GTIN.items():
            if "gtin" in fields:
                mapped = SQL("nullif(b.{}, '')").format(Identifier(name))
                own = mapped if name in fields else SQL("NULL").format()
                targets[name] = SQL("coalesce({}, CASE WHEN length(b.gtin) IN {} THEN b.gtin END)").format(
                    own,
                    SQL(lengths),
                )
        return targets

    def _keeps(self, name: str, targets: Mapping[str, Composable]) -> bool:
        return name == "listed" or (name in OF_GTIN and "gtin" in targets)

    def _update(self, targets: Mapping[str, Composable]) -> int:
        """Change the variants that are there: locked by id first, as everybody does."""
        names = [name for name in targets if name != "sku"]
        if not names:
            return 0
        news = [
            SQL("coalesce({}, v.{})").format(targets[name], Identifier(name))
            if self._keeps(name, targets)
            else targets[name]
            for name in names
        ]
        return execute(
            SQL(
                """
                WITH locked AS (
                    SELECT b.* FROM {batch} AS b JOIN {table} AS v ON v.id = b.variant_id WHERE {differ}
                    ORDER BY v.id FOR NO KEY UPDATE OF v
                )
                UPDATE {table} AS v SET {changes}, updated_at = clock_timestamp()
                FROM locked AS b WHERE v.id = b.variant_id
                """
            ).format(
                table=TABLE,
                batch=BATCH,
                changes=SQL(", ").join(
                    SQL("{} = {}").format(Identifier(name), new)
                    for name, new in zip(names, news, strict=True)
                ),
                differ=SQL(" OR ").join(
                    SQL("v.{} IS DISTINCT FROM {}").format(Identifier(name), new)
                    for name, new in zip(names, news, strict=True)
                ),
            )
        )

    def is_first(self, run: Run) -> bool:
        return not Variant.objects.filter(supplier_id=run.supplier_id).exists()

    def _insert(self, run: Run) -> tuple[int, int]:
        """Add the others; return how many, and how many somebody else had added meanwhile."""
        try:
            # Nobody has added one of them in most cases, and not to ask for each saves a fifth of this.
            with transaction.atomic():
                return execute(self._insertion(run)), 0
        except IntegrityError:
            return self._upsert(run)

    def _insertion(self, run: Run) -> Composable:
        targets = self._targets(run)
        columns: dict[str, Composable] = {"supplier_id": Literal(run.supplier_id)}
        columns |= defaults()
        for name, new in targets.items():
            columns[name] = (
                SQL("coalesce({}, {})").format(new, columns[name]) if self._keeps(name, targets) else new
            )
        return SQL(
            "INSERT INTO {table} AS v ({columns}, created_at, updated_at)"
            " SELECT {values}, clock_timestamp(), clock_timestamp()"
            " FROM {batch} AS b WHERE b.variant_id IS NULL"
        ).format(
            table=TABLE,
            batch=BATCH,
            columns=SQL(", ").join(map(Identifier, columns)),
            values=SQL(", ").join(columns.values()),
        )

    def _upsert(self, run: Run) -> tuple[int, int]:
        targets = self._targets(run)
        changes = [Identifier(name) for name in targets if name != "sku" and not self._keeps(name, targets)]
        found = row(
            SQL(
                """
                WITH written AS (
                    {insert}
                    ON CONFLICT (supplier_id, sku) DO UPDATE SET {changes} updated_at = clock_timestamp()
                    RETURNING v.xmax = 0 AS fresh
                )
                SELECT count(*) FILTER (WHERE fresh), count(*) FILTER (WHERE NOT fresh) FROM written
                """
            ).format(
                insert=self._insertion(run),
                changes=SQL("").join(SQL("{0} = excluded.{0}, ").format(each) for each in changes),
            )
        )
        return int(found[0]), int(found[1])

    def landed(self) -> None:
        beat_after_commit()

    def forecast(self, run: Run) -> Landed:
        created, updated, delisted = row(
            SQL(
                "SELECT count(*) FILTER (WHERE b.variant_id IS NULL), count(b.variant_id),"
                " count(*) FILTER (WHERE v.listed AND {})"
                " FROM {} AS b LEFT JOIN {} AS v ON v.id = b.variant_id"
            ).format(_delists(run, SQL("b.listed")), BATCH, TABLE)
        )
        report = {"delisted": int(delisted), "price_changes": self._price_changes(run)}
        return Landed(int(created), int(updated), report)

    def _price_changes(self, run: Run) -> list[dict[str, Any]]:
        changes = [
            SQL(
                "SELECT v.sku, {name} AS field, v.{price} AS old, b.{price} AS new FROM {batch} AS b"
                " JOIN {table} AS v ON v.id = b.variant_id WHERE b.{price} <> v.{price}"
            ).format(name=Literal(name), price=Identifier(name), batch=BATCH, table=TABLE)
            for name in PRICES
            if name in run.compiled.fields
        ]
        if not changes:
            return []
        found = value(
            SQL(
                """
                SELECT coalesce(jsonb_agg(c), '[]') FROM (
                    SELECT sku, field, trim_scale(old)::text AS from, trim_scale(new)::text AS to,
                        round(greatest(new, old) / greatest(least(new, old), 0.0001), 4) AS factor
                    FROM ({}) AS changed ORDER BY factor DESC, sku, field LIMIT {}
                ) AS c
                """
            ).format(SQL(" UNION ALL ").join(changes), Literal(TOP))
        )
        return list(json.loads(found))

    def brake(self, run: Run, policy: ImportPolicy) -> list[str]:
        return [*self._brake_delisting(run, policy), *self._brake_prices(run, policy)]

    def _brake_delisting(self, run: Run, policy: ImportPolicy) -> list[str]:
        if policy.delisted_share is None or "listed" not in run.compiled.fields:
            return []
        gone = self._count(run, SQL("v.listed AND {}").format(_delists(run, run.compiled.values["listed"])))
        listed = Variant.objects.filter(supplier_id=run.supplier_id, listed=True).count()
        if not listed or gone <= policy.delisted_share * listed:
            return []
        return [f"It would delist {gone} of {listed} listed variants."]

    def _brake_prices(self, run: Run, policy: ImportPolicy) -> list[str]:
        reasons = []
        for name in PRICES:
            if policy.price_factor is None or name not in run.compiled.fields:
                continue
            moved = self._count(
                run,
                SQL(
                    "{new} <> 'NaN' AND {new} >= 0 AND v.{old} > 0"
                    " AND ({new} > v.{old} * {f} OR v.{old} > {new} * {f})"
                ).format(new=run.compiled.values[name], old=Identifier(name), f=Literal(policy.price_factor)),
            )
            if moved:
                factor = f"{policy.price_factor.normalize():f}"
                them = "1 variant" if moved == 1 else f"{moved} variants"
                reasons.append(f"It would move {name} of {them} by more than a factor of {factor}.")
        return reasons

    def _count(self, run: Run, condition: Composable) -> int:
        lookup = self.lookup(run)
        return int(
            value(
                SQL("SELECT count(*) FROM {} AS s {} {} WHERE {}").format(
                    run.staging.table, run.compiled.joins, lookup.joins, condition
                )
            )
        )


def _delists(run: Run, listed: Composable) -> Composable:
    return SQL("{} = 'false'").format(listed) if "listed" in run.compiled.fields else SQL("false")


def defaults() -> dict[str, Composable]:
    """What a new variant has where the file says nothing: the model's own defaults."""
    found: dict[str, Composable] = {}
    for field in Variant._meta.local_concrete_fields:
        given = field.primary_key or field.generated or field.db_default is not NOT_PROVIDED
        if not given and field.name != "supplier":
            found[str(field.column)] = _default_of(field)
    return found


def _default_of(field: Field[Any, Any]) -> Composable:
    default = field.get_default()
    if field.get_internal_type() == "JSONField":
        return Literal(Jsonb(default))
    if field.get_internal_type() == "ArrayField":
        return Literal("{}")
    return Literal(default)
