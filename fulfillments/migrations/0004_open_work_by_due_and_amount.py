from decimal import Decimal

import django.db.models.functions.comparison
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

OPEN_WORK = models.Q(('state__in', ['new', 'accepted', 'cancelation not allowed', 'canceling']))


class Migration(migrations.Migration):
    atomic = False  # an index is built beside writers only outside a transaction

    dependencies = [
        ('fulfillments', '0003_agreed_total'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='fulfillment',
            index=models.Index(models.F('due_at'), models.F('id'), condition=OPEN_WORK, name='fulfillment_open_due'),
        ),
        AddIndexConcurrently(
            model_name='fulfillment',
            index=models.Index(
                django.db.models.functions.comparison.Coalesce('agreed_total', models.Value(Decimal('-1'))),
                models.F('id'),
                condition=OPEN_WORK,
                name='fulfillment_open_amount',
            ),
        ),
    ]
