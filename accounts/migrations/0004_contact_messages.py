"""Move the messages to contacts here: the portal shows them, too. `backoffice` made and extends their table."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):

    dependencies = [("accounts", "0003_mail_subscriptions")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="ContactMessage",
                    fields=[
                        ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                        ("owner", models.CharField(blank=True, db_default="", editable=False, max_length=100)),
                        ("lease_until", models.DateTimeField(editable=False, null=True)),
                        ("model", models.CharField(help_text="The model of the record, such as orders.order.", max_length=100)),
                        ("record_id", models.BigIntegerField()),
                        ("is_answer", models.BooleanField(default=False)),
                        ("subject", models.CharField(blank=True, max_length=200)),
                        ("text", models.TextField(max_length=5000)),
                        ("by", models.CharField(help_text="The name of a user, or an actor such as member:7.", max_length=150)),
                        ("form_id", models.UUIDField(help_text="The id of the sent form. A form is stored only once.", unique=True)),
                        ("created_at", models.DateTimeField(db_default=Now())),
                        ("next_try_at", models.DateTimeField(help_text="When a worker mails it; null when nothing is left.", null=True)),
                        ("sent_at", models.DateTimeField(null=True)),
                        ("error", models.CharField(blank=True, max_length=300)),
                        ("done_at", models.DateTimeField(help_text="When the party answered it or marked it as done.", null=True)),
                        ("contact", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="messages", to="accounts.contact")),
                    ],
                    options={
                        "db_table": "backoffice_contactmessage",
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(models.F("record_id"), models.F("model"), name="contact_message_of"),
                            models.Index(models.F("next_try_at"), condition=models.Q(("next_try_at__isnull", False)), name="contact_message_due"),
                        ],
                    },
                ),
            ],
        ),
    ]
