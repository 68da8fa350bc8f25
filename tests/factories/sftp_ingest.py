from __future__ import annotations

import factory
from django.contrib.auth.hashers import make_password

from accounts.encryption import encrypt
from sftp_ingest.models import DirectoryEntry, RemoteHost, SftpLogin, Upload
from tests.factories.accounts import SupplierFactory
from tests.factories.base import ModelFactory


class SftpLoginFactory(ModelFactory[SftpLogin]):
    """A login without password and keys, so it opens nothing until a test sets one of them."""

    class Meta:
        model = SftpLogin

    supplier = factory.SubFactory(SupplierFactory)
    username = factory.LazyAttribute(lambda login: login.supplier.name.lower())
    password = factory.Transformer("", transform=lambda given: given and make_password(given))


class UploadFactory(ModelFactory[Upload]):
    class Meta:
        model = Upload

    supplier = factory.SubFactory(SupplierFactory)
    path = "products/a.csv"
    size = 1
    sha256 = "0" * 64


class DirectoryEntryFactory(ModelFactory[DirectoryEntry]):
    """An entry of an upload area: a file if it has a blob, otherwise a folder."""

    class Meta:
        model = DirectoryEntry

    supplier = factory.SubFactory(SupplierFactory)
    name = factory.Sequence("{}.csv".format)
    accessed = modified = 0


class RemoteHostFactory(ModelFactory[RemoteHost]):
    class Meta:
        model = RemoteHost

    supplier = factory.SubFactory(SupplierFactory)
    host = "files.acme.example"
    username = "out"
    password = factory.Transformer("", transform=lambda given: given and encrypt(given))
