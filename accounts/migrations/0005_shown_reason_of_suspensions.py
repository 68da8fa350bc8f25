from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("accounts", "0004_contact_messages")]

    operations = [
        migrations.AddField(
            "suspension",
            "shown_reason",
            models.CharField(
                blank=True, db_default="", help_text="Members of the party read it in their portal.", max_length=300
            ),
        ),
    ]
