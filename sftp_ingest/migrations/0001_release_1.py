import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [("sftp_ingest", "0001_squashed_0006_plain_texts"), ("sftp_ingest", "0007_unswept_content")]

    initial = True

    dependencies = [
        ("accounts", "0001_release_1"),
    ]

    operations = [
        migrations.CreateModel(
            name="Blob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "store",
                    models.CharField(help_text="The store of the content: local or s3.", max_length=10),
                ),
                ("size", models.PositiveBigIntegerField(default=0)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("completed_at", models.DateTimeField(null=True)),
                (
                    "unused_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="When the last reference may have been removed.",
                        null=True,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("unused_at"),
                        condition=models.Q(("unused_at__isnull", False)),
                        name="blob_unused",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DroppedBlob",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("store", models.CharField(max_length=10)),
            ],
        ),
        migrations.CreateModel(
            name="SftpLogin",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("username", models.SlugField(unique=True)),
                ("password", models.CharField(blank=True, editable=False, max_length=200)),
                (
                    "public_keys",
                    models.TextField(
                        blank=True,
                        help_text="One key per line, as in authorized_keys: ssh-ed25519 AAAA… comment",
                    ),
                ),
                ("is_active", models.BooleanField(default=True)),
                ("quota_bytes", models.PositiveBigIntegerField(default=5368709120)),
                ("largest_file_bytes", models.PositiveBigIntegerField(default=2147483648)),
                ("last_login_at", models.DateTimeField(editable=False, null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "supplier",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sftp_login",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "verbose_name": "SFTP login",
            },
        ),
        migrations.CreateModel(
            name="RemoteHost",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("host", models.CharField(max_length=255)),
                ("port", models.PositiveIntegerField(default=22)),
                (
                    "host_key",
                    models.TextField(help_text="As in known_hosts, without the name: ssh-ed25519 AAAA…"),
                ),
                ("username", models.CharField(max_length=100)),
                (
                    "password",
                    models.CharField(
                        blank=True, help_text="Stored encrypted and never shown again.", max_length=500
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="remote_hosts",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        models.F("supplier"), models.F("host"), models.F("port"), name="remote_host_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="UploadArea",
            fields=[
                (
                    "supplier",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="upload_area",
                        serialize=False,
                        to="accounts.supplier",
                    ),
                ),
                (
                    "used_bytes",
                    models.BigIntegerField(
                        default=0, help_text="Bytes of the files, and bytes reserved for open uploads."
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DirectoryEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "folder",
                    models.CharField(blank=True, help_text="The path of the parent folder.", max_length=500),
                ),
                ("name", models.CharField(max_length=255)),
                ("size", models.PositiveBigIntegerField(default=0)),
                ("accessed", models.BigIntegerField(help_text="Seconds since 1970, as clients set them.")),
                ("modified", models.BigIntegerField(help_text="Seconds since 1970, as clients set them.")),
                (
                    "blob",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="entries",
                        to="sftp_ingest.blob",
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="entries",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "directory entries",
                "constraints": [
                    models.UniqueConstraint(
                        models.F("supplier"), models.F("folder"), models.F("name"), name="entry_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True), name="entry_has_a_name"
                    ),
                ],
                "db_table": "sftp_ingest_entry",
            },
        ),
        migrations.CreateModel(
            name="OpenUpload",
            fields=[
                (
                    "blob",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="open_upload",
                        serialize=False,
                        to="sftp_ingest.blob",
                    ),
                ),
                ("path", models.CharField(max_length=500)),
                (
                    "holder",
                    models.CharField(
                        blank=True,
                        help_text="The open file that writes it; empty after a cut.",
                        max_length=32,
                    ),
                ),
                (
                    "kept_size",
                    models.PositiveBigIntegerField(
                        default=0, help_text="The bytes that survive the end of the server."
                    ),
                ),
                (
                    "kept_notes",
                    models.JSONField(help_text="What the store needs to continue the upload.", null=True),
                ),
                (
                    "reserved_bytes",
                    models.PositiveBigIntegerField(default=0, help_text="Bytes of the area's quota."),
                ),
                (
                    "heard_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="When the last bytes arrived.",
                    ),
                ),
                (
                    "login",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="open_uploads",
                        to="sftp_ingest.sftplogin",
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="open_uploads",
                        to="accounts.supplier",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(models.F("login"), models.F("path"), name="open_upload_of_login"),
                    models.Index(models.F("heard_at"), name="open_upload_by_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "path",
                    models.CharField(
                        help_text="Within the area, such as products/spring.csv", max_length=500
                    ),
                ),
                ("size", models.PositiveBigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("uploaded_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("remote_address", models.GenericIPAddressField(null=True)),
                (
                    "swept_at",
                    models.DateTimeField(
                        editable=False, help_text="When the automatic import checked this file.", null=True
                    ),
                ),
                (
                    "supplier",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="uploads",
                        to="accounts.supplier",
                    ),
                ),
                (
                    "blob",
                    models.ForeignKey(
                        db_index=False,
                        editable=False,
                        help_text="The content until the automatic import has checked it, also after another upload.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="uploads",
                        to="sftp_ingest.blob",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(models.F("supplier"), models.F("id"), name="upload_of_supplier"),
                    models.Index(
                        models.F("id"), condition=models.Q(("swept_at", None)), name="upload_unswept"
                    ),
                    models.Index(models.F("uploaded_at"), name="upload_by_time"),
                    django.contrib.postgres.indexes.HashIndex(models.F("path"), name="upload_path"),
                    django.contrib.postgres.indexes.HashIndex(models.F("sha256"), name="upload_content"),
                    models.Index(
                        django.db.models.functions.comparison.Collate(
                            django.db.models.functions.text.Lower(
                                django.db.models.functions.text.Left(
                                    models.Func(
                                        models.F("path"),
                                        models.Value("^.*/"),
                                        models.Value(""),
                                        function="regexp_replace",
                                    ),
                                    100,
                                )
                            ),
                            "C",
                        ),
                        name="upload_file_folded",
                    ),
                    models.Index(
                        models.F("blob"),
                        condition=models.Q(("blob__isnull", False)),
                        name="upload_unswept_blob",
                    ),
                ],
            },
        ),
    ]
