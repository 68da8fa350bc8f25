from django.urls import path

from sftp_ingest.views import UploadViewSet

urlpatterns = [
    path("v3/suppliers/<id:supplier_id>/uploads", UploadViewSet.as_view({"get": "list"})),
]
