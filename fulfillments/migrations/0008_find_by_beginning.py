import django.db.models.functions.comparison
import django.db.models.functions.text
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Built while others write: the tables have millions of rows.
    atomic = False

    dependencies = [
        ('fulfillments', '0007_short_lines'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='shipment',
            index=models.Index(django.db.models.functions.comparison.Collate(django.db.models.functions.text.Lower('tracking_number'), 'C'), name='shipment_tracking_folded'),
        ),
        RemoveIndexConcurrently(
            model_name='shipment',
            name='shipment_tracking',
        ),
    ]
