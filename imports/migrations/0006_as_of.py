"""Each job has the moment that its file is of; of those that are there, as they say, else when they were made."""

from django.db import migrations, models

SINCE = """
UPDATE imports_importjob SET as_of = least(coalesce((options->>'as_of')::timestamptz, created_at), created_at)
"""
NOW = models.Func(function="clock_timestamp", output_field=models.DateTimeField())
HELP = (
    "The moment that its file is of: as the request says, else when its upload was complete,"
    " else when the job was made."
)


class Migration(migrations.Migration):
    dependencies = [("imports", "0005_reported_at")]

    operations = [
        migrations.AddField(
            "importjob", "as_of", models.DateTimeField(db_default=NOW, editable=False, help_text=HELP)
        ),
        migrations.RunSQL(SINCE, migrations.RunSQL.noop),
    ]
