import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

MOVEMENTS = """
CREATE SEQUENCE inventory_stockmovement_id_seq AS bigint;
CREATE TABLE inventory_stockmovement (
    id bigint NOT NULL DEFAULT nextval('inventory_stockmovement_id_seq'),
    occurred_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    variant_id bigint NOT NULL,
    warehouse_id bigint NOT NULL,
    kind varchar(10) NOT NULL,
    on_hand_change integer NOT NULL,
    reserved_change integer NOT NULL,
    on_hand integer NOT NULL,
    reserved integer NOT NULL,
    moved integer NOT NULL DEFAULT 0,
    actor varchar(200) NOT NULL DEFAULT '',
    request_id varchar(100) NOT NULL DEFAULT '',
    order_id bigint,
    fulfillment_id bigint,
    import_id bigint,
    line integer,
    reason varchar(500) NOT NULL DEFAULT '',
    PRIMARY KEY (id, occurred_at)
) PARTITION BY RANGE (occurred_at);
ALTER SEQUENCE inventory_stockmovement_id_seq OWNED BY inventory_stockmovement.id;
CREATE INDEX movement_of_stock ON inventory_stockmovement (variant_id, warehouse_id, id);
CREATE INDEX movement_of_warehouse ON inventory_stockmovement (warehouse_id, kind, id);
CREATE INDEX movement_of_order ON inventory_stockmovement (order_id, id) WHERE order_id IS NOT NULL;
CREATE INDEX movement_of_pieces ON inventory_stockmovement (warehouse_id, occurred_at)
    INCLUDE (variant_id, moved) WHERE moved <> 0;
CREATE TABLE inventory_stockmovement_default PARTITION OF inventory_stockmovement DEFAULT;
"""

DROP_MOVEMENTS = "DROP TABLE inventory_stockmovement"

# Movements in the default partition move to the new partition, so a month can get its partition at any time.
PARTITIONS = """
CREATE FUNCTION make_stockmovement_partition(month date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    first date := date_trunc('month', month);
    name text := 'inventory_stockmovement_' || to_char(first, 'YYYY_MM');
    since timestamptz := first::timestamp AT TIME ZONE 'UTC';
    until timestamptz := (first + interval '1 month')::timestamp AT TIME ZONE 'UTC';
BEGIN
    IF to_regclass(name) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE inventory_stockmovement INCLUDING DEFAULTS)', name);
    EXECUTE format(
        'WITH gone AS (DELETE FROM inventory_stockmovement_default'
        ' WHERE occurred_at >= $1 AND occurred_at < $2 RETURNING *) INSERT INTO %I SELECT * FROM gone', name
    ) USING since, until;
    EXECUTE format(
        'ALTER TABLE inventory_stockmovement ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        name, since, until);
END
$$;
SELECT make_stockmovement_partition((now() AT TIME ZONE 'UTC' + n * interval '1 month')::date)
FROM generate_series(0, 3) AS n;
"""

DROP_PARTITIONS = "DROP FUNCTION make_stockmovement_partition(date)"

STOCK_TRIGGERS = """
CREATE TRIGGER stock_created BEFORE INSERT ON inventory_stocklevel
    FOR EACH ROW WHEN (NEW.changed_in IS DISTINCT FROM change_number())
    EXECUTE FUNCTION stamp_changed_in();
CREATE TRIGGER stock_changed BEFORE UPDATE ON inventory_stocklevel
    FOR EACH ROW WHEN (OLD.on_hand <> NEW.on_hand OR OLD.reserved <> NEW.reserved)
    EXECUTE FUNCTION stamp_changed_in();
"""

DROP_STOCK_TRIGGERS = """
DROP TRIGGER stock_changed ON inventory_stocklevel;
DROP TRIGGER stock_created ON inventory_stocklevel;
"""


