import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import backoffice.models

TEMPLATES = [
    (
        "General",
        "Question about {record}",
        "Hello {contact},\n\nwe have a question about {record}.\n\n{problem}\n\nPlease answer this mail.",
    ),
    (
        "Late work",
        "{record} is late",
        "Hello {contact},\n\n{record} is late: {problem}.\n\nWhen will it be shipped? If you cannot ship it, please"
        " reject it, so that another supplier can take it.",
    ),
    (
        "No stock counts",
        "We get no stock counts of {party}",
        "Hello {contact},\n\nwe have had no stock count of {party} for two days. Please check your connection, and"
        " send a count of all variants.",
    ),
    (
        "Waiting for stock",
        "When does stock arrive for {record}?",
        "Hello {contact},\n\n{record} waits for stock: {problem}.\n\nWhen do you expect it? Please send a date.",
    ),
    (
        "Wrong address",
        "Address of {record}",
        "Hello {contact},\n\nthe address of {record} cannot be delivered to:\n\n{problem}\n\nPlease send the right address.",
    ),
]


def add_templates(apps, schema_editor):
    templates = apps.get_model("backoffice", "MessageTemplate")
    templates.objects.using(schema_editor.connection.alias).bulk_create(
        [templates(name=name, subject=subject, text=text) for name, subject, text in TEMPLATES]
    )


class Migration(migrations.Migration):
    replaces = [
        ("backoffice", "0001_squashed_0006_record_comments"),
        ("backoffice", "0007_notice_bookmark"),
        ("backoffice", "0008_messages"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_release_1"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("auth", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Digest",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("address", models.EmailField(max_length=254)),
                (
                    "hour",
                    models.PositiveSmallIntegerField(
                        default=6,
                        help_text="Hour of the day (UTC) from which the mail is sent, 0 to 23.",
                        validators=[django.core.validators.MaxValueValidator(23)],
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                (
                    "sent_at",
                    models.DateTimeField(
                        editable=False, help_text="When the digest was last processed.", null=True
                    ),
                ),
                ("last_error", models.CharField(blank=True, editable=False, max_length=300)),
                (
                    "supplier",
                    models.OneToOneField(
                        blank=True,
                        help_text="Or a supplier.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="digest",
                        to="accounts.supplier",
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        blank=True,
                        help_text="An operator.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="digest",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("supplier", None), ("user__isnull", False)),
                            models.Q(("supplier__isnull", False), ("user", None)),
                            _connector="OR",
                        ),
                        name="digest_of_one",
                        violation_error_message="A digest belongs to an operator or to a supplier. Choose one.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RecordComment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "model",
                    models.CharField(
                        help_text="The model of the record, such as orders.order.", max_length=100
                    ),
                ),
                ("record_id", models.BigIntegerField()),
                ("text", models.CharField(max_length=1000)),
                ("by", models.CharField(help_text="The name of a user.", max_length=150)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(models.F("record_id"), models.F("model"), name="record_comment_of")],
            },
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "model",
                    models.CharField(
                        help_text="The model of the list, such as orders.order.", max_length=100
                    ),
                ),
                ("name", models.CharField(max_length=60)),
                (
                    "query",
                    models.CharField(blank=True, help_text="Filters, search and columns.", max_length=2000),
                ),
                (
                    "shared",
                    models.BooleanField(
                        db_default=False, default=False, help_text="Visible to all operators."
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name", "id"],
                "indexes": [
                    models.Index(
                        models.F("model"),
                        models.F("name"),
                        condition=models.Q(("shared", True)),
                        name="saved_view_shared",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("owner"), models.F("model"), models.F("name"), name="saved_view_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ServicePart",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(help_text="Such as web or ticker.", max_length=50)),
                ("host", models.CharField(blank=True, max_length=255)),
                (
                    "heard_at",
                    models.DateTimeField(help_text="When one of its processes last gave a sign of life."),
                ),
                (
                    "taken_away_at",
                    models.DateTimeField(
                        help_text="When an operator confirmed that the part was removed.", null=True
                    ),
                ),
            ],
            options={
                "verbose_name": "part of the service",
                "verbose_name_plural": "parts of the service",
                "ordering": ["name", "host"],
                "constraints": [
                    models.UniqueConstraint(models.F("name"), models.F("host"), name="service_part_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="SignInRule",
            fields=[
                (
                    "group",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="sign_in_rule",
                        serialize=False,
                        to="auth.group",
                    ),
                ),
                ("second_factor_required", models.BooleanField(db_default=False, default=False)),
            ],
        ),
        migrations.CreateModel(
            name="NoticeBookmark",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="MessageTemplate",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=60, unique=True)),
                ("subject", models.CharField(max_length=200, validators=[backoffice.models.check_names])),
                (
                    "text",
                    models.TextField(
                        help_text="{contact}, {party}, {record} and {problem} are replaced.",
                        max_length=5000,
                        validators=[backoffice.models.check_names],
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="ContactMessage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("owner", models.CharField(blank=True, db_default="", editable=False, max_length=100)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                (
                    "model",
                    models.CharField(
                        help_text="The model of the record, such as orders.order.", max_length=100
                    ),
                ),
                ("record_id", models.BigIntegerField()),
                ("is_answer", models.BooleanField(default=False)),
                ("subject", models.CharField(blank=True, max_length=200)),
                ("text", models.TextField(max_length=5000)),
                ("by", models.CharField(help_text="The name of a user.", max_length=150)),
                (
                    "form_id",
                    models.UUIDField(
                        help_text="The id of the sent form. A form is stored only once.", unique=True
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "next_try_at",
                    models.DateTimeField(
                        help_text="When a worker mails it; null when nothing is left.", null=True
                    ),
                ),
                ("sent_at", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, max_length=300)),
                (
                    "contact",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="messages",
                        to="accounts.contact",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(models.F("record_id"), models.F("model"), name="contact_message_of"),
                    models.Index(
                        models.F("next_try_at"),
                        condition=models.Q(("next_try_at__isnull", False)),
                        name="contact_message_due",
                    ),
                ],
            },
        ),
        migrations.RunPython(add_templates, migrations.RunPython.noop),
    ]
