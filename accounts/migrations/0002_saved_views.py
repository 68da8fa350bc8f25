"""Move the saved views here, because the portal has them, too. `backoffice` made their table and extends it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_release_1'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name='SavedView',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('model', models.CharField(help_text='The list, such as orders.order.', max_length=100)),
                        ('name', models.CharField(max_length=60)),
                        ('query', models.CharField(blank=True, help_text='Filters, search and columns.', max_length=2000)),
                        ('shared', models.BooleanField(db_default=False, default=False, help_text='Visible to the whole team.')),
                        ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='saved_views', to=settings.AUTH_USER_MODEL)),
                        ('retailer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='saved_views', to='accounts.retailer')),
                        ('supplier', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='saved_views', to='accounts.supplier')),
                    ],
                    options={
                        'db_table': 'backoffice_savedview',
                        'ordering': ['name', 'id'],
                        'indexes': [models.Index(models.F('model'), models.F('name'), condition=models.Q(('shared', True)), name='saved_view_shared')],
                        'constraints': [models.UniqueConstraint(models.F('owner'), models.F('model'), models.F('name'), models.F('supplier'), models.F('retailer'), name='saved_view_of_list', nulls_distinct=False)],
                    },
                ),
            ],
        ),
    ]
