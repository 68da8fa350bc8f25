"""Say choices and help texts plainly. Changes no table."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('orders', '0004_open_orders_by_amount'),
    ]

    operations = [
        migrations.AlterField(
            model_name='order',
            name='updated_at',
            field=models.DateTimeField(editable=False, help_text='The moment of the last change. Each change gets a later moment.', null=True),
        ),
        migrations.AlterField(
            model_name='order',
            name='when_short',
            field=models.CharField(choices=[('ship_partial', 'let the supplier decide'), ('wait', 'wait for stock'), ('refuse', 'refuse the order')], help_text="What happens to units that are not in stock. If empty, the partnership's setting applies.", max_length=12, null=True),
        ),
    ]
