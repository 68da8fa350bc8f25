from decimal import Decimal

import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models

import imports.models.kind

# The ids below 1000 belong to the mappings that come with the service.
KEEP_LOW_IDS = """
ALTER TABLE imports_savedmapping ALTER COLUMN id SET START WITH 1000 RESTART
"""


class Migration(migrations.Migration):
    replaces = [
        ("imports", "0001_squashed_0016_leased_work"),
        ("imports", "0017_kept_files"),
        ("imports", "0018_kinds_from_the_registry"),
        ("imports", "0019_drafts_read_by_workers"),
        ("imports", "0020_search_inside_texts"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_release_1"),
        ("sftp_ingest", "0001_release_1"),
    ]

    operations = [
        TrigramExtension(),
        migrations.CreateModel(
            name="AutoImport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(choices=imports.models.kind.choices, max_length=20)),
                ("enabled", models.BooleanField(default=True)),
                (
                    "options",
                    models.JSONField(default=dict, help_text="Mapping, transformer, warehouse, mode."),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="auto_imports",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(models.F("supplier"), models.F("kind"), name="auto_import_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportJob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(choices=imports.models.kind.choices, max_length=20)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("awaiting_approval", "Awaiting Approval"),
                            ("succeeded", "Succeeded"),
                            ("succeeded_with_errors", "Succeeded With Errors"),
                            ("failed", "Failed"),
                            ("canceled", "Canceled"),
                        ],
                        default="queued",
                        max_length=30,
                    ),
                ),
                (
                    "source",
                    models.CharField(help_text="The requested path or URL, or `data`.", max_length=1000),
                ),
                (
                    "file",
                    models.CharField(
                        blank=True,
                        help_text="The copy of the file, for jobs made before there were blobs.",
                        max_length=500,
                    ),
                ),
                (
                    "options",
                    models.JSONField(default=dict, help_text="Mapping, transformer, warehouse, mode."),
                ),
                ("dry_run", models.BooleanField(default=False)),
                ("approved_at", models.DateTimeField(editable=False, null=True)),
                ("rows_total", models.BigIntegerField(null=True)),
                ("rows_done", models.BigIntegerField(default=0)),
                ("created", models.BigIntegerField(default=0)),
                ("updated", models.BigIntegerField(default=0)),
                ("unchanged", models.BigIntegerField(default=0)),
                ("rejected", models.BigIntegerField(default=0)),
                ("duplicates", models.BigIntegerField(default=0)),
                ("warnings", models.JSONField(default=list)),
                ("ignored_columns", models.JSONField(default=list)),
                (
                    "report",
                    models.JSONField(
                        default=dict, help_text="Findings of a dry run or of the approval rule."
                    ),
                ),
                (
                    "error",
                    models.JSONField(help_text='The cause of a failure: {"code", "message"}', null=True),
                ),
                (
                    "bookmark",
                    models.BigIntegerField(default=0, help_text="The last line of the file that has landed."),
                ),
                ("owner", models.CharField(blank=True, db_default="", editable=False, max_length=100)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("cancel_requested", models.BooleanField(default=False, editable=False)),
                ("created_by", models.CharField(blank=True, max_length=200)),
                ("request_id", models.CharField(blank=True, max_length=100)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "supplier",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="import_jobs",
                        to="accounts.supplier",
                    ),
                ),
                ("delimiter", models.CharField(default=",", editable=False, max_length=1)),
                ("header", models.JSONField(default=list, editable=False, help_text="The file's columns.")),
                ("last_line", models.BigIntegerField(default=0, editable=False)),
                (
                    "staged",
                    models.BigIntegerField(
                        editable=False, help_text="Number of rows in the staging table.", null=True
                    ),
                ),
                (
                    "reported_at",
                    models.DateTimeField(
                        editable=False, help_text="The time when the supplier was informed.", null=True
                    ),
                ),
                (
                    "as_of",
                    models.DateTimeField(
                        db_default=models.Func(
                            function="clock_timestamp", output_field=models.DateTimeField()
                        ),
                        editable=False,
                        help_text="The moment of the file's content: given by the request, else the end of its upload, else the creation of the job.",
                    ),
                ),
                (
                    "blob",
                    models.ForeignKey(
                        help_text="The content of the file.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="sftp_ingest.blob",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        models.F("supplier"), models.F("kind"), models.F("id"), name="import_of_supplier"
                    ),
                    models.Index(
                        models.F("id"),
                        condition=models.Q(("status__in", ["queued", "running"])),
                        name="import_unfinished",
                    ),
                    models.Index(models.F("status"), models.F("id"), name="import_in_status"),
                    models.Index(
                        models.F("id"), condition=models.Q(("dry_run", True)), name="import_dry_run"
                    ),
                    django.contrib.postgres.indexes.HashIndex(models.F("source"), name="import_source"),
                    models.Index(
                        models.F("id"),
                        condition=models.Q(
                            ("reported_at", None),
                            models.Q(("status__in", ["queued", "running"]), _negated=True),
                        ),
                        name="import_unreported",
                    ),
                    models.Index(
                        django.db.models.functions.comparison.Collate(
                            django.db.models.functions.text.Lower(
                                django.db.models.functions.text.Left(
                                    models.Func(
                                        models.F("source"),
                                        models.Value("^.*/"),
                                        models.Value(""),
                                        function="regexp_replace",
                                    ),
                                    100,
                                )
                            ),
                            "C",
                        ),
                        name="import_file_folded",
                    ),
                    models.Index(
                        models.F("supplier"),
                        condition=models.Q(("blob__isnull", False)),
                        name="import_keeps_file",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.comparison.Collate(
                                django.db.models.functions.text.Lower(
                                    django.db.models.functions.text.Left(
                                        models.Func(
                                            models.F("source"),
                                            models.Value("^.*/"),
                                            models.Value(""),
                                            function="regexp_replace",
                                        ),
                                        100,
                                    )
                                ),
                                "C",
                            ),
                            name="gin_trgm_ops",
                        ),
                        name="import_file_trigrams",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                [
                                    "queued",
                                    "running",
                                    "awaiting_approval",
                                    "succeeded",
                                    "succeeded_with_errors",
                                    "failed",
                                    "canceled",
                                ],
                            )
                        ),
                        name="import_status",
                    ),
                    models.UniqueConstraint(
                        models.F("supplier"),
                        models.F("kind"),
                        condition=models.Q(("status", "running")),
                        name="import_one_running_of_a_kind",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportPolicy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "zeroed_share",
                    models.DecimalField(
                        decimal_places=3,
                        default=Decimal("0.3"),
                        help_text="A full stock file that would set more than this share of the stocked variants to 0 waits.",
                        max_digits=4,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(1),
                        ],
                    ),
                ),
                (
                    "zeroed_least",
                    models.PositiveIntegerField(
                        default=100,
                        help_text="A file also waits only if it would set more than this many variants to 0.",
                    ),
                ),
                (
                    "zeroed_in_delta",
                    models.BooleanField(default=False, help_text="Apply the rule to delta files as well."),
                ),
                (
                    "delisted_share",
                    models.DecimalField(
                        blank=True,
                        decimal_places=3,
                        help_text="A product file that would delist more than this share of the listed variants waits.",
                        max_digits=4,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(1),
                        ],
                    ),
                ),
                (
                    "price_factor",
                    models.DecimalField(
                        blank=True,
                        decimal_places=3,
                        help_text="A product file that would change a retail price by more than this factor waits.",
                        max_digits=8,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                (
                    "supplier",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="import_policy",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "import policies",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("zeroed_share__gte", 0),
                            ("zeroed_share__lte", 1),
                            models.Q(
                                ("delisted_share", None),
                                models.Q(("delisted_share__gte", 0), ("delisted_share__lte", 1)),
                                _connector="OR",
                            ),
                            models.Q(("price_factor", None), ("price_factor__gte", 1), _connector="OR"),
                        ),
                        name="import_policy_sane",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SavedMapping",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(choices=imports.models.kind.choices, max_length=20)),
                ("name", models.CharField(max_length=50)),
                (
                    "options",
                    models.JSONField(
                        default=dict, help_text="Columns, transformer, and the options of rows."
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_mappings",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("supplier"), models.F("name"), name="saved_mapping_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("id__gte", 1000)), name="saved_mapping_beyond_built_in"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="UploadChunk",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "person",
                    models.CharField(
                        help_text="The name of the sender; no one else can add chunks.", max_length=200
                    ),
                ),
                ("upload", models.UUIDField(help_text="The number of the upload, given by its page.")),
                (
                    "place",
                    models.PositiveIntegerField(help_text="The position in the file; the first chunk is 0."),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "blob",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="sftp_ingest.blob"),
                ),
            ],
            options={
                "indexes": [models.Index(models.F("created_at"), name="upload_piece_by_time")],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("person"), models.F("upload"), models.F("place"), name="upload_piece_once"
                    )
                ],
                "db_table": "imports_uploadpiece",
            },
        ),
        migrations.CreateModel(
            name="Correction",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("rows", models.PositiveIntegerField(help_text="Number of corrected rows.")),
                (
                    "job",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="correction",
                        to="imports.importjob",
                    ),
                ),
                (
                    "original",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="corrections",
                        to="imports.importjob",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ImportDraft",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(choices=imports.models.kind.choices, max_length=20)),
                (
                    "name",
                    models.CharField(help_text="The file's name on the operator's machine.", max_length=200),
                ),
                (
                    "body",
                    models.JSONField(
                        default=dict, help_text="The import's options, in the form of an API request."
                    ),
                ),
                ("created_by", models.CharField(blank=True, max_length=200)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "blob",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="sftp_ingest.blob"),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="import_drafts",
                        to="accounts.supplier",
                    ),
                ),
                (
                    "jobs",
                    models.ManyToManyField(
                        help_text="Dry runs and imports of this file.",
                        related_name="drafts",
                        to="imports.importjob",
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(db_default=0, default=0)),
                (
                    "is_packed",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="A workbook or a packed file, which a worker reads.",
                    ),
                ),
                (
                    "is_suggested",
                    models.BooleanField(
                        db_default=True,
                        default=True,
                        help_text="Whether the body has had its first, suggested mapping.",
                    ),
                ),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("owner", models.CharField(blank=True, db_default="", editable=False, max_length=100)),
                (
                    "problem",
                    models.TextField(
                        blank=True,
                        db_default="",
                        help_text="The reason why the worker could not read the file.",
                    ),
                ),
                ("sample", models.JSONField(help_text="The first rows, as the worker read them.", null=True)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(models.F("created_at"), name="import_draft_by_time")],
                "constraints": [],
            },
        ),
        migrations.CreateModel(
            name="Reject",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "line",
                    models.BigIntegerField(
                        help_text="The physical line where the record starts; the header is line 1."
                    ),
                ),
                ("field", models.CharField(blank=True, max_length=200)),
                ("code", models.CharField(max_length=50)),
                ("message", models.CharField(max_length=500)),
                ("cells", models.JSONField(default=list, help_text="The cells as they are in the file.")),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rejects",
                        to="imports.importjob",
                    ),
                ),
            ],
            options={
                "ordering": ["line", "id"],
                "indexes": [
                    models.Index(models.F("job"), models.F("line"), models.F("id"), name="reject_of_job")
                ],
            },
        ),
        migrations.RunSQL(KEEP_LOW_IDS, migrations.RunSQL.noop),
    ]
