"""Give messages the time of their answer. The model moves to `accounts`; its table keeps its name."""

from django.db import migrations, models

DONE_AT = models.DateTimeField(null=True, help_text="When the party answered it or marked it as done.")


class Migration(migrations.Migration):
    dependencies = [("backoffice", "0002_views_of_parties"), ("accounts", "0004_contact_messages")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel("contactmessage")],
            database_operations=[migrations.AddField("contactmessage", "done_at", DONE_AT)],
        )
    ]
