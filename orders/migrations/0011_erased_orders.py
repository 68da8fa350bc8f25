from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # the index is built beside those who write

    dependencies = [
        ('orders', '0010_find_held'),
    ]

    operations = [
        migrations.AddField(
            model_name='order',
            name='erased_at',
            field=models.DateTimeField(editable=False, help_text="When its consumer's personal data was erased.", null=True),
        ),
        AddIndexConcurrently(
            model_name='order',
            index=models.Index(models.F('updated_at'), condition=models.Q(('erased_at', None), ('processing_state__in', ['completed', 'canceled'])), name='order_to_erase'),
        ),
    ]
