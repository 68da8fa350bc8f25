"""Models of the parties: suppliers, retailers, their partnerships and their API keys (contract 1)."""

from accounts.models.access_token import AccessToken
from accounts.models.api_key import ApiKey, validate_network
from accounts.models.credential import Credential, hash_secret
from accounts.models.idempotency_key import IdempotencyKey
from accounts.models.operator_action import OperatorAction, OperatorActionRow, Result
from accounts.models.operator_note import OperatorNote
from accounts.models.partnership import (
    CancelationDefault,
    Partnership,
    PartnershipQuerySet,
    ServiceType,
    WhenShort,
    all_service_types,
)
from accounts.models.party import OfOneParty, Party, Retailer, Supplier, of_one_party
from accounts.models.suspension import Suspension

__all__ = [
    "AccessToken",
    "ApiKey",
    "CancelationDefault",
    "Credential",
    "IdempotencyKey",
    "OfOneParty",
    "OperatorAction",
    "OperatorActionRow",
    "OperatorNote",
    "Partnership",
    "PartnershipQuerySet",
    "Party",
    "Result",
    "Retailer",
    "ServiceType",
    "Supplier",
    "Suspension",
    "WhenShort",
    "all_service_types",
    "hash_secret",
    "of_one_party",
    "validate_network",
]
