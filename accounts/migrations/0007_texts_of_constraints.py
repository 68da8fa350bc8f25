"""Give constraints the texts that forms show. Changes no table."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0006_unread_answers'),
    ]

    operations = [
        migrations.AlterConstraint(
            model_name='apikey',
            name='api_key_of_one_party',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('retailer__isnull', True), ('supplier__isnull', False)), models.Q(('retailer__isnull', False), ('supplier__isnull', True)), _connector='OR'), name='api_key_of_one_party', violation_error_message='A key belongs to a supplier or to a retailer. Choose one.'),
        ),
        migrations.AlterConstraint(
            model_name='contact',
            name='contact_of_one_party',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('retailer__isnull', True), ('supplier__isnull', False)), models.Q(('retailer__isnull', False), ('supplier__isnull', True)), _connector='OR'), name='contact_of_one_party', violation_error_message='A contact belongs to a supplier or to a retailer. Choose one.'),
        ),
        migrations.AlterConstraint(
            model_name='partnership',
            name='partnership_once',
            constraint=models.UniqueConstraint(models.F('retailer'), models.F('supplier'), name='partnership_once', violation_error_message='This retailer and this supplier are partners already. Change their partnership instead.'),
        ),
    ]
