"""The scopes of import jobs, by the content of their file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.authentication import Access
from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from imports.models import Kind

READS = {
    Kind.PRODUCTS: Scope.CATALOG_READ,
    Kind.INVENTORY: Scope.INVENTORY_READ,
    Kind.FULFILLMENTS: Scope.FULFILLMENTS_READ,
}
WRITES = {
    Kind.PRODUCTS: Scope.CATALOG_WRITE,
    Kind.INVENTORY: Scope.INVENTORY_WRITE,
    Kind.FULFILLMENTS: Scope.FULFILLMENTS_WRITE,
}


class JobsOfScopes(SupplierViewSet):
    """The base view of jobs: product jobs need catalog scopes, stock jobs inventory scopes, and so on."""

    def admit(self, access: Access, kwargs: Mapping[str, Any]) -> None:
        self.kinds = [kind for kind, scope in self._scopes().items() if scope in access.scopes]
        super().admit(access, kwargs)

    def _scopes(self) -> Mapping[Kind, Scope]:
        return READS if self.request.method in ("GET", "HEAD", "OPTIONS") else WRITES

    def needed_scope(self) -> Scope | None:
        """Return any of the job scopes; the needed scope is known once the job is found."""
        return self._scopes()[self.kinds[0] if self.kinds else Kind.PRODUCTS]
