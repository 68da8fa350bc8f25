import django.db.models.functions.comparison
import django.db.models.functions.text
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Built while others write: the tables have millions of rows.
    atomic = False

    dependencies = [
        ('accounts', '0006_when_short'),
        ('sftp_ingest', '0002_found_by_operators'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='upload',
            index=models.Index(django.db.models.functions.comparison.Collate(django.db.models.functions.text.Lower(django.db.models.functions.text.Left(models.Func(models.F('path'), models.Value('^.*/'), models.Value(''), function='regexp_replace'), 100)), 'C'), name='upload_file_folded'),
        ),
    ]
