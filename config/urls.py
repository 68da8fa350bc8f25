"""All paths of the service. The `urls` of an app list full paths; only `portal` lists paths below portal/."""

from django.contrib import admin
from django.urls import include, path

from api import docs, docs_site
from config import metrics
from config.health import views as health

urlpatterns = [
    path("", docs.home),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("statusz", health.statusz),
    path("metrics", metrics.metrics),
    path("v3/schema", docs.schema),
    path("v3/docs", docs.docs),
    path("v3/docs/<slug:name>", docs_site.moved),
    path("docs/", docs_site.page),
    path("docs/<path:path>", docs_site.page),
    path("", include("accounts.urls")),
    path("", include("events.urls")),
    path("", include("sftp_ingest.urls")),
    path("", include("imports.urls")),
    path("", include("catalog.urls")),
    path("", include("inventory.urls")),
    path("", include("assortment.urls")),
    path("", include("fulfillments.urls")),
    path("", include("orders.urls")),
    path("portal/", include("portal.urls")),
    path("", include("backoffice.urls")),
    path("admin/", admin.site.urls),
]

handler400 = "api.errors.bad_request"
handler403 = "backoffice.error_pages.permission_denied"
handler404 = "backoffice.error_pages.page_not_found"
handler500 = "backoffice.error_pages.server_error"
