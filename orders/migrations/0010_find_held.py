from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Built while others write: the table has millions of rows.
    atomic = False

    dependencies = [
        ('accounts', '0008_suspensions'),
        ('orders', '0009_keep_search_entries'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='order',
            index=models.Index(models.F('id'), condition=models.Q(('held', True)), name='order_held'),
        ),
    ]
