from django.urls import path

from assortment.views import AssortmentViewSet

urlpatterns = [
    path("v3/retailers/<id:retailer_id>/variants", AssortmentViewSet.as_view({"get": "pull"})),
]
