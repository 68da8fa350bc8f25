"""Suppliers' upload areas: logins, uploads, names and their content."""

from __future__ import annotations

from typing import Self

from django.contrib.auth.hashers import check_password, make_password
from django.contrib.postgres.indexes import HashIndex
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Exists, Func, OuterRef, Q, Value
from django.db.models.functions import Now

from accounts.encryption import decrypt, encrypt
from accounts.models import Supplier
from api.prefix_search import file_name, folded
from sftp_ingest.keys import parse_public_key, parse_public_keys

GIB = 1024**3
LARGEST_PORT = 65_535


class SftpLogin(models.Model):
    """A supplier's login to its upload area, by password, by public keys, or by both."""

    supplier = models.OneToOneField(Supplier, on_delete=models.CASCADE, related_name="sftp_login")
    username = models.SlugField(max_length=50, unique=True)
    password = models.CharField(max_length=200, blank=True, editable=False)
    public_keys = models.TextField(
        blank=True, help_text="One key per line, as in authorized_keys: ssh-ed25519 AAAA… comment"
    )
    is_active = models.BooleanField(default=True)
    quota_bytes = models.PositiveBigIntegerField(default=5 * GIB)
    largest_file_bytes = models.PositiveBigIntegerField(default=2 * GIB)
    last_login_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        verbose_name = "SFTP login"

    def __str__(self) -> str:
        return self.username

    def clean(self) -> None:
        """Refuse lines that are not public keys."""
        try:
            parse_public_keys(self.public_keys)
        except ValueError as error:
            raise ValidationError({"public_keys": str(error)}) from error

    def set_password(self, password: str) -> None:
        self.password = make_password(password)

    def check_password(self, password: str) -> bool:
        return bool(self.password) and check_password(password, self.password)


class UploadQuerySet(models.QuerySet["Upload"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(supplier=supplier)

    def waiting(self, supplier_id: int, path: str) -> Self:
        """Return the uploads of a path that the automatic import has not checked yet."""
        return self.filter(supplier_id=supplier_id, path=path, swept_at=None)

    def in_place(self) -> Self:
        """Return the uploads whose path in the area still has their content."""
        folder, name = (
            Func(OuterRef("path"), Value(rest), Value(""), function="regexp_replace")
            for rest in ("/?[^/]*$", "^.*/")
        )
        same = DirectoryEntry.objects.filter(supplier=OuterRef("supplier"), folder=folder, name=name)
        return self.filter(Exists(same.filter(blob__sha256=OuterRef("sha256"))))


class Upload(models.Model):
    """One complete upload into a supplier's area."""

    supplier = models.ForeignKey(Supplier, on_delete=models.CASCADE, related_name="uploads")
    path = models.CharField(max_length=500, help_text="Within the area, such as products/spring.csv")
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    uploaded_at = models.DateTimeField(db_default=Now())
    remote_address = models.GenericIPAddressField(null=True)
    swept_at = models.DateTimeField(
        null=True, editable=False, help_text="When the automatic import checked this file."
    )
    blob = models.ForeignKey(
        "sftp_ingest.Blob",
        on_delete=models.PROTECT,
        null=True,
        editable=False,
        related_name="uploads",
        db_index=False,  # the index `upload_unswept_blob` is smaller: it omits rows without a blob
        help_text="The content until the automatic import has checked it, also after another upload.",
    )

    objects = UploadQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index("supplier", "id", name="upload_of_supplier"),
            models.Index("id", condition=Q(swept_at=None), name="upload_unswept"),
            models.Index("uploaded_at", name="upload_by_time"),
            HashIndex("path", name="upload_path"),
            models.Index(folded(file_name("path")), name="upload_file_folded"),
            HashIndex("sha256", name="upload_content"),
            models.Index("blob", condition=Q(blob__isnull=False), name="upload_unswept_blob"),
        ]

    def __str__(self) -> str:
        return self.path

    @property
    def replaced(self) -> bool:
        """Tell whether a later upload has the same path."""
        later = Upload.objects.filter(supplier_id=self.supplier_id, path=self.path, pk__gt=self.pk)
        return later.exists()


class BlobQuerySet(models.QuerySet["Blob"]):
    def unnamed(self) -> Self:
        """Return the blobs that no row of any app refers to."""
        unnamed = self
        for relation in Blob._meta.related_objects:
            refers = relation.related_model._default_manager.filter(**{relation.field.name: OuterRef("pk")})
            unnamed = unnamed.filter(~Exists(refers))
        return unnamed


class Blob(models.Model):
    """The content of a file in an area or of an import job. A complete blob never changes."""

    store = models.CharField(max_length=10, help_text="The store of the content: local or s3.")
    size = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)
    completed_at = models.DateTimeField(null=True)
    unused_at = models.DateTimeField(
        null=True, db_default=Now(), help_text="When the last reference may have been removed."
    )

    objects = BlobQuerySet.as_manager()

    class Meta:
        indexes = [models.Index("unused_at", condition=Q(unused_at__isnull=False), name="blob_unused")]

    def __str__(self) -> str:
        return f"blob {self.pk}"


