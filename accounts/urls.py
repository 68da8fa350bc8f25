from django.urls import path

from accounts.views import RetailerProfileViewSet, SupplierProfileViewSet, TokenView

urlpatterns = [
    path("oauth/token", TokenView.as_view(), name="token"),
    path("v3/suppliers/<id:supplier_id>", SupplierProfileViewSet.as_view({"get": "retrieve"})),
    path("v3/retailers/<id:retailer_id>", RetailerProfileViewSet.as_view({"get": "retrieve"})),
]
