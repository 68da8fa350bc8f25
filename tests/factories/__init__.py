"""Rows for tests with only the required values: one file per app."""

from tests.factories.accounts import (
    ContactFactory,
    ContactMessageFactory,
    IdempotencyKeyFactory,
    InvitationFactory,
    IssuedKeyFactory,
    MailSubscriptionFactory,
    MemberFactory,
    OperatorActionFactory,
    PartnershipFactory,
    RetailerFactory,
    SavedViewFactory,
    StaffFactory,
    SupplierFactory,
    SuspensionFactory,
    UserFactory,
)
from tests.factories.backoffice import (
    DigestFactory,
    MessageTemplateFactory,
    RecordCommentFactory,
    ServicePartFactory,
)
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
    "ContactFactory",
    "ContactMessageFactory",
    "DailySumFactory",
    "DeliveryFactory",
    "DigestFactory",
    "DirectoryEntryFactory",
    "IdempotencyKeyFactory",
    "ImportDraftFactory",
    "ImportJobFactory",
    "InvitationFactory",
    "IssuedKeyFactory",
    "MailSubscriptionFactory",
    "MemberFactory",
    "MessageTemplateFactory",
    "OperatorActionFactory",
    "OrderFactory",
    "OrderLineFactory",
    "PartnershipFactory",
    "RecordCommentFactory",
    "RejectFactory",
    "RemoteHostFactory",
    "RetailerFactory",
    "ReturnFactory",
    "RoutingSimulationFactory",
    "SavedMappingFactory",
    "SavedViewFactory",
    "SenderFactory",
    "ServicePartFactory",
    "SftpLoginFactory",
    "ShipmentFactory",
    "SlipTemplateFactory",
    "StaffFactory",
    "StockLevelFactory",
    "SupplierFactory",
    "SuspensionFactory",
    "UploadFactory",
    "UserFactory",
    "VariantFactory",
    "WarehouseFactory",
    "WebhookFactory",
    "set_stock",
]
