"""The ledger of stock, a partition for each month, and an opening movement for each level that is there."""

from django.db import migrations, models

TABLE = """
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

DROP_TABLE = "DROP TABLE inventory_stockmovement"

# What came into the default partition meanwhile moves, so that a month can be given its own at any time.
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

OPENING = """
INSERT INTO inventory_stockmovement
    (variant_id, warehouse_id, kind, on_hand_change, reserved_change, on_hand, reserved, actor)
SELECT variant_id, warehouse_id, 'opening', on_hand, reserved, on_hand, reserved, 'system:opening'
FROM inventory_stocklevel ORDER BY variant_id, warehouse_id
"""

KINDS = [
    ("opening", "Opening"),
    ("count", "Count"),
    ("reserve", "Reserve"),
    ("release", "Release"),
    ("ship", "Ship"),
    ("refuse", "Refuse"),
    ("return", "Return"),
    ("adjust", "Adjust"),
]


class Migration(migrations.Migration):
    dependencies = [("inventory", "0006_help_texts")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(TABLE, DROP_TABLE)],
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
                        ("kind", models.CharField(choices=KINDS, max_length=10)),
                        ("on_hand_change", models.IntegerField()),
                        ("reserved_change", models.IntegerField()),
                        ("on_hand", models.IntegerField(help_text="After it.")),
                        ("reserved", models.IntegerField(help_text="After it.")),
                        (
                            "moved",
                            models.IntegerField(
                                db_default=0,
                                help_text="Pieces that came back, or, below 0, left:"
                                " also those that no count knew of.",
                            ),
                        ),
                        ("actor", models.CharField(db_default="", max_length=200)),
                        ("request_id", models.CharField(db_default="", max_length=100)),
                        ("order_id", models.BigIntegerField(null=True)),
                        ("fulfillment_id", models.BigIntegerField(null=True)),
                        ("import_id", models.BigIntegerField(null=True)),
                        ("line", models.IntegerField(help_text="Of the import's file.", null=True)),
                        ("reason", models.CharField(db_default="", max_length=500)),
                    ],
                    options={
                        "ordering": ["-id"],
                        "indexes": [
                            models.Index("variant_id", "warehouse_id", "id", name="movement_of_stock"),
                            models.Index("warehouse_id", "kind", "id", name="movement_of_warehouse"),
                            models.Index(
                                "order_id",
                                "id",
                                condition=models.Q(("order_id__isnull", False)),
                                name="movement_of_order",
                            ),
                            models.Index(
                                fields=["warehouse_id", "occurred_at"],
                                include=["variant_id", "moved"],
                                condition=models.Q(("moved", 0), _negated=True),
                                name="movement_of_pieces",
                            ),
                        ],
                    },
                )
            ],
        ),
        migrations.RunSQL(PARTITIONS, DROP_PARTITIONS),
        migrations.RunSQL(OPENING, migrations.RunSQL.noop),
    ]
