"""The menu: seven sections of work, Settings and System. Each section has its lists and pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.apps import apps
from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst

from accounts.operating.admin_filters import Narrowing, list_url
from backoffice.desk.kinds import KINDS
from backoffice.navigation.counting import DESK, cached_counts
from orders.admin.filters import WaitingFilter


@dataclass(frozen=True)
class MenuEntry:
    """A link of the menu: to a model's list, or to a page."""

    label: str
    model: str = ""
    """The model of a list, such as `orders.order`. Operators need its view permission to see the entry."""
    url_name: str = ""
    filters: Sequence[Narrowing] = ()
    """The filters of the model's list."""
    counts: Sequence[str] = ()
    """The desk kinds whose counts are added and shown."""
    permission: str = ""


@dataclass(frozen=True)
class Link:
    """A menu entry as the template renders it."""

    label: str
    url: str
    count: str
    is_current: bool = False


@dataclass(frozen=True)
class Section:
    """A section of the menu, with the URL and the count of its first link."""

    title: str
    icon: str
    apart: bool = False
    """Whether the menu separates the section from the sections of daily work."""
    links: list[Link] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.links[0].url

    @property
    def count(self) -> str:
        return self.links[0].count

    @property
    def current(self) -> str:
        """Return the value of `aria-current`.

        A section with a single link has "page" if this link is current. A section with several links has
        "true" if any link is current. Otherwise the value is empty.
        """
        if self.links[0].is_current:
            return "page" if len(self.links) == 1 else "true"
        return "true" if any(link.is_current for link in self.links) else ""


@dataclass(frozen=True)
class MenuSection:
    """The declaration of a section with all entries. An operator sees only the permitted entries."""

    title: str
    icon: str
    entries: Sequence[MenuEntry]
    apart: bool = False


SECTIONS: Sequence[MenuSection] = (
    MenuSection("Home", "house", (MenuEntry("Home", url_name="index"),)),
    MenuSection("Desk", "inbox", (MenuEntry("Desk", url_name="desk", counts=(DESK,)),)),
    MenuSection(
        "Orders",
        "package",
        (
            MenuEntry("Orders", "orders.order"),
            MenuEntry("Fulfillments", "fulfillments.fulfillment"),
            MenuEntry("Backordered lines", "orders.orderline", filters=(WaitingFilter,)),
        ),
    ),
    MenuSection(
        "Products",
        "shirt",
        (
            MenuEntry("Variants", "catalog.variant"),
            MenuEntry("Stock", "inventory.stocklevel"),
            MenuEntry("Stock movements", "inventory.stockmovement"),
            MenuEntry("Warehouses", "inventory.warehouse"),
        ),
    ),
    MenuSection(
        "Files",
        "folder",
        (
            MenuEntry("Imports", "imports.importjob", counts=("approval", "failed")),
            MenuEntry("Import a file", url_name="import_upload", permission="imports.change_importjob"),
            MenuEntry("Automatic imports", "imports.autoimport"),
            MenuEntry("Saved mappings", "imports.savedmapping"),
            MenuEntry("Approval rules", "imports.importpolicy"),
            MenuEntry("Uploads", "sftp_ingest.upload"),
        ),
    ),
    MenuSection(
        "Partners",
        "handshake",
        (
            MenuEntry("Suppliers", "accounts.supplier"),
            MenuEntry("Retailers", "accounts.retailer"),
            MenuEntry("Partnerships", "accounts.partnership"),
            MenuEntry("Contacts", "accounts.contact"),
            MenuEntry("Members", "accounts.member"),
            MenuEntry("Invitations", "accounts.invitation"),
            MenuEntry("API keys", "accounts.apikey"),
            MenuEntry("Webhooks", "events.webhook"),
            MenuEntry("SFTP logins", "sftp_ingest.sftplogin"),
            MenuEntry("Remote hosts", "sftp_ingest.remotehost"),
        ),
    ),
    MenuSection(
        "Performance",
        "chart-column",
        (
            MenuEntry("Scorecards", url_name="performance", permission="accounts.view_supplier"),
            MenuEntry("Targets", "fulfillments.performancetarget"),
            MenuEntry("Routing simulations", "fulfillments.routingsimulation"),
        ),
    ),
    MenuSection(
        "Settings",
        "settings",
        (
            MenuEntry("Operators", "auth.user"),
            MenuEntry("Groups", "auth.group"),
            MenuEntry("Digests", "backoffice.digest"),
            MenuEntry("Message templates", "backoffice.messagetemplate"),
        ),
        apart=True,
    ),
    MenuSection(
        "System",
        "server",
        (
            MenuEntry("System status", url_name="status"),
            MenuEntry("Audit log", url_name="activity", permission="events.view_event"),
            MenuEntry("Events", "events.event"),
            MenuEntry("Deliveries", "events.delivery"),
        ),
    ),
)


