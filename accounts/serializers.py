"""Bodies of requests and responses for tokens and profiles."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from rest_framework import serializers

from accounts.models import CancelBeforeCapture, Partnership, Retailer, Supplier
from api.envelope import ErrorJson
from api.renderers import iso


class TokenJson(TypedDict):
    """A successful response to a token request (RFC 6749, section 5.1)."""

    access_token: str
    token_type: str
    expires_in: int
    scope: str


class TokenErrorJson(ErrorJson):
    """An error of a token request (RFC 6749, section 5.2), with the members of all other errors."""

    error: NotRequired[str]
    error_description: NotRequired[str]


class TokenBody(serializers.Serializer[None]):
    """The parameters of a token request."""

    # Only the OpenAPI schema uses this serializer: `accounts.oauth` reads the request itself.

    grant_type = serializers.ChoiceField(["client_credentials"])
    client_id = serializers.CharField(required=False, help_text="Or HTTP Basic.")
    client_secret = serializers.CharField(required=False, help_text="Or HTTP Basic.")
    scope = serializers.CharField(
        required=False, help_text="Space-separated, such as `catalog:read` or `read:variants`."
    )


class SupplierPartnerJson(TypedDict):
    """A retailer that a supplier trades with."""

    retailer_id: int
    retailer_name: str
    retailer_erp_id: str
    retailer_shipper_account: str
    service_types: list[str]
    is_active: bool
    cancel_before_capture: CancelBeforeCapture


class SupplierJson(TypedDict):
    """A supplier's own profile (contract 10)."""

    id: int
    name: str
    currency: str
    created_at: str
    partnerships: list[SupplierPartnerJson]


class RetailerPartnerJson(TypedDict):
    """A supplier that a retailer trades with."""

    supplier_id: int
    supplier_name: str
    service_types: list[str]
    is_active: bool
    cancel_before_capture: CancelBeforeCapture


class RetailerJson(TypedDict):
    """A retailer's own profile."""

    id: int
    name: str
    currency: str
    created_at: str
    partnerships: list[RetailerPartnerJson]


def supplier_json(supplier: Supplier) -> SupplierJson:
    partnerships = supplier.partnerships.select_related("retailer").order_by("retailer_id")
    return {
        "id": supplier.pk,
        "name": supplier.name,
        "currency": supplier.currency,
        "created_at": iso(supplier.created_at),
        "partnerships": [_of_supplier(partnership) for partnership in partnerships],
    }


def _of_supplier(partnership: Partnership) -> SupplierPartnerJson:
    return {
        "retailer_id": partnership.retailer.pk,
        "retailer_name": partnership.retailer.name,
        "retailer_erp_id": partnership.retailer_erp_id,
        "retailer_shipper_account": partnership.retailer_shipper_account,
        "service_types": list(partnership.service_types),
        "is_active": partnership.is_trading,
        "cancel_before_capture": CancelBeforeCapture(partnership.cancel_before_capture),
    }


def retailer_json(retailer: Retailer) -> RetailerJson:
    partnerships = retailer.partnerships.select_related("supplier").order_by("supplier_id")
    return {
        "id": retailer.pk,
        "name": retailer.name,
        "currency": retailer.currency,
        "created_at": iso(retailer.created_at),
        "partnerships": [_of_retailer(partnership) for partnership in partnerships],
    }


def _of_retailer(partnership: Partnership) -> RetailerPartnerJson:
    return {
        "supplier_id": partnership.supplier.pk,
        "supplier_name": partnership.supplier.name,
        "service_types": list(partnership.service_types),
        "is_active": partnership.is_trading,
        "cancel_before_capture": CancelBeforeCapture(partnership.cancel_before_capture),
    }
