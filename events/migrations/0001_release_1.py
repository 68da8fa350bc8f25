import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.db import migrations, models

# The offset is a constant in a function's body, because PostgreSQL puts it into each statement's plan. A lookup
# in a table would cost time for every row of an import. A new epoch replaces the function (events.epochs).
CHANGE_NUMBERS = """
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

DROP_CHANGE_NUMBERS = """
DROP FUNCTION incarnation();
DROP FUNCTION change_snapshot();
DROP FUNCTION change_number();
DROP FUNCTION change_offset();
"""


class Migration(migrations.Migration):
    replaces = [("events", "0001_squashed_0010_plain_help_texts")]

    initial = True

    dependencies = [
        ("accounts", "0001_release_1"),
    ]

    operations = [
        migrations.CreateModel(
            name="Event",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "number",
                    models.BigIntegerField(
                        editable=False,
                        help_text="The position in the feed. It is set after the commit, so numbers appear in order.",
                        null=True,
                        unique=True,
                    ),
                ),
                (
                    "type",
                    models.CharField(
                        help_text="Dotted past tense, such as fulfillment.accepted.", max_length=50
                    ),
                ),
                (
                    "area",
                    models.CharField(
                        help_text="The area of its scope: fulfillments, orders, …", max_length=20
                    ),
                ),
                ("occurred_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("order_id", models.BigIntegerField(null=True)),
                ("fulfillment_id", models.BigIntegerField(null=True)),
                ("import_id", models.BigIntegerField(null=True)),
                ("actor", models.CharField(max_length=200)),
                ("request_id", models.CharField(blank=True, max_length=100)),
                ("from_state", models.CharField(blank=True, max_length=30)),
                ("to_state", models.CharField(blank=True, max_length=30)),
                ("data", models.JSONField(default=dict)),
                (
                    "retailer",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.retailer",
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        models.F("id"), condition=models.Q(("number", None)), name="event_unnumbered"
                    ),
                    models.Index(models.F("supplier"), models.F("number"), name="event_of_supplier"),
                    models.Index(models.F("retailer"), models.F("number"), name="event_of_retailer"),
                    models.Index(
                        models.F("order_id"),
                        models.F("id"),
                        condition=models.Q(("order_id__isnull", False)),
                        name="event_of_order",
                    ),
                    models.Index(
                        models.F("import_id"),
                        models.F("id"),
                        condition=models.Q(("import_id__isnull", False)),
                        name="event_of_import",
                    ),
                    models.Index(
                        models.F("supplier"),
                        models.F("type"),
                        models.F("number"),
                        condition=models.Q(("number__isnull", False)),
                        include=("area",),
                        name="event_type_of_supplier",
                    ),
                    models.Index(
                        models.F("retailer"),
                        models.F("type"),
                        models.F("number"),
                        condition=models.Q(("number__isnull", False)),
                        include=("area",),
                        name="event_type_of_retailer",
                    ),
                    models.Index(models.F("area"), models.F("id"), name="event_in_area"),
                    models.Index(
                        models.F("occurred_at"),
                        models.F("id"),
                        condition=models.Q(("actor__startswith", "user:")),
                        name="event_by_operators",
                    ),
                    models.Index(
                        models.F("actor"),
                        models.F("occurred_at"),
                        models.F("id"),
                        condition=models.Q(("actor__startswith", "user:")),
                        name="event_by_operator",
                    ),
                    models.Index(
                        django.db.models.functions.comparison.Collate(
                            django.db.models.functions.text.Lower("request_id"), "C"
                        ),
                        condition=models.Q(("request_id", ""), _negated=True),
                        name="event_of_request_folded",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Epoch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(help_text="The name of the epoch in ETags.", max_length=32, unique=True),
                ),
                (
                    "incarnation",
                    models.CharField(
                        help_text="The system identifier, timeline and database of PostgreSQL.",
                        max_length=100,
                    ),
                ),
                (
                    "events_after",
                    models.BigIntegerField(help_text="Events of this epoch have higher numbers."),
                ),
                ("began_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("reason", models.CharField(max_length=200)),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="RelayBookmark",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Sender",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(help_text="The host and the process id.", max_length=200)),
                ("started_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("seen_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("url", models.CharField(max_length=2000)),
                (
                    "types",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=50),
                        blank=True,
                        default=list,
                        help_text="Empty: all types of its areas.",
                        size=None,
                    ),
                ),
                (
                    "areas",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=20),
                        help_text="The areas that its creating key may see.",
                        size=None,
                    ),
                ),
                ("active", models.BooleanField(default=True)),
                ("secret", models.CharField(editable=False, help_text="Encrypted.", max_length=300)),
                ("old_secret", models.CharField(blank=True, editable=False, max_length=300)),
                ("old_secret_until", models.DateTimeField(editable=False, null=True)),
                (
                    "after",
                    models.BigIntegerField(help_text="The number of the last event before its creation."),
                ),
                (
                    "delivered_at",
                    models.DateTimeField(help_text="When its receiver last accepted a delivery.", null=True),
                ),
                ("failed_at", models.DateTimeField(null=True)),
                (
                    "failing_since",
                    models.DateTimeField(help_text="Empty: the last delivery was accepted.", null=True),
                ),
                ("last_error", models.CharField(blank=True, max_length=300)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("removed_at", models.DateTimeField(null=True)),
                (
                    "retailer",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="webhooks",
                        to="accounts.retailer",
                    ),
                ),
                (
                    "sender",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="webhooks",
                        to="events.sender",
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="webhooks",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [django.contrib.postgres.indexes.HashIndex(models.F("url"), name="webhook_url")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("retailer__isnull", True), ("supplier__isnull", False)),
                            models.Q(("retailer__isnull", False), ("supplier__isnull", True)),
                            _connector="OR",
                        ),
                        name="webhook_of_one_party",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "subject",
                    models.CharField(
                        blank=True,
                        help_text="Such as order:7. Deliveries of one subject keep their order.",
                        max_length=30,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("delivered", "Delivered"), ("dead", "Dead")],
                        default="waiting",
                        editable=False,
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                (
                    "last_status",
                    models.PositiveSmallIntegerField(help_text="The receiver's last answer.", null=True),
                ),
                ("last_error", models.CharField(blank=True, max_length=300)),
                ("attempted_at", models.DateTimeField(null=True)),
                ("next_attempt_at", models.DateTimeField(null=True)),
                ("expires_at", models.DateTimeField(help_text="When the service gives it up.")),
                (
                    "event",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="events.event",
                        to_field="number",
                    ),
                ),
                (
                    "webhook",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="events.webhook",
                    ),
                ),
                (
                    "replays",
                    models.PositiveIntegerField(
                        db_default=0,
                        default=0,
                        editable=False,
                        help_text="The number of replays. An answer to an earlier request does not end a replay.",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        models.F("webhook"),
                        models.F("next_attempt_at"),
                        condition=models.Q(("status", "waiting")),
                        name="delivery_due",
                    ),
                    models.Index(
                        models.F("webhook"),
                        models.F("subject"),
                        models.F("event"),
                        condition=models.Q(("status", "waiting"), models.Q(("subject", ""), _negated=True)),
                        name="delivery_of_subject",
                    ),
                    models.Index(
                        models.F("webhook"),
                        models.F("event"),
                        condition=models.Q(("status", "dead")),
                        name="delivery_dead",
                    ),
                    models.Index(
                        models.F("attempted_at"),
                        condition=models.Q(("status", "waiting"), _negated=True),
                        name="delivery_ended",
                    ),
                    models.Index(models.F("event"), name="delivery_of_event"),
                ],
                "constraints": [
                    models.UniqueConstraint(models.F("webhook"), models.F("event"), name="delivery_once"),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["waiting", "delivered", "dead"])),
                        name="delivery_status_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("next_attempt_at__isnull", False), ("status", "waiting")),
                            models.Q(
                                models.Q(("status", "waiting"), _negated=True), ("next_attempt_at", None)
                            ),
                            _connector="OR",
                        ),
                        name="delivery_waits_for_a_moment",
                    ),
                ],
            },
        ),
        migrations.RunSQL(CHANGE_NUMBERS, DROP_CHANGE_NUMBERS),
    ]
