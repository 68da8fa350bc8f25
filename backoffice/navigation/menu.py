"""Where operators go, by task. Whatever has a page and no entry of its own stands under the last heading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst

from backoffice.navigation.counting import DESK, counted
from backoffice.queues import QUEUES

BY_TITLE = {queue.title: queue for queue in QUEUES}


@dataclass(frozen=True)
class MenuEntry:
    """A page, or a queue: a list that is narrowed to what waits."""

    label: str
    model: str = ""
    """A list's `app.model`; whoever may see that sees the entry."""
    url_name: str = ""
    queue: str = ""
    counts: Sequence[str] = ()
    """The queues that wait here."""
    permission: str = ""


@dataclass(frozen=True)
class Link:
    """An entry as a page shows it."""

    label: str
    url: str
    count: str
    is_current: bool


@dataclass(frozen=True)
class Section:
    """Entries that belong to one task."""

    title: str
    links: list[Link] = field(default_factory=list)


APPROVAL, FAILED = "Imports awaiting approval", "Imports that failed this week"
SECTIONS: Sequence[tuple[str, Sequence[MenuEntry]]] = (
    (
        "Work",
        (
            MenuEntry("The desk", url_name="desk", counts=(DESK,)),
            MenuEntry("Who did what", url_name="activity", permission="events.view_event"),
        ),
    ),
    (
        "Orders",
        (
            MenuEntry("Orders", "orders.order"),
            MenuEntry("In exception", queue="Orders in exception"),
            MenuEntry("Held", queue="Held orders"),
            MenuEntry("Fulfillments", "fulfillments.fulfillment"),
            MenuEntry("Overdue", queue="Overdue"),
            MenuEntry("Cancellations", queue="Cancellations waiting"),
            MenuEntry("Waiting for stock", queue="Waiting for stock"),
        ),
    ),
    (
        "Catalogue and stock",
        (
            MenuEntry("Variants", "catalog.variant"),
            MenuEntry("Stock", "inventory.stocklevel"),
            MenuEntry("Over-promised", queue="Over-promised stock"),
            MenuEntry("Stock movements", "inventory.stockmovement"),
            MenuEntry("Warehouses", "inventory.warehouse"),
        ),
    ),
    (
        "Imports",
        (
            MenuEntry("Imports", "imports.importjob", counts=(APPROVAL, FAILED)),
            MenuEntry("Awaiting approval", queue=APPROVAL),
            MenuEntry("Import a file", url_name="import_upload", permission="imports.change_importjob"),
            MenuEntry("Automatic imports", "imports.autoimport"),
            MenuEntry("Saved mappings", "imports.savedmapping"),
            MenuEntry("Approval rules", "imports.importpolicy"),
            MenuEntry("Uploads", "sftp_ingest.upload"),
        ),
    ),
    (
        "Partners",
        (
            MenuEntry("Suppliers", "accounts.supplier"),
            MenuEntry("Retailers", "accounts.retailer"),
            MenuEntry("Partnerships", "accounts.partnership"),
            MenuEntry("API keys", "accounts.apikey"),
            MenuEntry("Webhooks", "events.webhook", counts=("Webhooks whose receivers are down",)),
            MenuEntry("SFTP logins", "sftp_ingest.sftplogin"),
            MenuEntry("Remote hosts", "sftp_ingest.remotehost"),
        ),
    ),
    (
        "Service",
        (
            MenuEntry("Events", "events.event"),
            MenuEntry("Deliveries", "events.delivery"),
            MenuEntry("Operators", "auth.user"),
            MenuEntry("Groups", "auth.group"),
        ),
    ),
)
QUIET = ("", "0")


def navigation(site: AdminSite, request: HttpRequest) -> list[Section]:
    """What this operator may go to, with what waits there; the page that is shown is marked."""
    counts = counted()
    may_see = {f"{model._meta.app_label}.{model._meta.model_name}": model for model in _seen(site, request)}
    sections = [
        Section(
            title, [_link(entry, request, counts) for entry in entries if _may_go(entry, request, may_see)]
        )
        for title, entries in SECTIONS
    ]
    named = {entry.model for _, entries in SECTIONS for entry in entries}
    for label, model in may_see.items():
        if label not in named and label != "orders.orderline":
            name = str(capfirst(model._meta.verbose_name_plural))
            sections[-1].links.append(_link(MenuEntry(name, label), request, counts))
    _mark(sections, request)
    return [section for section in sections if section.links]


def _seen(site: AdminSite, request: HttpRequest) -> Iterator[Any]:
    return (
        model
        for model, listed in site._registry.items()
        if listed.has_module_permission(request) and listed.has_view_permission(request)
    )


def _may_go(entry: MenuEntry, request: HttpRequest, may_see: dict[str, Any]) -> bool:
    if entry.queue:
        return BY_TITLE[entry.queue].model._meta.label_lower in may_see
    if entry.model:
        return entry.model in may_see
    return not entry.permission or request.user.has_perm(entry.permission)


def _link(entry: MenuEntry, request: HttpRequest, counts: dict[str, str]) -> Link:
    if entry.queue:
        url = BY_TITLE[entry.queue].url
    elif entry.model:
        url = reverse(f"admin:{entry.model.replace('.', '_')}_changelist")
    else:
        url = reverse(f"admin:{entry.url_name}")
    return Link(entry.label, url, _added(counts, entry.counts or (entry.queue,)), is_current=False)


def _added(counts: dict[str, str], names: Sequence[str]) -> str:
    """What waits at all of these queues, as short as it is known."""
    found = [counts.get(name, "") for name in names]
    total = sum(int(each.rstrip("+")) for each in found if each not in QUIET)
    return f"{total}{'+' if any(each.endswith('+') for each in found) else ''}" if total else ""


def _mark(sections: list[Section], request: HttpRequest) -> None:
    """Mark the entry that leads here: the one with this address, else the list that the page is within."""
    full, best = request.get_full_path(), -1
    marked: tuple[Section, int] | None = None
    for section in sections:
        for number, link in enumerate(section.links):
            within = "?" not in link.url and request.path.startswith(link.url)
            fits = len(link.url) if link.url == full or within else -1
            if fits > best:
                best, marked = fits, (section, number)
    if marked:
        section, number = marked
        link = section.links[number]
        section.links[number] = Link(link.label, link.url, link.count, is_current=True)
