"""URLs of the portal's pages, below /portal/. The URL of each record's page contains the record's id."""

from __future__ import annotations

from django.urls import path

from portal.buying import catalog, returns, suppliers
from portal.buying import views as buying
from portal.connections import views as connections
from portal.entry import views as entry
from portal.files import views as files
from portal.files.draft_page import DraftPage
from portal.files.list_page import FilesPage
from portal.messages import views as messages
from portal.notifications.views import NotificationsPage, StopMailsPage
from portal.products import views as products
from portal.stock.paste_page import PasteCountsPage
from portal.stock.views import StockPage
from portal.supplying import returns as supplier_returns
from portal.supplying import views as supplying
from portal.supplying.orders_list import ManyOrdersPage, SupplierOrdersPage
from portal.supplying.parcels import ParcelActionPage
from portal.supplying.performance import PerformancePage
from portal.supplying.quick_ship_page import QuickShipPage
from portal.supplying.slips import PackingSlipPage, PackingSlipsPage
from portal.team import views as team
from portal.today import TodayPage

app_name = "portal"

urlpatterns = [
    path("", TodayPage.as_view(), name="today"),
    path("choose/", entry.ChoosePage.as_view(), name="choose"),
    path("account/", entry.SignOutPage.as_view(), name="account"),
    path("end-visit/", entry.EndVisitPage.as_view(), name="end_visit"),
    path("invitation/<str:token>/", entry.InvitationPage.as_view(), name="invitation"),
    path("files/", FilesPage.as_view(), name="files"),
    path("files/drafts/<id:pk>/", DraftPage.as_view(), name="file_draft"),
    path("files/<id:pk>/", files.FilePage.as_view(), name="file"),
    path("files/<id:pk>/correct/", files.RejectedRowsPage.as_view(), name="file_correct"),
    path("files/<id:pk>/errors/", files.ErrorFilePage.as_view(), name="file_errors"),
    path("files/<id:pk>/do/<slug:action>/", files.FileActionPage.as_view(), name="file_do"),
    path("orders/", SupplierOrdersPage.as_view(), name="supplier_orders"),
    path("orders/many/<id:pk>/", ManyOrdersPage.as_view(), name="supplier_orders_bulk"),
    path("orders/slips/", PackingSlipsPage.as_view(), name="packing_slips"),
    path("orders/<id:pk>/", supplying.SupplierOrderPage.as_view(), name="supplier_order"),
    path("orders/<id:pk>/slip/", PackingSlipPage.as_view(), name="packing_slip"),
    path("orders/parcels/<id:pk>/do/<slug:action>/", ParcelActionPage.as_view(), name="parcel_do"),
    path(
        "orders/<id:pk>/do/<slug:action>/",
        supplying.SupplierOrderActionPage.as_view(),
        name="supplier_order_do",
    ),
    path("returns/", supplier_returns.SupplierReturnsPage.as_view(), name="supplier_returns"),
    path("returns/<id:pk>/", supplier_returns.SupplierReturnPage.as_view(), name="supplier_return"),
    path(
        "returns/<id:pk>/do/<slug:action>/",
        supplier_returns.ReturnActionPage.as_view(),
        name="supplier_return_do",
    ),
    path("performance/", PerformancePage.as_view(), name="performance"),
    path("quick-ship/", QuickShipPage.as_view(), name="quick_ship"),
    path("products/", products.ProductsPage.as_view(), name="products"),
    path("products/<id:pk>/", products.ProductPage.as_view(), name="product"),
    path("products/<id:pk>/do/<slug:action>/", products.ProductActionPage.as_view(), name="product_do"),
    path("stock/", StockPage.as_view(), name="stock"),
    path("stock/paste/", PasteCountsPage.as_view(), name="paste_counts"),
    path("purchases/", buying.RetailerOrdersPage.as_view(), name="retailer_orders"),
    path("purchases/<id:pk>/", buying.RetailerOrderPage.as_view(), name="retailer_order"),
    path(
        "purchases/<id:pk>/do/<slug:action>/",
        buying.RetailerOrderActionPage.as_view(),
        name="retailer_order_do",
    ),
    path("catalog/", catalog.CatalogPage.as_view(), name="catalog"),
    path("catalog/<id:pk>/", catalog.CatalogProductPage.as_view(), name="catalog_product"),
    path("suppliers/", suppliers.SuppliersPage.as_view(), name="suppliers"),
    path("suppliers/<id:pk>/", suppliers.SupplierPage.as_view(), name="supplier"),
    path("returned/", returns.RetailerReturnsPage.as_view(), name="retailer_returns"),
    path("returned/<id:pk>/", returns.RetailerReturnPage.as_view(), name="retailer_return"),
    path("messages/", messages.MessagesPage.as_view(), name="messages"),
    path("messages/<id:pk>/", messages.MessagePage.as_view(), name="message"),
    path("messages/<id:pk>/do/<slug:action>/", messages.MessageActionPage.as_view(), name="message_do"),
    path("notifications/<slug:action>/", NotificationsPage.as_view(), name="notifications"),
    path("stop-mails/<str:token>/", StopMailsPage.as_view(), name="stop_mails"),
    path("team/", team.TeamPage.as_view(), name="team"),
    path("team/do/<slug:action>/", team.PartyActionPage.as_view(), name="party_do"),
    path("team/members/<id:pk>/do/<slug:action>/", team.MemberActionPage.as_view(), name="member_do"),
    path(
        "team/invitations/<id:pk>/do/<slug:action>/",
        team.InvitationActionPage.as_view(),
        name="invitation_do",
    ),
    path("connections/", connections.ConnectionsPage.as_view(), name="connections"),
    path("connections/do/<slug:action>/", connections.PartyConnectionPage.as_view(), name="connections_do"),
    path("connections/keys/<id:pk>/do/<slug:action>/", connections.KeyActionPage.as_view(), name="key_do"),
    path("connections/webhooks/<id:pk>/", connections.WebhookPage.as_view(), name="webhook"),
    path(
        "connections/webhooks/<id:pk>/do/<slug:action>/",
        connections.WebhookActionPage.as_view(),
        name="webhook_do",
    ),
    path("connections/sftp/do/<slug:action>/", connections.CreateLoginPage.as_view(), name="sftp_do"),
    path(
        "connections/sftp/<id:pk>/do/<slug:action>/", connections.LoginActionPage.as_view(), name="login_do"
    ),
    path("connections/imports/do/<slug:action>/", connections.SetUpImportPage.as_view(), name="imports_do"),
    path(
        "connections/imports/<id:pk>/do/<slug:action>/",
        connections.AutoImportActionPage.as_view(),
        name="auto_import_do",
    ),
]
