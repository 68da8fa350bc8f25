"""The import kind of the files in `tracking/`."""

from __future__ import annotations

from accounts.scopes import Scope
from fulfillments.files.tracking import TrackingImporter
from imports.kinds import ImportKind

FULFILLMENTS = ImportKind(
    name="fulfillments",
    importer=TrackingImporter(),
    read_scope=Scope.FULFILLMENTS_READ,
    write_scope=Scope.FULFILLMENTS_WRITE,
    folder="tracking",
    done_elsewhere="Report shipments on the order's page instead.",
)
