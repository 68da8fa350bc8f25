import datetime

import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.db import migrations, models

import accounts.models.party

SEARCH_ENTRIES = """
CREATE FUNCTION search_entries_of(o orders_order) RETURNS TABLE (text varchar, order_id bigint, kind varchar)
LANGUAGE sql STABLE AS $$
    SELECT DISTINCT ON (1) left(lower(trim(t.text)), 100), o.id, t.kind FROM (
        VALUES (1, 'number', o.retailer_order_id), (2, 'sales order', o.sales_order_number),
            (3, 'number in source', o.id_in_source)
        UNION ALL
        SELECT 4, p.kind, p.text FROM (VALUES (o.shipping_address), (o.billing_address)) a (address),
            LATERAL (VALUES
                ('customer', concat_ws(' ', a.address->>'first_name', a.address->>'last_name')),
                ('customer', a.address->>'last_name'), ('company', a.address->>'company_name'),
                ('e-mail', a.address->>'email')) p (kind, text)
    ) t (place, kind, text)
    WHERE trim(t.text) <> '' ORDER BY 1, t.place
$$;

CREATE FUNCTION keep_search_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO orders_searchentry (text, order_id, kind)
    SELECT e.text, e.order_id, e.kind FROM search_entries_of(NEW) e ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER order_found AFTER INSERT OR UPDATE OF
    retailer_order_id, sales_order_number, id_in_source, shipping_address, billing_address
    ON orders_order FOR EACH ROW EXECUTE FUNCTION keep_search_entries();
"""

DROP_SEARCH_ENTRIES = """
DROP TRIGGER order_found ON orders_order;
DROP FUNCTION keep_search_entries();
DROP FUNCTION search_entries_of(orders_order);
"""


