from __future__ import annotations

import factory

from imports.models import AutoImport, ImportDraft, ImportJob, Kind, Reject, SavedMapping
from sftp_ingest.area import contents
from tests.factories.accounts import SupplierFactory
from tests.factories.base import ModelFactory


class ImportJobFactory(ModelFactory[ImportJob]):
    class Meta:
        model = ImportJob

    supplier = factory.SubFactory(SupplierFactory)
    kind = Kind.PRODUCTS
    source = "products/a.csv"


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
    kind = Kind.PRODUCTS


class SavedMappingFactory(ModelFactory[SavedMapping]):
    class Meta:
        model = SavedMapping

    supplier = factory.SubFactory(SupplierFactory)
    name = factory.Sequence("mapping-{}".format)
    options = factory.LazyFunction(lambda: {"field_mapping": [{"source": "No", "field": "sku"}]})


class ImportDraftFactory(ModelFactory[ImportDraft]):
    class Meta:
        model = ImportDraft

    supplier = factory.SubFactory(SupplierFactory)
    kind = Kind.PRODUCTS
    name = "spring.csv"
    blob = factory.LazyFunction(lambda: contents.write([b"sku,title,retail_price\nA-1,Shirt,19.50\n"]))
