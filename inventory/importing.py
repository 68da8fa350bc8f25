"""Stock from files: which rows a file counts, and how the counts land (contract 6 and 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.db import IntegrityError, transaction
from psycopg.sql import SQL, Composable, Identifier, Literal

from accounts.models import Supplier
from api.errors import Invalid
from catalog.models import Variant
from catalog.pulse import beat_after_commit
from imports.batches import BATCH
from imports.columns import Column, Fault, Number, Text, about, text
from imports.importer import Importer, Landed, Lookup, Run
from imports.mapping import Entry
from imports.models import ImportPolicy, Kind
from imports.staging import row, run, value
from inventory.elements import LONGEST, MOST, IdType
from inventory.models import StockLevel, Warehouse

FULL = "full"
# Nobody's warehouse: what a name that is not known stands for.
NOWHERE = Literal(0)


class StockImporter(Importer):
    kind = Kind.INVENTORY
    automatic = False
    tables: ClassVar[Mapping[str, Sequence[str]]] = {
        Variant._meta.db_table: ("id", "supplier_id", "sku"),
        StockLevel._meta.db_table: ("variant_id", "warehouse_id"),
    }
    columns: ClassVar[Mapping[str, Column]] = {
        "id": Text("sku", required=True, example="TSHIRT-RED-M", longest=LONGEST),
        "quantity": Number("quantity", required=True, example="25", decimals=0),
        "warehouse": Text("warehouse", required=True, longest=LONGEST, hidden=True),
    }

    def columns_for(self, options: Mapping[str, Any]) -> Mapping[str, Column]:
        return {**self.columns, "id": Text(options["id_type"], required=True, longest=LONGEST)}

    def entries(self, options: Mapping[str, Any]) -> list[Entry]:
        entries = [Entry(options["id_field"], "id"), Entry(options["amount_field"], "quantity")]
        if options.get("warehouse_field"):
            entries.append(Entry(options["warehouse_field"], "warehouse"))
        return entries

    def mandatory(self, options: Mapping[str, Any]) -> list[str]:
        return [entry.field for entry in self.entries(options)]

    def check(self, supplier: Supplier, options: Mapping[str, Any]) -> dict[str, Any]:
        number = options.get("warehouse_id")
        if number and not Warehouse.objects.filter(supplier=supplier, pk=number).exists():
            message = f"You have no warehouse {number}; GET …/warehouses lists yours."
            raise Invalid.at("warehouse_id", message, "not_found")
        return dict(options)

    def key(self, current: Run) -> list[Composable]:
        warehouse = self._warehouse(current)
        if "warehouse" not in current.compiled.fields:
            return [self._id(current), warehouse]
        # Names that nobody knows are not the same for that.
        unknown = SQL("CASE WHEN {} = 0 THEN {} END").format(warehouse, current.compiled.values["warehouse"])
        return [self._id(current), warehouse, SQL("coalesce({}, '')").format(unknown)]

    def _id(self, current: Run) -> Composable:
        identifier = current.compiled.values["id"]
        if current.job.options["id_type"] == IdType.VARIANT_ID:
            return SQL("ltrim({}, '0')").format(identifier)
        return identifier

    def _warehouse(self, current: Run) -> Composable:
        """The warehouse's id: the one for the whole file, or that of the row's id or exact name."""
        if "warehouse" not in current.compiled.fields:
            return Literal(current.job.options["warehouse_id"])
        known = Warehouse.objects.filter(supplier_id=current.supplier_id).order_by("pk")
        pairs = [(warehouse.name, warehouse.pk) for warehouse in known]
        # A name that reads like an id means the warehouse of that name.
        pairs += [(str(warehouse.pk), warehouse.pk) for warehouse in known]
        whens = SQL(" ").join(SQL("WHEN {} THEN {}").format(Literal(each), Literal(pk)) for each, pk in pairs)
        if not pairs:
            return NOWHERE
        return SQL("(CASE {} {} ELSE {} END)").format(current.compiled.values["warehouse"], whens, NOWHERE)

    def prepare(self, current: Run) -> None:
        """A lookup of its own for the id types that have no unique index."""
        column = current.job.options["id_type"]
        if column in (IdType.SKU, IdType.VARIANT_ID):
            return
        run(
            SQL(
                "DROP TABLE IF EXISTS {lookup};"
                " CREATE UNLOGGED TABLE {lookup} AS SELECT {column} AS key, min(id) AS id, count(*) AS times"
                " FROM catalog_variant WHERE supplier_id = {supplier} AND {column} <> '' GROUP BY {column};"
                " CREATE UNIQUE INDEX ON {lookup} (key); ANALYZE {lookup}"
            ).format(
                lookup=current.staging.lookup,
                column=Identifier(column),
                supplier=Literal(current.supplier_id),
            )
        )

    def _variant(self, current: Run) -> Composable:
        """The join that finds a row's variant, `v`, and `v.times` it is found."""
        identifier, kind = self._id(current), current.job.options["id_type"]
        supplier = current.supplier
        if kind == IdType.SKU:
            return SQL("LEFT JOIN catalog_variant AS v ON v.supplier_id = {} AND v.sku = {}").format(
                supplier, identifier
            )
        if kind == IdType.VARIANT_ID:
            return SQL(
                "LEFT JOIN catalog_variant AS v ON v.supplier_id = {} AND"
                " v.id = CASE WHEN {id} ~ '^[0-9]{{1,18}}$' THEN {id}::bigint END"
            ).format(supplier, id=identifier)
        return SQL("LEFT JOIN {} AS v ON v.key = {}").format(current.staging.lookup, identifier)

    def lookup(self, current: Run) -> Lookup:
        warehouse = self._warehouse(current)
        found = SQL("l.variant_id = v.id AND l.warehouse_id = {}").format(warehouse)
        joins = SQL("{} LEFT JOIN inventory_stocklevel AS l ON {}").format(
            self._variant(current), SQL("false") if current.first else found
        )
        shared = current.job.options["id_type"] not in (IdType.SKU, IdType.VARIANT_ID)
        columns = {
            "variant_id": SQL("v.id"),
            "warehouse_id": SQL("{}::bigint").format(warehouse),
            "level_id": SQL("l.id"),
            "counted_at": SQL("l.counted_at"),
            "times": SQL("v.times") if shared else SQL("1"),
        }
        as_of = _as_of(current)
        confirmed = SQL("true") if _is_null(current) else SQL("l.counted_at = {}").format(as_of)
        once = SQL("v.times = 1") if shared else SQL("true")
        unchanged = SQL("l.on_hand = {} AND {} AND {}").format(
            current.compiled.values["quantity"], confirmed, once
        )
        return Lookup(joins, columns, unchanged)

    def faults(self, current: Run) -> list[tuple[str, Fault]]:
        label = current.compiled.columns["id"].name
        identifier = current.compiled.cell("id")
        found = [
            (
                label,
                Fault(
                    SQL("b.variant_id IS NULL AND b.id <> ''"),
                    "not_found",
                    about(identifier, f"no variant of yours has this {label}."),
                ),
            ),
            (
                label,
                Fault(
                    SQL("b.times > 1"),
                    "ambiguous",
                    about(identifier, f"more than one variant of yours has this {label}."),
                ),
            ),
            (
                "quantity",
                Fault(
                    SQL("b.quantity > {} AND b.quantity <> 'NaN'").format(Literal(MOST)),
                    "max_value",
                    text(f"quantity is more than {MOST}."),
                ),
            ),
        ]
        if "warehouse" in current.compiled.fields:
            found.append(
                (
                    "warehouse",
                    Fault(
                        SQL("b.warehouse_id = 0 AND b.warehouse <> ''"),
                        "not_found",
                        about(
                            current.compiled.cell("warehouse"),
                            "is neither the id nor the exact name of a warehouse of yours.",
                        ),
                    ),
                ),
            )
        if not _is_null(current):
            known = SQL(
                "'A later count is known, of '"
                " || to_char(b.counted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\".')"
            )
            found.append(
                ("quantity", Fault(SQL("b.counted_at > {}").format(_as_of(current)), "outdated", known))
            )
        return found

    def land(self, current: Run) -> Landed:
        """Insert what is missing first, then lock what is there in (variant, warehouse) order and set it."""
        missing, there = row(
            SQL("SELECT count(*) FILTER (WHERE level_id IS NULL), count(level_id) FROM {}").format(BATCH)
        )
        created = self._insert(current) if missing else 0
        updated, zeroed = self._set(current) if there or created < missing else (0, 0)
        return Landed(created, updated, {"zeroed": zeroed})

    def is_first(self, current: Run) -> bool:
        return not StockLevel.objects.filter(warehouse_id__in=self._warehouses(current)).exists()

    def _insert(self, current: Run) -> int:
        """Add the levels that are missing; return how many somebody else had not added meanwhile."""
        insert = SQL(
            "INSERT INTO inventory_stocklevel"
            " (variant_id, warehouse_id, on_hand, reserved, counted_at, updated_at)"
            " SELECT variant_id, warehouse_id, quantity, 0, coalesce({}, now()), now()"
            " FROM {} WHERE level_id IS NULL ORDER BY variant_id, warehouse_id"
        ).format(_as_of(current), BATCH)
        try:
            # Nobody has in most cases, and not to ask for each saves a third of this.
            with transaction.atomic():
                return run(insert)
        except IntegrityError:
            return run(SQL("{} ON CONFLICT (variant_id, warehouse_id) DO NOTHING").format(insert))

    def _set(self, current: Run) -> tuple[int, int]:
        """Set what is there; return how many levels moved, and how many of them to 0."""
        # A count that is confirmed later keeps its pieces, but takes the later time.
        updated, zeroed = row(
            SQL(
                """
                WITH changed AS (
                    SELECT l.id, b.quantity, l.on_hand <> b.quantity AS moved
                    FROM {batch} AS b JOIN inventory_stocklevel AS l
                        ON l.variant_id = b.variant_id AND l.warehouse_id = b.warehouse_id
                    WHERE (l.on_hand <> b.quantity AND {as_of} IS NULL)
                        OR l.counted_at < {as_of} OR (l.counted_at IS NULL AND {as_of} IS NOT NULL)
                        OR (l.on_hand <> b.quantity AND l.counted_at = {as_of})
                    ORDER BY l.variant_id, l.warehouse_id FOR UPDATE OF l
                ), written AS (
                    UPDATE inventory_stocklevel AS l
                    SET on_hand = changed.quantity, counted_at = coalesce({as_of}, now()),
                        updated_at = CASE WHEN moved THEN now() ELSE l.updated_at END
                    FROM changed WHERE l.id = changed.id RETURNING moved, l.on_hand
                )
                SELECT count(*) FILTER (WHERE moved), count(*) FILTER (WHERE moved AND on_hand = 0)
                FROM written
                """
            ).format(batch=BATCH, as_of=_as_of(current))
        )
        return int(updated), int(zeroed)

    def landed(self) -> None:
        beat_after_commit()

    def forecast(self, current: Run) -> Landed:
        created, updated, zeroed = row(
            SQL(
                "SELECT count(*) FILTER (WHERE level_id IS NULL),"
                " count(*) FILTER (WHERE l.on_hand <> b.quantity),"
                " count(*) FILTER (WHERE l.on_hand <> b.quantity AND b.quantity = 0)"
                " FROM {} AS b LEFT JOIN inventory_stocklevel AS l ON l.id = b.level_id"
            ).format(BATCH)
        )
        return Landed(int(created), int(updated), {"zeroed": int(zeroed)})

    def finish(self, current: Run) -> dict[str, Any]:
        if current.job.options["mode"] != FULL:
            return {}
        if why := _why_kept(current):
            return {"zeroed": 0, "kept": why}
        zeroed = value(
            SQL(
                """
                WITH gone AS ({unnamed} ORDER BY l.variant_id, l.warehouse_id FOR UPDATE OF l),
                written AS (
                    UPDATE inventory_stocklevel AS l
                    SET on_hand = 0, counted_at = coalesce({as_of}, now()), updated_at = now()
                    FROM gone WHERE l.id = gone.id RETURNING 1
                )
                SELECT count(*) FROM written
                """
            ).format(unnamed=self._unnamed(current), as_of=_as_of(current))
        )
        return {"zeroed": int(zeroed)}

    def foresee(self, current: Run) -> dict[str, Any]:
        if current.job.options["mode"] != FULL:
            return {}
        if why := _why_kept(current):
            return {"zeroed": 0, "kept": why}
        return {"zeroed": int(value(SQL("SELECT count(*) FROM ({}) AS l").format(self._unnamed(current))))}

    def _unnamed(self, current: Run) -> Composable:
        """The stock in the file's warehouses that no row of it names, not even a rejected one.

        A row whose warehouse nobody knows names its variant in all of them.
        """
        return SQL(
            """
            SELECT l.id FROM inventory_stocklevel AS l
            WHERE l.warehouse_id = ANY({warehouses}) AND l.on_hand > 0
                AND {older} AND NOT EXISTS (SELECT FROM ({named}) AS n
                    WHERE n.variant_id = l.variant_id AND n.warehouse_id IN (l.warehouse_id, {nowhere}))
            """
        ).format(
            warehouses=Literal(self._warehouses(current)),
            older=_older(current),
            named=self._named(current),
            nowhere=NOWHERE,
        )

    def _named(self, current: Run) -> Composable:
        if current.job.options["id_type"] in (IdType.SKU, IdType.VARIANT_ID):
            joined, variant = self._variant(current), SQL("v.id")
        else:
            # What several variants share names all of them.
            column = Identifier(current.job.options["id_type"])
            joined = SQL("JOIN catalog_variant AS v ON v.supplier_id = {} AND v.{} = {}").format(
                current.supplier, column, self._id(current)
            )
            variant = SQL("v.id")
        return SQL(
            "SELECT {} AS variant_id, {}::bigint AS warehouse_id, {} AS quantity FROM {} AS s {}"
        ).format(
            variant,
            self._warehouse(current),
            current.compiled.values["quantity"],
            current.staging.table,
            joined,
        )

    def _warehouses(self, current: Run) -> list[int]:
        if "warehouse" not in current.compiled.fields:
            return [current.job.options["warehouse_id"]]
        found = value(
            SQL("SELECT array_agg(DISTINCT {}) FROM {} AS s").format(
                self._warehouse(current), current.staging.table
            )
        )
        return [each for each in found or [] if each]

    def brake(self, current: Run, policy: ImportPolicy) -> list[str]:
        full = current.job.options["mode"] == FULL and not _why_kept(current)
        if not (full or policy.zeroed_in_delta):
            return []
        zeroed, stocked = row(
            SQL(
                """
                SELECT count(DISTINCT l.variant_id) FILTER (WHERE {older} AND (
                        (n.quantity = 0 AND n.warehouse_id <> {nowhere}) OR ({full} AND n.variant_id IS NULL)
                    )), count(DISTINCT l.variant_id)
                FROM inventory_stocklevel AS l LEFT JOIN ({named}) AS n
                    ON n.variant_id = l.variant_id AND n.warehouse_id IN (l.warehouse_id, {nowhere})
                WHERE l.warehouse_id = ANY({warehouses}) AND l.on_hand > 0
                """
            ).format(
                full=Literal(full),
                older=_older(current),
                nowhere=NOWHERE,
                named=self._named(current),
                warehouses=Literal(self._warehouses(current)),
            )
        )
        if int(zeroed) <= policy.zeroed_least or int(zeroed) <= policy.zeroed_share * int(stocked):
            return []
        return [f"It would set {zeroed} of {stocked} stocked variants to 0."]


def _as_of(current: Run) -> Composable:
    as_of = current.job.options.get("as_of")
    return SQL("{}::timestamptz").format(Literal(datetime.fromisoformat(as_of) if as_of else None))


def _older(current: Run) -> Composable:
    """Whether a level, `l`, was not counted later than the file."""
    return SQL("({0} IS NULL OR l.counted_at IS NULL OR l.counted_at <= {0})").format(_as_of(current))


def _is_null(current: Run) -> bool:
    return not current.job.options.get("as_of")


def _why_kept(current: Run) -> str:
    """Why what a full file does not name is left alone: it is not all there is. Empty where it may be."""
    if current.compiled.own:
        return "Nothing that it does not name was set to 0: an error report holds the rejected rows only."
    if current.job.rejects.filter(field="").exists():
        return (
            "Nothing that it does not name was set to 0:"
            " some records could not be read, and what they name is not known."
        )
    return ""
