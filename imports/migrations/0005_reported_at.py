from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('imports', '0004_reports'),
    ]

    operations = [
        migrations.AlterField(
            model_name='importjob',
            name='reported_at',
            field=models.DateTimeField(editable=False, help_text='When its supplier was informed.', null=True),
        ),
    ]