class Migration(migrations.Migration):
    replaces = [
        ("inventory", "0001_squashed_0010_plain_help_texts"),
        ("inventory", "0011_stocklevel_stocked_at"),
        ("inventory", "0012_restock_dates"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_release_1"),
        ("catalog", "0001_release_1"),
        ("events", "0001_release_1"),
    ]

    operations = [
        migrations.CreateModel(
            name="Warehouse",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                (
                    "is_default",
                    models.BooleanField(
                        default=False,
                        help_text="Order lines that no warehouse has in stock go to this warehouse.",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="warehouses",
                        to="accounts.supplier",
                    ),
                ),
                (
                    "heard_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="When a stock push last counted here; updated at most every 10 minutes.",
                        null=True,
                    ),
                ),
            ],
            options={
                "ordering": ["supplier_id", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("supplier"),
                        models.F("name"),
                        name="warehouse_name_once",
                        violation_error_message="The supplier has another warehouse of this name.",
                    ),
                    models.UniqueConstraint(
                        models.F("supplier"),
                        condition=models.Q(("is_default", True)),
                        name="warehouse_one_default",
                        violation_error_message="Another warehouse is the default. Change that warehouse first.",
                    ),
                ],
            },
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(MOVEMENTS, DROP_MOVEMENTS)],
            state_operations=[
                migrations.CreateModel(
                    name="StockMovement",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        (
                            "occurred_at",
                            models.DateTimeField(
                                db_default=models.Func(
                                    function="clock_timestamp", output_field=models.DateTimeField()
                                )
                            ),
                        ),
                        ("variant_id", models.BigIntegerField()),
                        ("warehouse_id", models.BigIntegerField()),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("opening", "Opening"),
                                    ("count", "Count"),
                                    ("reserve", "Reserve"),
                                    ("release", "Release"),
                                    ("ship", "Ship"),
                                    ("refuse", "Refuse"),
                                    ("return", "Return"),
                                    ("adjust", "Adjust"),
                                ],
                                max_length=10,
                            ),
                        ),
                        ("on_hand_change", models.IntegerField()),
                        ("reserved_change", models.IntegerField()),
                        ("on_hand", models.IntegerField(help_text="After this movement.")),
                        ("reserved", models.IntegerField(help_text="After this movement.")),
                        (
                            "moved",
                            models.IntegerField(
                                db_default=0,
                                help_text="Units that came back or (below 0) left, even if no count had included them.",
                            ),
                        ),
                        ("actor", models.CharField(db_default="", max_length=200)),
                        ("request_id", models.CharField(db_default="", max_length=100)),
                        ("order_id", models.BigIntegerField(null=True)),
                        ("fulfillment_id", models.BigIntegerField(null=True)),
                        ("import_id", models.BigIntegerField(null=True)),
                        ("line", models.IntegerField(help_text="The line of the import's file.", null=True)),
                        ("reason", models.CharField(db_default="", max_length=500)),
                    ],
                    options={
                        "ordering": ["-id"],
                        "indexes": [
                            models.Index(
                                models.F("variant_id"),
                                models.F("warehouse_id"),
                                models.F("id"),
                                name="movement_of_stock",
                            ),
                            models.Index(
                                models.F("warehouse_id"),
                                models.F("kind"),
                                models.F("id"),
                                name="movement_of_warehouse",
                            ),
                            models.Index(
                                models.F("order_id"),
                                models.F("id"),
                                condition=models.Q(("order_id__isnull", False)),
                                name="movement_of_order",
                            ),
                            models.Index(
                                condition=models.Q(("moved", 0), _negated=True),
                                fields=["warehouse_id", "occurred_at"],
                                include=("variant_id", "moved"),
                                name="movement_of_pieces",
                            ),
                        ],
                    },
                ),
            ],
        ),
        migrations.CreateModel(
            name="StockLevel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("on_hand", models.PositiveIntegerField(default=0)),
                ("reserved", models.PositiveIntegerField(default=0)),
                (
                    "counted_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When the supplier counted on_hand; without such a time, when the count arrived.",
                        null=True,
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "variant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="stock",
                        to="catalog.variant",
                    ),
                ),
                (
                    "warehouse",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="stock",
                        to="inventory.warehouse",
                    ),
                ),
                (
                    "overpromised",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Q(("reserved__gt", models.F("on_hand"))),
                        output_field=models.BooleanField(),
                    ),
                ),
                (
                    "changed_in",
                    models.BigIntegerField(
                        db_default=models.Func(function="change_number"),
                        editable=False,
                        help_text="The number of the last change of this row; set by a trigger.",
                    ),
                ),
                (
                    "stocked_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="When the supplier last counted units here; empty after a refusal as out of stock.",
                        null=True,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(models.F("warehouse"), models.F("variant"), name="stock_of_warehouse"),
                    models.Index(
                        models.F("id"), condition=models.Q(("overpromised", True)), name="stock_overpromised"
                    ),
                    django.contrib.postgres.indexes.BrinIndex(
                        models.F("changed_in"),
                        autosummarize=True,
                        name="stock_changed_in",
                        pages_per_range=16,
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("variant"), models.F("warehouse"), name="stock_level_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("on_hand__gte", 0), ("reserved__gte", 0)),
                        name="stock_not_negative",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ExpectedStock",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("expected_at", models.DateField(help_text="Empty after the stock has arrived.", null=True)),
                (
                    "is_announced",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="The orders that wait for the stock know the date.",
                    ),
                ),
                (
                    "changed_in",
                    models.BigIntegerField(
                        db_default=models.Func(function="change_number"),
                        editable=False,
                        help_text="The number of the last change of this row.",
                    ),
                ),
                (
                    "variant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="expected_stock",
                        to="catalog.variant",
                    ),
                ),
                (
                    "warehouse",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="inventory.warehouse",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        models.F("id"), condition=models.Q(("is_announced", False)), name="expected_stock_new"
                    ),
                    models.Index(models.F("changed_in"), name="expected_stock_changed_in"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("variant"), models.F("warehouse"), name="expected_stock_once"
                    )
                ],
            },
        ),
        migrations.RunSQL(PARTITIONS, DROP_PARTITIONS),
        migrations.RunSQL(STOCK_TRIGGERS, DROP_STOCK_TRIGGERS),
    ]