def navigation(site: AdminSite, request: HttpRequest) -> list[Section]:
    """Return the sections with the links that the operator may open; the current page is marked.

    Models without an entry of their own are listed in the last section.
    """
    counts = cached_counts()
    may_see = {
        f"{model._meta.app_label}.{model._meta.model_name}": model for model in _visible(site, request)
    }
    named = {entry.model for declared in SECTIONS for entry in declared.entries}
    others = [
        MenuEntry(str(capfirst(model._meta.verbose_name_plural)), label)
        for label, model in may_see.items()
        if label not in named
    ]
    sections = []
    for declared in SECTIONS:
        entries = [*declared.entries, *(others if declared is SECTIONS[-1] else ())]
        links = [_link(entry, counts) for entry in entries if _may_go(entry, request, may_see)]
        sections.append(Section(declared.title, declared.icon, declared.apart, links))
    _mark(sections, request)
    return [section for section in sections if section.links]


def kind_links(model: object, query: str) -> list[Link]:
    """Return a tab of the model's list for each desk kind whose rows are in this list."""
    counts = cached_counts()
    found = []
    for kind in KINDS:
        if kind.listed is not None and kind.listed is model:
            path, _, filters = kind.url.partition("?")
            found.append(Link(kind.title, f"?{filters}", counts.get(kind.name, ""), filters == query))
    return found


def _visible(site: AdminSite, request: HttpRequest) -> Iterator[Any]:
    return (
        model
        for model, listed in site._registry.items()
        if listed.has_module_permission(request) and listed.has_view_permission(request)
    )


def _may_go(entry: MenuEntry, request: HttpRequest, may_see: dict[str, object]) -> bool:
    if entry.model:
        return entry.model in may_see
    return not entry.permission or request.user.has_perm(entry.permission)


def _link(entry: MenuEntry, counts: dict[str, str]) -> Link:
    if entry.model:
        url = list_url(apps.get_model(entry.model), entry.filters)
    else:
        url = reverse(f"admin:{entry.url_name}")
    return Link(entry.label, url, _sum(counts, entry.counts))


def _sum(counts: dict[str, str], names: Sequence[str]) -> str:
    """Add the counts of these kinds. A capped count makes the sum a minimum (`103+`)."""
    summands = [counts.get(name, "") for name in names]
    total = sum(int(count.rstrip("+")) for count in summands if count)
    return f"{total}{'+' if any(count.endswith('+') for count in summands) else ''}" if total else ""


def _mark(sections: list[Section], request: HttpRequest) -> None:
    """Mark the link to the request's URL as current, else the link to the list that the page belongs to."""
    full, best, home = request.get_full_path(), 0, reverse("admin:index")
    marked: tuple[Section, int] | None = None
    for section in sections:
        for number, link in enumerate(section.links):
            path = link.url.partition("?")[0]
            within = link.url == path != home and request.path.startswith(path)
            # A link with a filter is current only at exactly its URL. A plain link is also current on all
            # pages below its URL.
            fits = len(link.url) if link.url == full or within else 0
            if fits > best:
                best, marked = fits, (section, number)
    if marked:
        section, number = marked
        section.links[number] = replace(section.links[number], is_current=True)
