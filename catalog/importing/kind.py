"""Product files as a kind of import."""

from __future__ import annotations

from accounts.scopes import Scope
from catalog.importing.bodies import AutoProductsBody, ImportProductsBody
from catalog.importing.importer import ProductImporter
from imports.kinds import ImportKind, KindApi

PRODUCTS = ImportKind(
    name="products",
    importer=ProductImporter(),
    read_scope=Scope.CATALOG_READ,
    write_scope=Scope.CATALOG_WRITE,
    api=KindApi(
        path="importProducts",
        status=201,
        body=ImportProductsBody,
        settings_body=AutoProductsBody,
        files="product files",
        description="Starts a job: `file_url` names a CSV file in the upload area or on a registered host,"
        " or `data` holds its lines. Good rows are imported, bad rows are reported.",
    ),
    content="titles, prices, pictures",
    has_saved_mappings=True,
)
