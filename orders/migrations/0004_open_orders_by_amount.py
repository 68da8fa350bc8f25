from decimal import Decimal

import django.db.models.functions.comparison
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # an index is built beside writers only outside a transaction

    dependencies = [
        ('orders', '0003_billed_total'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='order',
            index=models.Index(
                django.db.models.functions.comparison.Coalesce('billed_total', models.Value(Decimal('-1'))),
                models.F('id'),
                condition=models.Q(('processing_state__in', ['completed', 'canceled']), _negated=True),
                name='order_open_amount',
            ),
        ),
    ]
