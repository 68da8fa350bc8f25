"""Lines keep their title and say what came back. Those that are there take the title of what filled them
first, else of the variant that they asked for.
"""

from django.db import migrations, models
from django.db.models import F, Q

FILL = """
    UPDATE orders_orderline l SET title = coalesce(p.title, v.title, ''), returned = coalesce(p.returned, 0)
    FROM orders_orderline o
    LEFT JOIN (
        SELECT order_line_id, (array_agg(title ORDER BY id))[1] AS title, sum(returned) AS returned
        FROM fulfillments_fulfillmentline GROUP BY order_line_id
    ) p ON p.order_line_id = o.id
    LEFT JOIN catalog_variant v ON v.id = o.asked_variant_id
    WHERE o.id = l.id
"""


class Migration(migrations.Migration):
    dependencies = [
        ("fulfillments", "0006_agreed_lines"),
        ("orders", "0005_cancel_requests"),
    ]

    operations = [
        migrations.AddField(
            model_name="orderline",
            name="title",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Of the variant that filled it first, as it was when pushed.",
                max_length=500,
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="orderline",
            name="returned",
            field=models.PositiveIntegerField(default=0, help_text="Of what is shipped, what came back."),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="orderline",
            constraint=models.CheckConstraint(
                condition=Q(shipped__gte=F("returned")), name="order_line_returned_of_shipped"
            ),
        ),
    ]
