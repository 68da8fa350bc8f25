import django.db.models.functions.comparison
import django.db.models.functions.text
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Built while others write: the table has millions of rows.
    atomic = False

    dependencies = [
        ('fulfillments', '0010_simulations'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='fulfillment',
            index=models.Index(django.db.models.functions.comparison.Collate(django.db.models.functions.text.Lower('tracking_number'), 'C'), condition=models.Q(('tracking_number', ''), _negated=True), name='tracking_folded'),
        ),
    ]
