"""Rows for tests with only the required values: one file per app."""

from tests.factories.accounts import (
    IdempotencyKeyFactory,
    IssuedKeyFactory,
    OperatorActionFactory,
    PartnershipFactory,
    RetailerFactory,
    StaffFactory,
    SupplierFactory,
)
from tests.factories.backoffice import DigestFactory
from tests.factories.catalog import VariantFactory
from tests.factories.events import DeliveryFactory, SenderFactory, WebhookFactory
from tests.factories.fulfillments import DailySumFactory, RoutingSimulationFactory
from tests.factories.imports import (
    AutoImportFactory,
    ImportDraftFactory,
    ImportJobFactory,
    RejectFactory,
    SavedMappingFactory,
)
from tests.factories.inventory import StockLevelFactory, WarehouseFactory, set_stock
from tests.factories.orders import OrderFactory, OrderLineFactory
from tests.factories.sftp_ingest import (
    DirectoryEntryFactory,
    RemoteHostFactory,
    SftpLoginFactory,
    UploadFactory,
)

__all__ = [
    "AutoImportFactory",
    "DailySumFactory",
    "DeliveryFactory",
    "DigestFactory",
    "IdempotencyKeyFactory",
    "ImportDraftFactory",
    "ImportJobFactory",
    "IssuedKeyFactory",
    "OperatorActionFactory",
    "OrderFactory",
    "OrderLineFactory",
    "PartnershipFactory",
    "RejectFactory",
    "RemoteHostFactory",
    "RetailerFactory",
    "RoutingSimulationFactory",
    "SavedMappingFactory",
    "SenderFactory",
    "SftpLoginFactory",
    "StaffFactory",
    "StockLevelFactory",
    "SupplierFactory",
    "UploadFactory",
    "DirectoryEntryFactory",
    "VariantFactory",
    "WarehouseFactory",
    "WebhookFactory",
    "set_stock",
]
