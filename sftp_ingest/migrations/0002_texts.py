"""Give a constraint the text that a form shows, and two fields plainer help. Changes no table."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sftp_ingest', '0001_release_1'),
    ]

    operations = [
        migrations.AlterConstraint(
            model_name='remotehost',
            name='remote_host_once',
            constraint=models.UniqueConstraint(models.F('supplier'), models.F('host'), models.F('port'), name='remote_host_once', violation_error_message='The supplier has this host and port already. Change that host instead.'),
        ),
        migrations.AlterField(
            model_name='openupload',
            name='holder',
            field=models.CharField(blank=True, help_text='The open file that writes the upload; empty after its connection was lost.', max_length=32),
        ),
        migrations.AlterField(
            model_name='openupload',
            name='kept_size',
            field=models.PositiveBigIntegerField(default=0, help_text='The bytes that are kept if the server ends.'),
        ),
    ]
