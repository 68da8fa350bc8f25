import django.db.models.functions.comparison
import django.db.models.functions.text
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Built while others write: the tables have millions of rows.
    atomic = False

    dependencies = [
        ('accounts', '0006_when_short'),
        ('events', '0005_epochs'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='event',
            index=models.Index(django.db.models.functions.comparison.Collate(django.db.models.functions.text.Lower('request_id'), 'C'), condition=models.Q(('request_id', ''), _negated=True), name='event_of_request_folded'),
        ),
        RemoveIndexConcurrently(
            model_name='event',
            name='event_of_request',
        ),
    ]
