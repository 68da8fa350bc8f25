from django.db import migrations


class Migration(migrations.Migration):
    """Rename a model in the code only: its table keeps its name."""

    dependencies = [
        ("sftp_ingest", "0004_blobs"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterModelTable(name="Entry", table="sftp_ingest_entry"),
                migrations.RenameModel(old_name="Entry", new_name="DirectoryEntry"),
            ]
        ),
    ]
