from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('fulfillments', '0002_open_work_of_suppliers'),
    ]

    operations = [
        migrations.AddField(
            model_name='fulfillment',
            name='agreed_total',
            field=models.DecimalField(decimal_places=4, editable=False, max_digits=24, null=True),
        ),
    ]
