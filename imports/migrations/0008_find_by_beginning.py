import django.db.models.functions.comparison
import django.db.models.functions.text
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Built while others write: the tables have millions of rows.
    atomic = False

    dependencies = [
        ('accounts', '0006_when_short'),
        ('imports', '0007_fulfillments_by_file'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='importjob',
            index=models.Index(django.db.models.functions.comparison.Collate(django.db.models.functions.text.Lower(django.db.models.functions.text.Left(models.Func(models.F('source'), models.Value('^.*/'), models.Value(''), function='regexp_replace'), 100)), 'C'), name='import_file_folded'),
        ),
    ]