class Migration(migrations.Migration):
    replaces = [
        ("orders", "0001_squashed_0014_plain_help_texts"),
        ("orders", "0015_pending_erasures"),
        ("orders", "0016_reopened_numbers"),
        ("orders", "0017_reconciliation"),
        ("orders", "0018_order_currency"),
        ("orders", "0019_search_inside_texts"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_release_1"),
        ("imports", "0001_release_1"),
    ]

    operations = [
        migrations.CreateModel(
            name="Order",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("retailer_order_id", models.CharField(max_length=100)),
                (
                    "type",
                    models.CharField(
                        choices=[("dropship", "Dropship"), ("replenish", "Replenish")],
                        default="dropship",
                        max_length=20,
                    ),
                ),
                ("id_in_source", models.CharField(blank=True, max_length=100)),
                ("billing_address", models.JSONField(default=dict)),
                ("shipping_address", models.JSONField(default=dict)),
                ("shipping_method_code", models.CharField(blank=True, max_length=100)),
                ("shipping_paid", models.DecimalField(decimal_places=4, max_digits=14, null=True)),
                ("shipping_tax", models.DecimalField(decimal_places=4, max_digits=14, null=True)),
                ("sales_division_code", models.CharField(blank=True, max_length=100)),
                ("sales_order_number", models.CharField(blank=True, max_length=100)),
                ("gift_message", models.TextField(blank=True)),
                ("is_gift", models.BooleanField(default=False)),
                ("ship_until", models.DateField(null=True)),
                ("original_created_at", models.DateField(null=True)),
                ("notes", models.JSONField(default=list)),
                ("content_digest", models.CharField(editable=False, max_length=64)),
                (
                    "held",
                    models.BooleanField(
                        default=False, help_text="Suppliers cannot work on the order until it is released."
                    ),
                ),
                (
                    "processing_state",
                    models.CharField(
                        choices=[
                            ("received", "Received"),
                            ("processing", "Processing"),
                            ("partially_shipped", "Partially Shipped"),
                            ("exception", "Exception"),
                            ("canceling", "Canceling"),
                            ("completed", "Completed"),
                            ("canceled", "Canceled"),
                        ],
                        default="received",
                        editable=False,
                        max_length=20,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="Stamped as the last act of each change (the polling promise).",
                        null=True,
                    ),
                ),
                (
                    "retailer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="orders",
                        to="accounts.retailer",
                    ),
                ),
                (
                    "has_unknown_country",
                    models.BooleanField(
                        db_default=False, default=False, help_text="The shipping country is not recognized."
                    ),
                ),
                (
                    "when_short",
                    models.CharField(
                        choices=[
                            ("ship_partial", "pass them on short"),
                            ("wait", "wait for stock"),
                            ("refuse", "refuse the order"),
                        ],
                        help_text="What happens to units that are not in stock. If empty, the partnership's setting applies.",
                        max_length=12,
                        null=True,
                    ),
                ),
                (
                    "erased_at",
                    models.DateTimeField(
                        editable=False, help_text="When the consumer's personal data was erased.", null=True
                    ),
                ),
                (
                    "generation",
                    models.PositiveSmallIntegerField(
                        db_default=0,
                        default=0,
                        editable=False,
                        help_text="Counts the orders of one number: a canceled order's number can be used again.",
                    ),
                ),
                (
                    "currency",
                    models.CharField(
                        db_default="USD",
                        default=accounts.models.party.default_currency,
                        help_text="The currency of billed amounts, shipping and taxes.",
                        max_length=3,
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        models.F("retailer"),
                        models.F("processing_state"),
                        models.F("updated_at"),
                        name="order_by_state",
                    ),
                    models.Index(
                        models.F("processing_state"),
                        models.F("id"),
                        condition=models.Q(
                            ("processing_state__in", ["completed", "canceled"]), _negated=True
                        ),
                        name="order_open",
                    ),
                    models.Index(models.F("retailer"), models.F("created_at"), name="order_by_creation"),
                    models.Index(
                        models.F("retailer"),
                        models.F("sales_order_number"),
                        condition=models.Q(("sales_order_number", ""), _negated=True),
                        name="order_by_sales_number",
                    ),
                    models.Index(
                        models.F("type"), models.F("retailer"), models.F("updated_at"), name="order_by_type"
                    ),
                    models.Index(
                        models.F("id"),
                        condition=models.Q(("has_unknown_country", True)),
                        name="order_unknown_country",
                    ),
                    models.Index(models.F("id"), condition=models.Q(("held", True)), name="order_held"),
                    models.Index(
                        models.F("updated_at"),
                        condition=models.Q(
                            ("erased_at", None), ("processing_state__in", ["completed", "canceled"])
                        ),
                        name="order_to_erase",
                    ),
                    models.Index(
                        django.db.models.functions.comparison.Coalesce(
                            "ship_until", models.Value(datetime.date(9999, 12, 31))
                        ),
                        models.F("id"),
                        condition=models.Q(
                            ("processing_state__in", ["completed", "canceled"]), _negated=True
                        ),
                        name="order_open_due",
                    ),
                    models.Index(
                        django.db.models.functions.comparison.Coalesce(
                            "ship_until", models.Value(datetime.date(9999, 12, 31))
                        ),
                        models.F("id"),
                        condition=models.Q(
                            ("held", True),
                            models.Q(("processing_state__in", ["completed", "canceled"]), _negated=True),
                        ),
                        name="order_held_due",
                    ),
                    models.Index(
                        django.db.models.functions.comparison.Coalesce(
                            "ship_until", models.Value(datetime.date(9999, 12, 31))
                        ),
                        models.F("id"),
                        condition=models.Q(
                            ("has_unknown_country", True),
                            models.Q(("processing_state__in", ["completed", "canceled"]), _negated=True),
                        ),
                        name="order_no_country_due",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("retailer"), models.F("updated_at"), name="order_stamp_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "processing_state__in",
                                [
                                    "received",
                                    "processing",
                                    "partially_shipped",
                                    "exception",
                                    "canceling",
                                    "completed",
                                    "canceled",
                                ],
                            )
                        ),
                        name="order_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("type__in", ["dropship", "replenish"])), name="order_type"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("when_short__in", ["ship_partial", "wait", "refuse"])),
                        name="order_when_short",
                    ),
                    models.UniqueConstraint(
                        models.F("retailer"),
                        models.F("retailer_order_id"),
                        models.F("generation"),
                        name="order_generation_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RetailerClock",
            fields=[
                (
                    "retailer",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="clock",
                        serialize=False,
                        to="accounts.retailer",
                    ),
                ),
                ("last", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("completed", models.BigIntegerField(default=0)),
                ("canceled", models.BigIntegerField(default=0)),
                ("pending", models.BigIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("canceled__gte", 0), ("completed__gte", 0), ("pending__gte", 0)),
                        name="clock_counts",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SearchEntry",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "text", "order_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("text", models.CharField(db_collation="C", max_length=100)),
                ("order_id", models.BigIntegerField()),
                ("kind", models.CharField(help_text="The kind of text, such as `customer`.", max_length=20)),
            ],
            options={
                "ordering": ["text", "order_id"],
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.comparison.Collate(
                                django.db.models.functions.text.Lower("text"), "C"
                            ),
                            name="gin_trgm_ops",
                        ),
                        name="search_entry_trigrams",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CancelRequest",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "cancel_id",
                    models.CharField(
                        help_text="The retailer's own name for the request, used once.", max_length=100
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=500)),
                (
                    "lines",
                    models.JSONField(
                        default=list,
                        help_text="The lines as the request named them; empty for the whole order.",
                    ),
                ),
                ("canceled", models.PositiveIntegerField(help_text="Units that were canceled at once.")),
                (
                    "requested",
                    models.PositiveIntegerField(help_text="Units that suppliers were asked to release."),
                ),
                ("shipped", models.PositiveIntegerField(help_text="Units that were already shipped.")),
                ("requested_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "order",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="cancel_requests",
                        to="orders.order",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("order"), models.F("cancel_id"), name="cancel_request_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="OrderLine",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                ("sku", models.CharField(blank=True, max_length=100)),
                ("upc", models.CharField(blank=True, max_length=14)),
                (
                    "asked_supplier_id",
                    models.BigIntegerField(help_text="The supplier_id that was pushed.", null=True),
                ),
                (
                    "asked_variant_id",
                    models.BigIntegerField(help_text="The variant_id that was pushed.", null=True),
                ),
                ("quantity", models.PositiveIntegerField()),
                ("billed_amount", models.DecimalField(decimal_places=4, max_digits=14, null=True)),
                ("tax_billed_amount", models.DecimalField(decimal_places=4, max_digits=14, null=True)),
                ("notes", models.JSONField(default=list)),
                ("open", models.PositiveIntegerField(default=0)),
                ("reserved", models.PositiveIntegerField(default=0)),
                ("shipped", models.PositiveIntegerField(default=0)),
                ("rejected", models.PositiveIntegerField(default=0)),
                ("canceled", models.PositiveIntegerField(default=0)),
                (
                    "dropped",
                    models.PositiveIntegerField(default=0, help_text="Canceled units that no supplier had."),
                ),
                (
                    "order",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="lines", to="orders.order"
                    ),
                ),
                (
                    "title",
                    models.CharField(
                        blank=True,
                        help_text="The title of the first variant that filled the line, at the time of the push.",
                        max_length=500,
                    ),
                ),
                (
                    "returned",
                    models.PositiveIntegerField(default=0, help_text="Shipped units that came back."),
                ),
                ("waiting", models.PositiveIntegerField(db_default=0, default=0)),
                (
                    "waiting_since",
                    models.DateTimeField(
                        editable=False,
                        help_text="Since when some units have no stock reserved; empty if all have.",
                        null=True,
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
                "indexes": [
                    models.Index(
                        models.F("id"),
                        condition=models.Q(("waiting_since__isnull", False)),
                        name="order_line_waiting",
                    ),
                    models.Index(
                        models.F("sku"),
                        condition=models.Q(("waiting_since__isnull", False)),
                        name="order_line_waiting_sku",
                    ),
                    models.Index(
                        models.F("upc"),
                        condition=models.Q(("waiting_since__isnull", False)),
                        name="order_line_waiting_upc",
                    ),
                    models.Index(
                        models.F("asked_variant_id"),
                        condition=models.Q(("waiting_since__isnull", False)),
                        name="order_line_waiting_variant",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(models.F("order"), models.F("position"), name="order_line_once"),
                    models.CheckConstraint(
                        condition=models.Q(("canceled__gte", models.F("dropped"))), name="order_line_dropped"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("shipped__gte", models.F("returned"))),
                        name="order_line_returned_of_shipped",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("quantity__gt", 0),
                            (
                                "quantity",
                                django.db.models.expressions.CombinedExpression(
                                    django.db.models.expressions.CombinedExpression(
                                        django.db.models.expressions.CombinedExpression(
                                            django.db.models.expressions.CombinedExpression(
                                                models.F("open"), "+", models.F("waiting")
                                            ),
                                            "+",
                                            models.F("shipped"),
                                        ),
                                        "+",
                                        models.F("rejected"),
                                    ),
                                    "+",
                                    models.F("canceled"),
                                ),
                            ),
                            ("open__gte", models.F("reserved")),
                        ),
                        name="order_line_adds_up",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PendingErasure",
            fields=[
                (
                    "order",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="pending_erasure",
                        serialize=False,
                        to="orders.order",
                    ),
                ),
                ("texts", models.TextField(help_text="The former personal texts, encrypted.")),
                (
                    "step",
                    models.CharField(
                        blank=True, help_text="The kind of copies that is searched.", max_length=50
                    ),
                ),
                ("position", models.BigIntegerField(default=0, help_text="Where the search continues.")),
            ],
        ),
        migrations.CreateModel(
            name="Reconciliation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("differences", models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.RunSQL(SEARCH_ENTRIES, DROP_SEARCH_ENTRIES),
    ]
