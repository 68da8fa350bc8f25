"""Name automatic imports and approval rules as the menu does. Changes no table."""

import django.core.validators
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('imports', '0002_files_of_suppliers'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='autoimport',
            options={'verbose_name': 'automatic import'},
        ),
        migrations.AlterModelOptions(
            name='importpolicy',
            options={'verbose_name': 'approval rule'},
        ),
        migrations.AlterField(
            model_name='importpolicy',
            name='delisted_share',
            field=models.DecimalField(blank=True, decimal_places=3, help_text='A product file that would delist more than this share of the listed variants waits.', max_digits=4, null=True, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)], verbose_name='share of variants delisted'),
        ),
        migrations.AlterField(
            model_name='importpolicy',
            name='price_factor',
            field=models.DecimalField(blank=True, decimal_places=3, help_text='A product file that would change a price by more than this factor waits.', max_digits=8, null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='factor of a price change'),
        ),
        migrations.AlterField(
            model_name='importpolicy',
            name='zeroed_in_delta',
            field=models.BooleanField(default=False, help_text='Apply the rule to delta files as well.', verbose_name='check delta files'),
        ),
        migrations.AlterField(
            model_name='importpolicy',
            name='zeroed_least',
            field=models.PositiveIntegerField(default=100, help_text='A file also waits only if it would set more than this many variants to 0.', verbose_name='number of variants set to 0'),
        ),
        migrations.AlterField(
            model_name='importpolicy',
            name='zeroed_share',
            field=models.DecimalField(decimal_places=3, default=Decimal('0.3'), help_text='A full stock file that would set more than this share of the stocked variants to 0 waits.', max_digits=4, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)], verbose_name='share of variants set to 0'),
        ),
    ]
