"""Only a name in Python: the database does not know it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fulfillments", "0004_found_by_state"),
        ("orders", "0003_filtered_lists"),
    ]

    operations = [
        migrations.AlterField(
            model_name="fulfillmentline",
            name="order_line",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="fulfillment_lines",
                to="orders.orderline",
            ),
        ),
    ]
