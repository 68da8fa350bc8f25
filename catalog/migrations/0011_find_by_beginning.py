import django.db.models.functions.comparison
import django.db.models.functions.text
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Built while others write: the tables have millions of rows.
    atomic = False

    dependencies = [
        ('accounts', '0006_when_short'),
        ('catalog', '0010_change_numbers'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='variant',
            index=models.Index(django.db.models.functions.comparison.Collate(django.db.models.functions.text.Lower('sku'), 'C'), name='variant_sku_folded'),
        ),
        AddIndexConcurrently(
            model_name='variant',
            index=models.Index(django.db.models.functions.comparison.Collate(django.db.models.functions.text.Lower(django.db.models.functions.text.Left('title', 60)), 'C'), name='variant_title_folded'),
        ),
        RemoveIndexConcurrently(
            model_name='variant',
            name='variant_sku_beginning',
        ),
    ]
