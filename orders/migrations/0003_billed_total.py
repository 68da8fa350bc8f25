from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('orders', '0002_lists_of_the_portal'),
    ]

    operations = [
        migrations.AddField(
            model_name='order',
            name='billed_total',
            field=models.DecimalField(decimal_places=4, editable=False, max_digits=24, null=True),
        ),
    ]
