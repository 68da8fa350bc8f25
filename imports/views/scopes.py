"""The scopes of import jobs, which depend on the kind of the job."""

from __future__ import annotations

from collections.abc import Mapping

from accounts.authentication import Access
from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from imports.kinds import ImportKind, all_kinds


class JobsOfScopes(SupplierViewSet):
    """The base view of jobs: product jobs need catalog scopes, stock jobs inventory scopes, and so on."""

    def admit(self, access: Access, kwargs: Mapping[str, object]) -> None:
        self.kinds = [kind.name for kind in all_kinds() if self.scope_of(kind) in access.scopes]
        super().admit(access, kwargs)

    def scope_of(self, kind: ImportKind) -> Scope:
        """Return the scope that this request needs for jobs of a kind."""
        reads = self.request.method in ("GET", "HEAD", "OPTIONS")
        return kind.read_scope if reads else kind.write_scope

    def needed_scope(self) -> Scope | None:
        """Return the scope of a kind that the key may use. `find` checks the scope of the job's own kind."""
        admitted = [kind for kind in all_kinds() if kind.name in self.kinds]
        return self.scope_of([*admitted, *all_kinds()][0])
