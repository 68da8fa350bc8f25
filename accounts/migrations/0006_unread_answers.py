"""Find the answers that no operator has read by an index."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("accounts", "0005_shown_reason_of_suspensions"),
        ("backoffice", "0003_answers_of_parties"),  # it completes the table
    ]

    operations = [
        migrations.AlterField(
            "contactmessage",
            "done_at",
            models.DateTimeField(help_text="When it was answered or closed, or the answer was read.", null=True),
        ),
        AddIndexConcurrently(
            "contactmessage",
            models.Index("id", condition=models.Q(is_answer=True, done_at=None), name="contact_answer_unread"),
        ),
    ]
