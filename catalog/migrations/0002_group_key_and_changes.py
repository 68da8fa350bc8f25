import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Concat


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial"), ("catalog", "0001_initial")]

    operations = [
        migrations.RemoveIndex("variant", "variant_group"),
        migrations.RemoveField("variant", "group"),
        migrations.AddField(
            "variant",
            "group",
            models.GeneratedField(
                expression=Case(
                    When(model="", then=Concat(Value("s:"), F("sku"))),
                    default=Concat(Value("m:"), F("model")),
                ),
                output_field=models.CharField(max_length=102),
                db_persist=True,
            ),
        ),
        migrations.AlterField(
            "variant",
            "supplier",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="variants",
                to="accounts.supplier",
            ),
        ),
        migrations.AddField(
            "variant",
            "changed_in",
            models.BigIntegerField(
                db_default=0,
                editable=False,
                help_text="The transaction that wrote it last; set by a trigger.",
            ),
        ),
        migrations.AddIndex("variant", models.Index("supplier", "id", name="variant_of_supplier")),
        migrations.AddIndex(
            "variant",
            models.Index("supplier", "group", "id", condition=Q(listed=True), name="variant_group_listed"),
        ),
        migrations.AddIndex(
            "variant",
            django.contrib.postgres.indexes.BrinIndex(
                "changed_in", pages_per_range=16, autosummarize=True, name="variant_changed_in"
            ),
        ),
        migrations.CreateModel(
            "Departure",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False, auto_created=True, verbose_name="ID")),
                ("group", models.CharField(max_length=102)),
                ("changed_in", models.BigIntegerField()),
                (
                    "supplier",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index("supplier", "changed_in", name="departure_of_supplier")],
            },
        ),
        migrations.CreateModel(
            "Pulse",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False, auto_created=True, verbose_name="ID")),
                ("taken_at", models.DateTimeField(db_index=True)),
                (
                    "snapshot",
                    models.TextField(help_text="PostgreSQL's pg_current_snapshot(): xmin:xmax:unfinished,…"),
                ),
            ],
            options={"ordering": ["taken_at"]},
        ),
    ]
