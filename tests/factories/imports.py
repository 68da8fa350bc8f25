from __future__ import annotations

import factory
from django.utils import timezone

from catalog.importing.kind import PRODUCTS
from imports.models import AutoImport, ImportDraft, ImportJob, Reject, SavedMapping, Status
from sftp_ingest.area import contents
from tests.factories.accounts import SupplierFactory
from tests.factories.base import ModelFactory


class ImportJobFactory(ModelFactory[ImportJob]):
    class Meta:
        model = ImportJob

    supplier = factory.SubFactory(SupplierFactory)
    kind = PRODUCTS.name
    source = "products/a.csv"
    status = Status.QUEUED
    finished_at = factory.LazyAttribute(lambda job: timezone.now() if job.status == Status.FAILED else None)


class RejectFactory(ModelFactory[Reject]):
    class Meta:
        model = Reject

    job = factory.SubFactory(ImportJobFactory)
    line = 2
    code = "x"
    message = "m"


class AutoImportFactory(ModelFactory[AutoImport]):
    class Meta:
        model = AutoImport

    supplier = factory.SubFactory(SupplierFactory)
    kind = PRODUCTS.name


class SavedMappingFactory(ModelFactory[SavedMapping]):
    class Meta:
        model = SavedMapping

    supplier = factory.SubFactory(SupplierFactory)
    kind = PRODUCTS.name
    name = factory.Sequence("mapping-{}".format)
    options = factory.LazyFunction(lambda: {"field_mapping": [{"source": "No", "field": "sku"}]})


class ImportDraftFactory(ModelFactory[ImportDraft]):
    class Meta:
        model = ImportDraft

    supplier = factory.SubFactory(SupplierFactory)
    kind = PRODUCTS.name
    name = "spring.csv"
    blob = factory.LazyFunction(lambda: contents.write([b"sku,title,retail_price\nA-1,Shirt,19.50\n"]))
