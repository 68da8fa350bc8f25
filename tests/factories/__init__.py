"""Rows for tests with only the required values: one file per app."""

from tests.factories.accounts import (
    ContactFactory,
    ContactMessageFactory,
    IdempotencyKeyFactory,
    InvitationFactory,
    IssuedKeyFactory,
    MemberFactory,
    OperatorActionFactory,
    PartnershipFactory,
    RetailerFactory,
    StaffFactory,
    SupplierFactory,
    UserFactory,
)
from tests.factories.backoffice import DigestFactory, MessageTemplateFactory
from tests.factories.catalog import VariantFactory
from tests.factories.events import DeliveryFactory, SenderFactory, WebhookFactory
from tests.factories.fulfillments import (
    DailySumFactory,
    ReturnFactory,
    RoutingSimulationFactory,
    ShipmentFactory,
    SlipTemplateFactory,
)
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
    "ContactFactory",
    "ContactMessageFactory",
    "DigestFactory",
    "MessageTemplateFactory",
    "IdempotencyKeyFactory",
    "ImportDraftFactory",
    "ImportJobFactory",
    "InvitationFactory",
    "IssuedKeyFactory",
    "MemberFactory",
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
    "ReturnFactory",
    "ShipmentFactory",
    "SlipTemplateFactory",
    "SftpLoginFactory",
    "StaffFactory",
    "StockLevelFactory",
    "SupplierFactory",
    "UploadFactory",
    "UserFactory",
    "DirectoryEntryFactory",
    "VariantFactory",
    "WarehouseFactory",
    "WebhookFactory",
    "set_stock",
]
