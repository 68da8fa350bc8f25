"""Stock files as a kind of import."""

from __future__ import annotations

from accounts.scopes import Scope
from imports.kinds import ImportKind, KindApi
from imports.shop_exports import OF_STOCK
from inventory.importing.bodies import AutoInventoryBody, ImportInventoryBody
from inventory.importing.form import StockForm
from inventory.importing.importer import StockImporter

INVENTORY = ImportKind(
    name="inventory",
    importer=StockImporter(),
    read_scope=Scope.INVENTORY_READ,
    write_scope=Scope.INVENTORY_WRITE,
    api=KindApi(
        path="importInventory",
        status=200,
        body=ImportInventoryBody,
        settings_body=AutoInventoryBody,
        files="stock files",
        description="Starts a job that sets `on_hand`; reserved units stay reserved. The counts are of the"
        " moment `as_of`, by default of the end of the file's upload: units shipped after it are subtracted,"
        " returned units are added. A row with a newer count is refused (`stale_count`).",
    ),
    content="how many are in stock",
    own_mappings=OF_STOCK,
    form=StockForm,
)