class DroppedBlob(models.Model):
    """A deleted blob. Its store must still delete the content."""

    number = models.BigIntegerField(primary_key=True)
    store = models.CharField(max_length=10)

    def __str__(self) -> str:
        return f"blob {self.number}"


class UploadArea(models.Model):
    """The used bytes of a supplier's area. Every change in the area locks this row."""

    supplier = models.OneToOneField(
        Supplier, on_delete=models.CASCADE, primary_key=True, related_name="upload_area"
    )
    used_bytes = models.BigIntegerField(
        default=0, help_text="Bytes of the files, and bytes reserved for open uploads."
    )

    def __str__(self) -> str:
        return f"upload area of supplier {self.supplier_id}"


class DirectoryEntry(models.Model):
    """A file or a folder in an upload area. The content of a file is a blob."""

    supplier = models.ForeignKey(Supplier, on_delete=models.CASCADE, related_name="entries")
    folder = models.CharField(max_length=500, blank=True, help_text="The path of the parent folder.")
    name = models.CharField(max_length=255)
    blob = models.ForeignKey(Blob, null=True, on_delete=models.PROTECT, related_name="entries")
    size = models.PositiveBigIntegerField(default=0)
    accessed = models.BigIntegerField(help_text="Seconds since 1970, as clients set them.")
    modified = models.BigIntegerField(help_text="Seconds since 1970, as clients set them.")

    class Meta:
        db_table = "sftp_ingest_entry"
        verbose_name_plural = "directory entries"
        constraints = [
            models.UniqueConstraint("supplier", "folder", "name", name="entry_once"),
            models.CheckConstraint(condition=~Q(name=""), name="entry_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.path

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}" if self.folder else self.name

    @property
    def is_folder(self) -> bool:
        return self.blob_id is None


class OpenUpload(models.Model):
    """An unfinished upload: in progress in one server, or interrupted and kept for a day for its login."""

    blob = models.OneToOneField(Blob, on_delete=models.PROTECT, primary_key=True, related_name="open_upload")
    supplier = models.ForeignKey(Supplier, on_delete=models.CASCADE, related_name="open_uploads")
    login = models.ForeignKey(SftpLogin, on_delete=models.CASCADE, related_name="open_uploads")
    path = models.CharField(max_length=500)
    holder = models.CharField(
        max_length=32,
        blank=True,
        help_text="The open file that writes the upload; empty after its connection was lost.",
    )
    kept_size = models.PositiveBigIntegerField(
        default=0, help_text="The bytes that are kept if the server ends."
    )
    kept_notes = models.JSONField(null=True, help_text="What the store needs to continue the upload.")
    reserved_bytes = models.PositiveBigIntegerField(default=0, help_text="Bytes of the area's quota.")
    heard_at = models.DateTimeField(db_default=Now(), help_text="When the last bytes arrived.")

    class Meta:
        indexes = [
            models.Index("login", "path", name="open_upload_of_login"),
            models.Index("heard_at", name="open_upload_by_time"),
        ]

    def __str__(self) -> str:
        return self.path


class RemoteHost(models.Model):
    """A supplier's own SFTP server, registered by an operator with its host key."""

    supplier = models.ForeignKey(Supplier, on_delete=models.CASCADE, related_name="remote_hosts")
    host = models.CharField(max_length=255)
    port = models.PositiveIntegerField(default=22)
    host_key = models.TextField(help_text="As in known_hosts, without the name: ssh-ed25519 AAAA…")
    username = models.CharField(max_length=100)
    password = models.CharField(
        max_length=500, blank=True, help_text="Stored encrypted and never shown again."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "supplier",
                "host",
                "port",
                name="remote_host_once",
                violation_error_message="The supplier has this host and port already."
                " Change that host instead.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    def clean(self) -> None:
        """Refuse a host that cannot exist, and an invalid key, which could not verify the host."""
        self.host = self.host.strip().lower()
        try:
            self.host.encode("idna")
        except UnicodeError as error:
            raise ValidationError({"host": "Is not the name or the address of a host."}) from error
        if self.port is not None and not 1 <= self.port <= LARGEST_PORT:
            raise ValidationError({"port": f"Must be between 1 and {LARGEST_PORT}."})
        try:
            parse_public_key(self.host_key)
        except ValueError as error:
            raise ValidationError({"host_key": str(error)}) from error

    def set_password(self, password: str) -> None:
        """Set the password, encrypted, without saving the row."""
        self.password = encrypt(password)

    def read_password(self) -> str:
        """Return the decrypted password. Raises ValueError if SECRET_KEY has changed."""
        return decrypt(self.password) if self.password else ""
