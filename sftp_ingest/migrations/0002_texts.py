"""Give a constraint the text that a form shows. Changes no table."""

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
    ]
