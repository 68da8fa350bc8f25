import datetime

import django.db.models.functions.comparison
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Built while others write: the table has millions of rows.
    atomic = False

    dependencies = [
        ('orders', '0011_erased_orders'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='order',
            index=models.Index(django.db.models.functions.comparison.Coalesce('ship_until', models.Value(datetime.date(9999, 12, 31))), models.F('id'), condition=models.Q(('processing_state__in', ['completed', 'canceled']), _negated=True), name='order_open_due'),
        ),
    ]
