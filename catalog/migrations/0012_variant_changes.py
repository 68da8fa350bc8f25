import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('catalog', '0011_find_by_beginning'),
    ]

    operations = [
        migrations.CreateModel(
            name='VariantChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('variant_id', models.BigIntegerField()),
                ('occurred_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('changed', models.JSONField(help_text='By field: {"retail_price": {"from": "5", "to": "6"}}')),
                ('actor', models.CharField(db_default='', max_length=200)),
                ('request_id', models.CharField(db_default='', max_length=100)),
                ('import_id', models.BigIntegerField(null=True)),
                ('line', models.IntegerField(help_text="Of the import's file.", null=True)),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(models.F('variant_id'), models.F('id'), name='variant_change_of_variant')],
            },
        ),
    ]
