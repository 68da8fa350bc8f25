"""Keep the notices that the mail server refuses for now in rows of their own."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("backoffice", "0004_notes_of_orders")]

    operations = [
        migrations.CreateModel(
            name="DelayedNotice",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("number", models.BigIntegerField(help_text="The number of the event.", unique=True)),
                ("next_try_at", models.DateTimeField()),
            ],
        )
    ]
