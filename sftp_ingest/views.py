"""`/v3/suppliers/{id}/uploads`."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import Access
from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from api.pagination import Keyset
from api.schema import CURSOR, LIMIT, answers
from sftp_ingest.models import Upload
from sftp_ingest.serializers import UploadJson, upload_json


class UploadViewSet(SupplierViewSet):
    """The complete uploads of a supplier, for keys that may read the catalog or the stock."""

    read_scope = write_scope = Scope.CATALOG_READ

    def needed_scope(self) -> Scope:
        access = self.request.auth
        assert isinstance(access, Access)  # `initial` refuses requests without a key
        return Scope.INVENTORY_READ if Scope.INVENTORY_READ in access.scopes else Scope.CATALOG_READ

    @extend_schema(
        summary="List complete uploads, newest first",
        description="Needs the scope catalog:read or inventory:read.",
        parameters=[LIMIT, CURSOR],
        responses={200: answers(UploadJson, "The uploads; the next page is in the Link header.", many=True)},
    )
    def list(self, request: Request, supplier_id: int) -> Response:
        page = Keyset("-id").page(Upload.objects.for_supplier(self.supplier), request)
        return Response([upload_json(upload) for upload in page.items], headers=page.headers)
