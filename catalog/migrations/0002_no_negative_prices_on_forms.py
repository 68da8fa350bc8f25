"""Let forms refuse negative prices and weights at the field. Changes no table."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('catalog', '0001_release_1'),
    ]

    operations = [
        migrations.AlterField(
            model_name='variant',
            name='retail_price',
            field=models.DecimalField(decimal_places=4, max_digits=14, validators=[django.core.validators.MinValueValidator(0, 'A price cannot be negative.')]),
        ),
        migrations.AlterField(
            model_name='variant',
            name='special_sale_price',
            field=models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True, validators=[django.core.validators.MinValueValidator(0, 'A price cannot be negative.')]),
        ),
        migrations.AlterField(
            model_name='variant',
            name='weight',
            field=models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True, validators=[django.core.validators.MinValueValidator(0, 'A weight cannot be negative.')]),
        ),
        migrations.AlterField(
            model_name='variant',
            name='wholesale_price',
            field=models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True, validators=[django.core.validators.MinValueValidator(0, 'A price cannot be negative.')]),
        ),
    ]
