"""The menu, by task. Models without an entry of their own are listed in the last section."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst

from backoffice.desk.kinds import BY_NAME
from backoffice.navigation.counting import DESK, cached_counts


@dataclass(frozen=True)
class MenuEntry:
    """A link of the menu: to a model's list, to a page, or to the rows of a desk kind."""

    label: str
    model: str = ""
    """The list's `app.model`. The entry needs its view permission."""
    url_name: str = ""
    kind: str = ""
    """The name of the desk kind whose rows the entry leads to."""
    counts: Sequence[str] = ()
    """The kinds whose counts are shown, unless only `kind` is."""
    permission: str = ""


@dataclass(frozen=True)
class Link:
    """A menu entry as the template renders it."""

    label: str
    url: str
    count: str
    is_current: bool


@dataclass(frozen=True)
class Section:
    """The links of one task."""

    title: str
    links: list[Link] = field(default_factory=list)


SECTIONS: Sequence[tuple[str, Sequence[MenuEntry]]] = (
    (
        "Work",
        (
            MenuEntry("Desk", url_name="desk", counts=(DESK,)),
            MenuEntry("Audit log", url_name="activity", permission="events.view_event"),
        ),
    ),
    (
        "Orders",
        (
            MenuEntry("Orders", "orders.order"),
            MenuEntry("In exception", kind="refused", counts=("refused", "address")),
            MenuEntry("Held", kind="held"),
            MenuEntry("Fulfillments", "fulfillments.fulfillment"),
            MenuEntry("Overdue", kind="overdue", counts=("overdue", "uncaptured")),
            MenuEntry("Cancellation requests", kind="cancellation"),
            MenuEntry("Backordered", kind="backordered"),
        ),
    ),
    (
        "Catalog and stock",
        (
            MenuEntry("Variants", "catalog.variant"),
            MenuEntry("Stock", "inventory.stocklevel"),
            MenuEntry("Over-promised stock", kind="overpromised"),
            MenuEntry("Stock movements", "inventory.stockmovement"),
            MenuEntry("Warehouses", "inventory.warehouse"),
        ),
    ),
    (
        "Imports",
        (
            MenuEntry("Imports", "imports.importjob", counts=("approval", "failed")),
            MenuEntry("Awaiting approval", kind="approval"),
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
            MenuEntry("Webhooks", "events.webhook", counts=("webhook",)),
            MenuEntry("SFTP logins", "sftp_ingest.sftplogin"),
            MenuEntry("Remote hosts", "sftp_ingest.remotehost"),
        ),
    ),
    (
        "Service",
        (
            MenuEntry("System status", url_name="status"),
            MenuEntry("Events", "events.event"),
            MenuEntry("Deliveries", "events.delivery"),
            MenuEntry("Operators", "auth.user"),
            MenuEntry("Groups", "auth.group"),
        ),
    ),
)


def navigation(site: AdminSite, request: HttpRequest) -> list[Section]:
    """Return the entries that the operator may open, with counts; the current page is marked."""
    counts = cached_counts()
    may_see = {
        f"{model._meta.app_label}.{model._meta.model_name}": model for model in _visible(site, request)
    }
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


def _visible(site: AdminSite, request: HttpRequest) -> Iterator[Any]:
    return (
        model
        for model, listed in site._registry.items()
        if listed.has_module_permission(request) and listed.has_view_permission(request)
    )


def _may_go(entry: MenuEntry, request: HttpRequest, may_see: dict[str, Any]) -> bool:
    if entry.kind:
        return BY_NAME[entry.kind].model._meta.label_lower in may_see
    if entry.model:
        return entry.model in may_see
    return not entry.permission or request.user.has_perm(entry.permission)


def _link(entry: MenuEntry, request: HttpRequest, counts: dict[str, str]) -> Link:
    if entry.kind:
        url = BY_NAME[entry.kind].url
    elif entry.model:
        url = reverse(f"admin:{entry.model.replace('.', '_')}_changelist")
    else:
        url = reverse(f"admin:{entry.url_name}")
    return Link(entry.label, url, _sum(counts, entry.counts or (entry.kind,)), is_current=False)


def _sum(counts: dict[str, str], names: Sequence[str]) -> str:
    """Add the counts of these kinds. A capped count makes the sum a minimum (`103+`)."""
    summands = [counts.get(name, "") for name in names]
    total = sum(int(count.rstrip("+")) for count in summands if count)
    return f"{total}{'+' if any(count.endswith('+') for count in summands) else ''}" if total else ""


def _mark(sections: list[Section], request: HttpRequest) -> None:
    """Mark the entry of this address, else the entry of the list that contains the page."""
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
