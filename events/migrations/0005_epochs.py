"""Epochs; and the functions that number changes, which catalogue, stock and terms are stamped by."""

import django.db.models.functions.datetime
from django.db import migrations, models

# The offset is a constant in a function's body: PostgreSQL puts it into each statement's plan, where to look
# it up in a table would cost every row of an import. A new epoch replaces it (events.epochs).
FORWARD = """
CREATE FUNCTION change_offset() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT 0::bigint';

CREATE FUNCTION change_number() RETURNS bigint LANGUAGE sql STABLE
AS 'SELECT pg_current_xact_id()::text::bigint + change_offset()';

CREATE FUNCTION change_snapshot() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT concat(
        pg_snapshot_xmin(now.seen)::text::bigint + now.ahead, ':',
        pg_snapshot_xmax(now.seen)::text::bigint + now.ahead, ':',
        (SELECT string_agg((one::text::bigint + now.ahead)::text, ',') FROM pg_snapshot_xip(now.seen) AS one))
    FROM (SELECT pg_current_snapshot() AS seen, change_offset() AS ahead) AS now
$$;

CREATE FUNCTION incarnation() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN NOT pg_is_in_recovery() THEN concat_ws('/',
        (SELECT system_identifier FROM pg_control_system()),
        left(pg_walfile_name(pg_current_wal_lsn()), 8),
        (SELECT oid FROM pg_database WHERE datname = current_database())) END
$$;

INSERT INTO events_epoch (name, incarnation, events_after, reason)
SELECT left(md5(random()::text || clock_timestamp()), 12), incarnation(), 0, 'the first one';
"""

BACKWARD = """
DROP FUNCTION incarnation();
DROP FUNCTION change_snapshot();
DROP FUNCTION change_number();
DROP FUNCTION change_offset();
"""


class Migration(migrations.Migration):
    dependencies = [("events", "0004_operators_events")]

    operations = [
        migrations.CreateModel(
            name="Epoch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(help_text="What ETags call it.", max_length=32, unique=True)),
                (
                    "incarnation",
                    models.CharField(
                        help_text="PostgreSQL's system identifier, timeline and database: what it is known by.",
                        max_length=100,
                    ),
                ),
                (
                    "events_after",
                    models.BigIntegerField(help_text="Events that are numbered in it have higher numbers."),
                ),
                (
                    "began_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("reason", models.CharField(max_length=200)),
            ],
            options={"ordering": ["id"]},
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
