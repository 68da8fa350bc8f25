"""Models of the parties: suppliers, retailers, their partnerships and their API keys (contract 1)."""

from accounts.models.access_token import AccessToken
from accounts.models.api_key import ApiKey, validate_network
from accounts.models.contact import Contact
from accounts.models.contact_message import ContactMessage
from accounts.models.credential import Credential, hash_secret
from accounts.models.idempotency_key import IdempotencyKey
from accounts.models.mail_subscription import MailFrequency, MailSubscription
from accounts.models.member import Invitation, Member, member_names
from accounts.models.operator_action import IS_BULK, OperatorAction, OperatorActionRow, Result
from accounts.models.operator_note import OperatorNote
from accounts.models.partnership import (
    CancelationDefault,
    CancelBeforeCapture,
    Partnership,
    PartnershipQuerySet,
    ServiceType,
    WhenShort,
    all_service_types,
)
from accounts.models.party import (
    OfOneParty,
    Party,
    Retailer,
    Supplier,
    default_currency,
    of_one_party,
    validate_currency,
)
from accounts.models.saved_view import SavedView
from accounts.models.suspension import Suspension
from accounts.models.typed_draft import TypedDraft

__all__ = [
    "IS_BULK",
    "AccessToken",
    "ApiKey",
    "CancelBeforeCapture",
    "CancelationDefault",
    "Contact",
    "ContactMessage",
    "Credential",
    "IdempotencyKey",
    "Invitation",
    "MailFrequency",
    "MailSubscription",
    "Member",
    "OfOneParty",
    "OperatorAction",
    "OperatorActionRow",
    "OperatorNote",
    "Partnership",
    "PartnershipQuerySet",
    "Party",
    "Result",
    "Retailer",
    "SavedView",
    "ServiceType",
    "Supplier",
    "Suspension",
    "WhenShort",
    "all_service_types",
    "default_currency",
    "hash_secret",
    "member_names",
    "of_one_party",
    "validate_currency",
    "validate_network",
    "TypedDraft",
]
