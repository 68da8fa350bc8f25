"""Say choices and help texts plainly. Changes no table."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0007_texts_of_constraints'),
    ]

    operations = [
        migrations.AlterField(
            model_name='partnership',
            name='when_short',
            field=models.CharField(choices=[('ship_partial', 'let the supplier decide'), ('wait', 'wait for stock'), ('refuse', 'refuse the order')], db_default='ship_partial', default='ship_partial', help_text='The handling of units that stock cannot cover, unless the order sets it.', max_length=12),
        ),
    ]
