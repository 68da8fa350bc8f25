"""The panels of suppliers' and retailers' pages. Other apps register their own panels for the same tabs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone

from accounts.models import ApiKey, Retailer, Supplier
from accounts.operating import record_panels
from accounts.operating.admin_filters import FieldIs, list_url
from accounts.operating.record_panels import Panel
from backoffice.navigation.counting import capped
from backoffice.partners import packing_slips
from backoffice.partners.readiness import needs_of
from backoffice.suspending.pages import suspension_context
from catalog.models import Variant
from events.models import ACCOUNTS, Event, Webhook
from events.timeline import event_entries, remark_entries
from fulfillments.models import Fulfillment
from fulfillments.scorecard.selectors import Scorecard, last_feed
from fulfillments.states import State
from imports.models import AutoImport, ImportJob, ImportPolicy
from inventory.models import StockLevel, Warehouse
from orders.models import Order
from orders.processing_state import ProcessingState
from portal.team.selectors import team
from sftp_ingest.models import RemoteHost, SftpLogin

MOST = 100
"""The maximum number of rows in a panel, such as keys or partnerships. The admin lists show all rows."""
NEWEST = 15
MOST_EVENTS = 50
DAYS = 30
Partner = Supplier | Retailer


def _shown(template: str, read: Callable[[Any], dict[str, object]]) -> Callable[[Any, HttpRequest], str]:
    """Return the `render` function of a panel: it renders a template with the result of `read(party)`."""

    def render(party: Partner, request: HttpRequest) -> str:
        context = {"party": party, "role": party.role.value, **read(party)}
        return render_to_string(f"admin/partner/{template}.html", context, request)

    return render


def _readiness(party: Partner, request: HttpRequest) -> str:
    """Render the needs of a partner. Return an empty text if all needs are met."""
    needs = needs_of(party)
    if all(need.is_met for need in needs):
        return ""
    allowed = [need.permission for need in needs if request.user.has_perm(need.permission)]
    return render_to_string("admin/partner/readiness.html", {"needs": needs, "allowed": allowed}, request)


def _supplier_numbers(supplier: Supplier) -> dict[str, object]:
    return {"card": Scorecard.of(supplier, DAYS)}


def _members(party: Partner) -> dict[str, object]:
    return {"members": team(party)[:MOST], "invite_url": f"admin:accounts_{party.role}_do"}


def _retailer_numbers(retailer: Retailer) -> dict[str, object]:
    return {
        "states": _counted(
            Order, "processing_state", ProcessingState.values, FieldIs("retailer__id", str(retailer.pk))
        )
    }


def _fulfillments(supplier: Supplier) -> dict[str, object]:
    own = FieldIs("supplier__id", str(supplier.pk))
    newest = Fulfillment.objects.for_supplier(supplier).select_related("order__retailer")
    return {
        "states": _counted(Fulfillment, "state", State.values, own),
        "rows": newest.order_by("-id")[:NEWEST],
        "url": list_url(Fulfillment, [own]),
    }


def _orders(retailer: Retailer) -> dict[str, object]:
    own = FieldIs("retailer__id", str(retailer.pk))
    return {
        "states": _counted(Order, "processing_state", ProcessingState.values, own),
        "rows": Order.objects.for_retailer(retailer).order_by("-created_at")[:NEWEST],
        "url": list_url(Order, [own]),
    }


def _counted(model: Any, field: str, states: list[str], own: FieldIs) -> list[tuple[str, str, str]]:
    """Return, for each state with rows, its name, its count (up to a hundred) and the URL of its list.

    The query for each state reads about a hundred index entries. A single query for all states would read
    all rows of the party.
    """
    found = []
    for state in states:
        filters = [own, FieldIs(field, state)]
        rows: QuerySet[Any] = model.objects.filter(**{each.field: each.value for each in filters})
        count = capped(rows.order_by()[:101].count())
        if count:
            found.append((state, count, list_url(model, filters)))
    return found


def _warehouses(supplier: Supplier) -> dict[str, object]:
    overpromised = StockLevel.objects.filter(warehouse__supplier=supplier, overpromised=True)
    return {
        "warehouses": Warehouse.objects.filter(supplier=supplier).order_by("id")[:MOST],
        "fed_at": last_feed(supplier),
        "listed": capped(Variant.objects.filter(supplier=supplier, listed=True).order_by()[:101].count()),
        "overpromised": overpromised.select_related("variant", "warehouse")[:NEWEST],
        "variants_url": list_url(Variant, [FieldIs("supplier__id", str(supplier.pk))]),
    }


def _imports(supplier: Supplier) -> dict[str, object]:
    return {
        "jobs": ImportJob.objects.filter(supplier=supplier).order_by("-id")[:NEWEST],
        "url": list_url(ImportJob, [FieldIs("supplier__id", str(supplier.pk))]),
    }


def _import_settings(supplier: Supplier) -> dict[str, object]:
    return {
        "policy": ImportPolicy.objects.filter(supplier=supplier).first(),
        "automatic": AutoImport.objects.filter(supplier=supplier).order_by("kind"),
    }


def _keys(party: Partner) -> dict[str, object]:
    """Return the newest keys, and whether each key is usable."""
    now = timezone.now()
    keys = ApiKey.objects.filter(**{party.role.value: party}).order_by("-id")[:MOST]
    return {"keys": [(key, key.usable(at=now)) for key in keys]}


def _upload_area(supplier: Supplier) -> dict[str, object]:
    return {
        "login": SftpLogin.objects.filter(supplier=supplier).first(),
        "hosts": RemoteHost.objects.filter(supplier=supplier),
    }


def _webhooks(party: Partner) -> dict[str, object]:
    return {"webhooks": Webhook.objects.present().for_party(party).order_by("id")[:MOST]}


def _partnerships(party: Partner) -> dict[str, object]:
    return {"partnerships": party.partnerships.select_related("supplier", "retailer")[:MOST]}


def _history(party: Partner) -> dict[str, object]:
    """Return the newest changes of the party, its partnerships and its keys, with its remarks."""
    events = Event.objects.filter(area=ACCOUNTS, **{party.role.value: party})
    about = [(party._meta.label_lower, party.pk)]
    shown = [*event_entries(events.order_by("-id")[:MOST_EVENTS]), *remark_entries(about)]
    newest = sorted(shown, key=lambda entry: entry.at, reverse=True)
    return {"entries": newest, "original": party, **suspension_context(party)}


def _contacts(party: Partner) -> dict[str, object]:
    return {"contacts": party.contacts.all()[:MOST]}


def _nothing(party: Partner) -> dict[str, object]:
    return {}


BOTH = (
    Panel[Any]("readiness", "", _readiness, 10, "overview"),
    Panel[Any]("facts", "Key facts", _shown("facts", _nothing), 30, "overview"),
    Panel[Any]("keys", "API keys", _shown("keys", _keys), 10, "connections", "accounts.view_apikey"),
    Panel[Any](
        "webhooks", "Webhooks", _shown("webhooks", _webhooks), 30, "connections", "events.view_webhook"
    ),
    Panel[Any](
        "partnerships",
        "Partnerships",
        _shown("partnerships", _partnerships),
        10,
        "terms",
        "accounts.view_partnership",
    ),
    Panel[Any]("members", "Members", _shown("members", _members), 10, "team", "accounts.view_member"),
    Panel[Any]("contacts", "Contacts", _shown("contacts", _contacts), 20, "team", "accounts.view_contact"),
    Panel[Any]("notices", "Mails of the service", _shown("notices", _nothing), 90, "team"),
    Panel[Any]("history", "", _shown("history", _history), 10, "history", "events.view_event"),
)
OF_SUPPLIERS = (
    Panel[Supplier]("numbers", "", _shown("supplier_numbers", _supplier_numbers), 20, "overview"),
    Panel[Supplier](
        "fulfillments",
        "",
        _shown("fulfillments", _fulfillments),
        10,
        "orders",
        "fulfillments.view_fulfillment",
    ),
    Panel[Supplier]("warehouses", "", _shown("stock", _warehouses), 10, "stock", "inventory.view_stocklevel"),
    Panel[Supplier](
        "imports", "Newest imports", _shown("imports", _imports), 10, "files", "imports.view_importjob"
    ),
    Panel[Supplier](
        "import_settings",
        "Import settings",
        _shown("import_settings", _import_settings),
        20,
        "files",
        "imports.view_importjob",
    ),
    Panel[Supplier](
        "upload_area",
        "Upload area",
        _shown("upload_area", _upload_area),
        20,
        "connections",
        "sftp_ingest.view_sftplogin",
    ),
    Panel[Supplier]("routing", "Routing", _shown("routing", _nothing), 20, "terms"),
)
OF_RETAILERS = (
    Panel[Retailer](
        "numbers", "Orders", _shown("states", _retailer_numbers), 20, "overview", "orders.view_order"
    ),
    Panel[Retailer]("orders", "", _shown("orders", _orders), 10, "orders", "orders.view_order"),
)


def register() -> None:
    """Register the panels of this module."""
    record_panels.register(Supplier, panels=[*BOTH, *OF_SUPPLIERS])
    record_panels.register(Retailer, panels=[*BOTH, *OF_RETAILERS, packing_slips.PANEL])
