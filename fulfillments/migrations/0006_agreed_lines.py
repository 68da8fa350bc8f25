"""Lines keep what was agreed. Those that are there are given what their variants say now: nothing older is
known of them. What events say of pieces names the orders' lines, too, for retailers to read.
"""

from django.db import migrations, models

FILL = """
    UPDATE fulfillments_fulfillmentline l
    SET sku = v.sku, upc = v.upc, title = v.title, wholesale_price = v.wholesale_price
    FROM catalog_variant v WHERE v.id = l.variant_id
"""
NAME_ORDER_LINES = """
    UPDATE events_event e SET data = jsonb_set(e.data, '{items}', n.items)
    FROM (
        SELECT e.id, jsonb_agg(item || jsonb_strip_nulls(
            jsonb_build_object('order_line_id', l.order_line_id)) ORDER BY position) AS items
        FROM events_event e, jsonb_array_elements(e.data->'items') WITH ORDINALITY AS i (item, position)
        LEFT JOIN fulfillments_fulfillmentline l ON l.id = (item->>'line')::bigint
        WHERE e.fulfillment_id IS NOT NULL GROUP BY e.id
    ) n
    WHERE n.id = e.id
"""


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0001_initial"),
        ("events", "0001_initial"),
        ("fulfillments", "0005_name_lines_of_order_line"),
    ]

    operations = [
        migrations.AddField(
            model_name="fulfillmentline",
            name="sku",
            field=models.CharField(default="", max_length=100),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="fulfillmentline",
            name="upc",
            field=models.CharField(blank=True, default="", max_length=14),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="fulfillmentline",
            name="title",
            field=models.CharField(default="", max_length=500),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="fulfillmentline",
            name="wholesale_price",
            field=models.DecimalField(decimal_places=4, max_digits=14, null=True),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.RunSQL(NAME_ORDER_LINES, migrations.RunSQL.noop),
    ]
