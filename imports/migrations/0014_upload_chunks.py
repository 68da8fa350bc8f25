from django.db import migrations


class Migration(migrations.Migration):
    """Rename the model of upload chunks; the table keeps its name."""

    dependencies = [("imports", "0013_upload_pieces")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel("UploadPiece", "UploadChunk"),
                migrations.AlterModelTable("UploadChunk", "imports_uploadpiece"),
            ]
        )
    ]
