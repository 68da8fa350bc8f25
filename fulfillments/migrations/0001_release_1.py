import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.db import migrations, models

import accounts.models.party


class Migration(migrations.Migration):
    replaces = [
        ("fulfillments", "0001_squashed_0013_leased_work"),
        ("fulfillments", "0014_rejection_ended_at"),
        ("fulfillments", "0015_carried_out_rows"),
        ("fulfillments", "0016_capture_again"),
        ("fulfillments", "0017_changes_read"),
        ("fulfillments", "0018_kept_parcels"),
        ("fulfillments", "0019_performance_targets"),
        ("fulfillments", "0020_fulfillment_currency"),
        ("fulfillments", "0021_slip_templates"),
        ("fulfillments", "0022_search_inside_texts"),
        ("fulfillments", "0023_corrected_parcels"),
        ("fulfillments", "0024_cartons"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_release_1"),
        ("catalog", "0001_release_1"),
        ("imports", "0001_release_1"),
        ("inventory", "0001_release_1"),
        ("orders", "0001_release_1"),
    ]

    operations = [
        migrations.CreateModel(
            name="Fulfillment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("new", "New"),
                            ("accepted", "Accepted"),
                            ("shipped", "Shipped"),
                            ("out_of_stock", "Out Of Stock"),
                            ("missing_sku", "Missing Sku"),
                            ("wrong_address", "Wrong Address"),
                            ("canceling", "Canceling"),
                            ("canceled", "Canceled"),
                            ("cancelation not allowed", "Cancelation Not Allowed"),
                        ],
                        default="new",
                        editable=False,
                        max_length=30,
                    ),
                ),
                ("state_before_cancel", models.CharField(blank=True, editable=False, max_length=30)),
                (
                    "tracking_number",
                    models.CharField(blank=True, help_text="As given on accept.", max_length=100),
                ),
                ("invoice_id", models.CharField(blank=True, max_length=100)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "order",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="fulfillments",
                        to="orders.order",
                    ),
                ),
                (
                    "partnership",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.partnership",
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="fulfillments",
                        to="accounts.supplier",
                    ),
                ),
                (
                    "warehouse",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="inventory.warehouse",
                    ),
                ),
                ("capture_due_at", models.DateTimeField(editable=False, null=True)),
                (
                    "due_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="The time limit of the present state, from the partnership.",
                        null=True,
                    ),
                ),
                (
                    "currency",
                    models.CharField(
                        db_default="USD",
                        default=accounts.models.party.default_currency,
                        editable=False,
                        help_text="The currency of the agreed prices: the supplier's at placement.",
                        max_length=3,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(models.F("supplier"), models.F("id"), name="fulfillment_of_supplier"),
                    models.Index(
                        models.F("supplier"),
                        models.F("id"),
                        condition=models.Q(("state__in", ["new", "cancelation not allowed"])),
                        name="fulfillment_capturable",
                    ),
                    models.Index(
                        models.F("due_at"),
                        condition=models.Q(("due_at__isnull", False)),
                        name="fulfillment_due",
                    ),
                    models.Index(
                        models.F("capture_due_at"),
                        condition=models.Q(("capture_due_at__isnull", False), ("state", "new")),
                        name="fulfillment_capture_due",
                    ),
                    models.Index(
                        models.F("supplier"), models.F("state"), models.F("id"), name="fulfillment_by_state"
                    ),
                    models.Index(
                        models.F("state"),
                        models.F("id"),
                        condition=models.Q(("state", "shipped"), _negated=True),
                        name="fulfillment_not_shipped",
                    ),
                    models.Index(
                        django.db.models.functions.comparison.Collate(
                            django.db.models.functions.text.Lower("tracking_number"), "C"
                        ),
                        condition=models.Q(("tracking_number", ""), _negated=True),
                        name="tracking_folded",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "new",
                                    "accepted",
                                    "shipped",
                                    "out_of_stock",
                                    "missing_sku",
                                    "wrong_address",
                                    "canceling",
                                    "canceled",
                                    "cancelation not allowed",
                                ],
                            )
                        ),
                        name="fulfillment_state",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DailySum",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("supplier_id", models.BigIntegerField()),
                ("retailer_id", models.BigIntegerField()),
                ("day", models.DateField()),
                ("measure", models.CharField(max_length=30)),
                ("bucket", models.SmallIntegerField(default=0)),
                ("count", models.BigIntegerField()),
                ("seconds", models.BigIntegerField(default=0)),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("supplier_id", "retailer_id", "day", "measure", "bucket"),
                        name="daily_sum_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RoutingDecision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("decided_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "cause",
                    models.CharField(
                        help_text="The push, rejection or arrival that caused the routing.", max_length=200
                    ),
                ),
                ("lines", models.JSONField(default=list)),
                (
                    "order",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="routing_decisions",
                        to="orders.order",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="RoutingSimulation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("priority", models.SmallIntegerField(blank=True, help_text="Empty: unchanged.", null=True)),
                (
                    "safety_stock",
                    models.PositiveIntegerField(
                        blank=True, help_text="Units per variant and warehouse. Empty: unchanged.", null=True
                    ),
                ),
                (
                    "left_out",
                    models.BooleanField(default=False, help_text="Simulate that the supplier is suspended."),
                ),
                ("first_day", models.DateField(help_text="Orders from this day on (UTC).")),
                ("last_day", models.DateField(help_text="Orders up to the end of this day (UTC).")),
                (
                    "most",
                    models.PositiveIntegerField(
                        help_text="The largest number of orders; the newest of these days are used."
                    ),
                ),
                ("actor", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("first_number", models.BigIntegerField(null=True)),
                ("begin_at", models.BigIntegerField(null=True)),
                ("position", models.BigIntegerField(null=True)),
                ("result", models.JSONField(default=dict)),
                ("stopped_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("lease_until", models.DateTimeField(db_column="leased_until", editable=False, null=True)),
                (
                    "retailer",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: all retailers.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.retailer",
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.supplier"
                    ),
                ),
                ("owner", models.CharField(blank=True, db_default="", editable=False, max_length=100)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        models.F("id"),
                        condition=models.Q(("finished_at", None)),
                        name="routing_simulation_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SummedEvents",
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
            name="FulfillmentLine",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("quantity", models.PositiveIntegerField()),
                (
                    "reserved",
                    models.PositiveIntegerField(default=0, help_text="Open units that have stock reserved."),
                ),
                ("shipped", models.PositiveIntegerField(default=0)),
                ("rejected", models.PositiveIntegerField(default=0)),
                ("canceled", models.PositiveIntegerField(default=0)),
                ("returned", models.PositiveIntegerField(default=0)),
                ("cancel_requested", models.PositiveIntegerField(default=0)),
                (
                    "fulfillment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="lines",
                        to="fulfillments.fulfillment",
                    ),
                ),
                (
                    "order_line",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="fulfillment_lines",
                        to="orders.orderline",
                    ),
                ),
                (
                    "variant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="catalog.variant"
                    ),
                ),
                ("sku", models.CharField(max_length=100)),
                ("upc", models.CharField(blank=True, max_length=14)),
                ("title", models.CharField(max_length=500)),
                ("wholesale_price", models.DecimalField(decimal_places=4, max_digits=14, null=True)),
                (
                    "behind",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Whether unrouted lines of older orders get arriving stock before this line.",
                    ),
                ),
                (
                    "is_short",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Q(
                            (
                                "cancel_requested__lt",
                                django.db.models.expressions.CombinedExpression(
                                    django.db.models.expressions.CombinedExpression(
                                        django.db.models.expressions.CombinedExpression(
                                            django.db.models.expressions.CombinedExpression(
                                                models.F("quantity"), "-", models.F("shipped")
                                            ),
                                            "-",
                                            models.F("rejected"),
                                        ),
                                        "-",
                                        models.F("canceled"),
                                    ),
                                    "-",
                                    models.F("reserved"),
                                ),
                            )
                        ),
                        help_text="Whether some open units have no stock reserved and no cancellation requested.",
                        output_field=models.BooleanField(),
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        models.F("variant"),
                        condition=models.Q(("is_short", True)),
                        name="fulfillment_line_short",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("quantity__gt", 0),
                            (
                                "quantity__gte",
                                django.db.models.expressions.CombinedExpression(
                                    django.db.models.expressions.CombinedExpression(
                                        django.db.models.expressions.CombinedExpression(
                                            models.F("shipped"), "+", models.F("rejected")
                                        ),
                                        "+",
                                        models.F("canceled"),
                                    ),
                                    "+",
                                    models.F("reserved"),
                                ),
                            ),
                        ),
                        name="fulfillment_line_adds_up",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "quantity__gte",
                                django.db.models.expressions.CombinedExpression(
                                    django.db.models.expressions.CombinedExpression(
                                        django.db.models.expressions.CombinedExpression(
                                            models.F("shipped"), "+", models.F("rejected")
                                        ),
                                        "+",
                                        models.F("canceled"),
                                    ),
                                    "+",
                                    models.F("cancel_requested"),
                                ),
                            )
                        ),
                        name="fulfillment_line_cancelable",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("shipped__gte", models.F("returned"))),
                        name="fulfillment_line_returned_of_shipped",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Return",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "return_id",
                    models.CharField(
                        help_text="The supplier's own id; a repeated id is ignored.",
                        max_length=100,
                        null=True,
                    ),
                ),
                ("reason", models.CharField(max_length=500)),
                (
                    "items",
                    models.JSONField(
                        default=list, help_text='The returned units: [{"line": id, "quantity": n}]'
                    ),
                ),
                ("returned_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "fulfillment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="returns",
                        to="fulfillments.fulfillment",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("fulfillment"), models.F("return_id"), name="return_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Rejection",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "reject_id",
                    models.CharField(
                        help_text="The supplier's own id; a repeated id is ignored.",
                        max_length=100,
                        null=True,
                    ),
                ),
                ("reason", models.CharField(max_length=30)),
                (
                    "items",
                    models.JSONField(
                        default=list, help_text='The rejected units: [{"line": id, "quantity": n}]'
                    ),
                ),
                ("rejected_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "fulfillment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rejections",
                        to="fulfillments.fulfillment",
                    ),
                ),
                (
                    "ended_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="When an operator asked the supplier again, or the address was corrected or confirmed.",
                        null=True,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("fulfillment"), models.F("reject_id"), name="rejection_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CarriedOutRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "digest",
                    models.BinaryField(
                        help_text="The beginning of the SHA-256 of the action and all other cells.",
                        max_length=16,
                    ),
                ),
                (
                    "carried_out_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "fulfillment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="carried_out_rows",
                        to="fulfillments.fulfillment",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        models.F("fulfillment"), models.F("digest"), name="carried_out_row_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Capture",
            fields=[
                (
                    "fulfillment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="capture",
                        serialize=False,
                        to="fulfillments.fulfillment",
                    ),
                ),
                (
                    "captured_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), help_text="The first capture."
                    ),
                ),
                (
                    "captured_again_at",
                    models.DateTimeField(
                        help_text="The first capture after the last correction of the address.", null=True
                    ),
                ),
                (
                    "outdated",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="The address was corrected since: the supplier captures the fulfillment again.",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ChangesRead",
            fields=[
                (
                    "supplier",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="changes_read",
                        serialize=False,
                        to="accounts.supplier",
                    ),
                ),
                ("number", models.BigIntegerField(help_text="The event's number in the feed.")),
                ("read_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="KeptParcel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("tracking_number", models.CharField(max_length=100)),
                ("carrier", models.CharField(blank=True, max_length=100)),
                (
                    "items",
                    models.JSONField(
                        default=list, help_text='The units in the parcel: [{"line": id, "quantity": n}]'
                    ),
                ),
                ("shipped_at", models.DateTimeField(help_text="When the parcel left, before the hold.")),
                ("reported_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "fulfillment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="kept_parcels",
                        to="fulfillments.fulfillment",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("fulfillment"), models.F("tracking_number"), name="kept_parcel_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("tracking_number", ""), _negated=True),
                        name="kept_parcel_has_tracking",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PerformanceTarget",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "ship_within_hours",
                    models.PositiveSmallIntegerField(
                        choices=[
                            (24, "1 day"),
                            (48, "2 days"),
                            (72, "3 days"),
                            (168, "7 days"),
                            (336, "14 days"),
                        ],
                        db_default=72,
                        default=72,
                        help_text="A fulfillment shipped within this time of its arrival is on time.",
                        verbose_name="ship within",
                    ),
                ),
                (
                    "on_time_percent",
                    models.PositiveSmallIntegerField(
                        db_default=95,
                        default=95,
                        validators=[django.core.validators.MaxValueValidator(100)],
                        verbose_name="on time, at least (%)",
                    ),
                ),
                (
                    "most_refused_percent",
                    models.PositiveSmallIntegerField(
                        db_default=5,
                        default=5,
                        validators=[django.core.validators.MaxValueValidator(100)],
                        verbose_name="refused, at most (%)",
                    ),
                ),
                (
                    "partnership",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: all partnerships without targets of their own.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="targets",
                        to="accounts.partnership",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("partnership",),
                        name="performance_target_once",
                        nulls_distinct=False,
                        violation_error_message="These targets exist already. Change them instead.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SlipTemplate",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "wanted",
                    models.BooleanField(
                        default=True,
                        help_text="If off, suppliers get no slips: 403.",
                        verbose_name="Slips wanted",
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        choices=[
                            ("en", "English"),
                            ("de", "German"),
                            ("fr", "French"),
                            ("es", "Spanish"),
                            ("it", "Italian"),
                            ("nl", "Dutch"),
                            ("pl", "Polish"),
                        ],
                        default="en",
                        max_length=2,
                    ),
                ),
                (
                    "paper",
                    models.CharField(
                        choices=[("a4", "A4"), ("letter", "Letter")], default="a4", max_length=6
                    ),
                ),
                (
                    "header",
                    models.TextField(
                        blank=True,
                        help_text="The first line is large. Empty: the retailer's name.",
                        max_length=600,
                    ),
                ),
                (
                    "footer",
                    models.TextField(
                        blank=True, help_text="Small text at the end of each page.", max_length=600
                    ),
                ),
                ("return_address", models.TextField(blank=True, max_length=600)),
                (
                    "show_prices",
                    models.BooleanField(
                        default=False,
                        help_text="Show the amounts that the customer paid. Gifts never show them.",
                    ),
                ),
                (
                    "show_supplier",
                    models.BooleanField(default=False, help_text="Show the name of the supplier."),
                ),
                ("logo", models.BinaryField(blank=True, default=bytes)),
                (
                    "partnership",
                    models.OneToOneField(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="slip_template",
                        to="accounts.partnership",
                    ),
                ),
                (
                    "retailer",
                    models.ForeignKey(
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="slip_templates",
                        to="accounts.retailer",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        models.F("retailer"),
                        condition=models.Q(("partnership", None)),
                        name="slip_template_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("language__in", ["en", "de", "fr", "es", "it", "nl", "pl"])),
                        name="slip_template_language",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("paper__in", ["a4", "letter"])), name="slip_template_paper"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Shipment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("tracking_number", models.CharField(max_length=100)),
                ("carrier", models.CharField(blank=True, max_length=100)),
                ("shipped_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "items",
                    models.JSONField(
                        default=list, help_text='The units in the parcel: [{"line": id, "quantity": n}]'
                    ),
                ),
                (
                    "fulfillment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shipments",
                        to="fulfillments.fulfillment",
                    ),
                ),
                (
                    "is_carrier_named",
                    models.BooleanField(
                        db_default=True,
                        default=True,
                        help_text="The supplier named the carrier; otherwise it is derived.",
                    ),
                ),
                (
                    "is_doubtful",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="The check digit of the tracking number is wrong.",
                    ),
                ),
                (
                    "reported_numbers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=100),
                        db_default=[],
                        default=list,
                        help_text="The tracking numbers before each correction, oldest first.",
                        size=None,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        django.db.models.functions.comparison.Collate(
                            django.db.models.functions.text.Lower("tracking_number"), "C"
                        ),
                        name="shipment_tracking_folded",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.comparison.Collate(
                                django.db.models.functions.text.Lower("tracking_number"), "C"
                            ),
                            name="gin_trgm_ops",
                        ),
                        name="shipment_tracking_trigrams",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("fulfillment"), models.F("tracking_number"), name="shipment_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("tracking_number", ""), _negated=True),
                        name="shipment_has_tracking",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SsccCounter",
            fields=[
                ("gs1_prefix", models.CharField(max_length=12, primary_key=True, serialize=False)),
                ("last", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Carton",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("sscc", models.CharField(max_length=18, unique=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "fulfillment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="cartons",
                        to="fulfillments.fulfillment",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(models.F("fulfillment"), models.F("number"), name="carton_once")
                ],
            },
        ),
    ]
