"""The needs of a partner. The partner can trade when all its needs are met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from accounts.models import ApiKey, Retailer, Supplier
from catalog.models import Variant
from inventory.models import StockLevel, Warehouse
from sftp_ingest.models import SftpLogin


@dataclass(frozen=True)
class Need:
    """Something that a partner must have before it can trade, with the link to the page that adds it."""

    name: str
    is_met: bool
    url: str
    label: str
    permission: str


def needs_of(party: Supplier | Retailer) -> list[Need]:
    """Return the needs of a partner, in the order in which a new partner gets them.

    Takes at most six queries.
    """
    return [*(_needs_of_supplier(party) if isinstance(party, Supplier) else _needs_of_retailer(party))]


def _needs_of_supplier(supplier: Supplier) -> Iterator[Need]:
    warehouses = Warehouse.objects.filter(supplier=supplier).order_by()
    yield _need("A warehouse", warehouses.exists(), "inventory.warehouse", "Add warehouse", supplier)
    yield _partner(supplier, "A retailer that it trades with")
    login = SftpLogin.objects.filter(supplier=supplier, is_active=True)
    connected = login.exists() or _usable_keys(supplier).exists()
    yield _need("An API key or an SFTP login", connected, "accounts.apikey", "Issue API key", supplier)
    listed = Variant.objects.filter(supplier=supplier, listed=True).order_by()
    yield _import("A listed variant", listed.exists(), supplier)
    stocked = StockLevel.objects.filter(warehouse__supplier=supplier, on_hand__gt=F("reserved")).order_by()
    yield _import("Stock", stocked.exists(), supplier)


def _needs_of_retailer(retailer: Retailer) -> Iterator[Need]:
    yield _partner(retailer, "A supplier that it trades with")
    key = _usable_keys(retailer).exists()
    yield _need("A usable API key", key, "accounts.apikey", "Issue API key", retailer)
    partners = retailer.partnerships.trading().values("supplier")
    listed = Variant.objects.filter(supplier__in=partners, listed=True).order_by().exists()
    url = reverse("admin:catalog_variant_changelist")
    yield Need("A listed variant of a partner", listed, url, "View variants", "catalog.view_variant")


def _partner(party: Supplier | Retailer, name: str) -> Need:
    trading = party.partnerships.trading().exists()
    return _need(name, trading, "accounts.partnership", "Add partnership", party)


def _usable_keys(party: Supplier | Retailer) -> Any:
    running = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return ApiKey.objects.filter(running, revoked_at=None, **{party.role.value: party})


def _need(name: str, is_met: bool, model: str, label: str, party: Supplier | Retailer) -> Need:
    app, _, model_name = model.partition(".")
    url = f"{reverse(f'admin:{app}_{model_name}_add')}?{urlencode({party.role.value: party.pk})}"
    return Need(name, is_met, url, label, f"{app}.add_{model_name}")


def _import(name: str, is_met: bool, supplier: Supplier) -> Need:
    url = f"{reverse('admin:import_upload')}?supplier={supplier.pk}"
    return Need(name, is_met, url, "Import file", "imports.change_importjob")
