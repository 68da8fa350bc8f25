from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('fulfillments', '0008_find_by_beginning'),
    ]

    operations = [
        migrations.CreateModel(
            name='SummedEvents',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='DailySum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('supplier_id', models.BigIntegerField()),
                ('retailer_id', models.BigIntegerField()),
                ('day', models.DateField()),
                ('measure', models.CharField(max_length=30)),
                ('bucket', models.SmallIntegerField(default=0)),
                ('count', models.BigIntegerField()),
                ('seconds', models.BigIntegerField(default=0)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('supplier_id', 'retailer_id', 'day', 'measure', 'bucket'), name='daily_sum_once')],
            },
        ),
    ]
