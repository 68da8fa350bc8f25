"""Where operators go, by task. Whatever has a page and no place of its own stands under the last heading."""

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
class Place:
    """A page, or a queue: a list that is narrowed to what waits."""

    label: str
    model: str = ""
    """A list's `app.model`; whoever may see that sees the place."""
    url_name: str = ""
    queue: str = ""
    counts: Sequence[str] = ()
    """The queues that wait here."""
    permission: str = ""


@dataclass(frozen=True)
class Link:
    """A place as a page shows it."""

    label: str
    url: str
    count: str
    is_current: bool


@dataclass(frozen=True)
class Section:
    """Places that belong to one task."""

    title: str
    links: list[Link] = field(default_factory=list)


APPROVAL, FAILED = "Imports awaiting approval", "Imports that failed this week"
SECTIONS: Sequence[tuple[str, Sequence[Place]]] = (
    (
        "Work",
        (
            Place("The desk", url_name="desk", counts=(DESK,)),
            Place("Who did what", url_name="activity", permission="events.view_event"),
        ),
    ),
    (
        "Orders",
        (
            Place("Orders", "orders.order"),
            Place("In exception", queue="Orders in exception"),
            Place("Held", queue="Held orders"),
            Place("Fulfillments", "fulfillments.fulfillment"),
            Place("Overdue", queue="Overdue"),
            Place("Cancellations", queue="Cancellations waiting"),
            Place("Waiting for stock", queue="Waiting for stock"),
        ),
    ),
    (
        "Catalogue and stock",
        (
            Place("Variants", "catalog.variant"),
            Place("Stock", "inventory.stocklevel"),
            Place("Over-promised", queue="Over-promised stock"),
            Place("Stock movements", "inventory.stockmovement"),
            Place("Warehouses", "inventory.warehouse"),
        ),
    ),
    (
        "Imports",
        (
            Place("Imports", "imports.importjob", counts=(APPROVAL, FAILED)),
            Place("Awaiting approval", queue=APPROVAL),
            Place("Import a file", url_name="import_upload", permission="imports.change_importjob"),
            Place("Automatic imports", "imports.autoimport"),
            Place("Saved mappings", "imports.savedmapping"),
            Place("Approval rules", "imports.importpolicy"),
            Place("Uploads", "sftp_ingest.upload"),
        ),
    ),
    (
        "Partners",
        (
            Place("Suppliers", "accounts.supplier"),
            Place("Retailers", "accounts.retailer"),
            Place("Partnerships", "accounts.partnership"),
            Place("API keys", "accounts.apikey"),
            Place("Webhooks", "events.webhook", counts=("Webhooks whose receivers are down",)),
            Place("SFTP logins", "sftp_ingest.sftplogin"),
            Place("Remote hosts", "sftp_ingest.remotehost"),
        ),
    ),
    (
        "Service",
        (
            Place("Events", "events.event"),
            Place("Deliveries", "events.delivery"),
            Place("Operators", "auth.user"),
            Place("Groups", "auth.group"),
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
            title, [_link(place, request, counts) for place in places if _may_go(place, request, may_see)]
        )
        for title, places in SECTIONS
    ]
    named = {place.model for _, places in SECTIONS for place in places}
    for label, model in may_see.items():
        if label not in named and label != "orders.orderline":
            name = str(capfirst(model._meta.verbose_name_plural))
            sections[-1].links.append(_link(Place(name, label), request, counts))
    _mark(sections, request)
    return [section for section in sections if section.links]


def _seen(site: AdminSite, request: HttpRequest) -> Iterator[Any]:
    return (
        model
        for model, listed in site._registry.items()
        if listed.has_module_permission(request) and listed.has_view_permission(request)
    )


def _may_go(place: Place, request: HttpRequest, may_see: dict[str, Any]) -> bool:
    if place.queue:
        return BY_TITLE[place.queue].model._meta.label_lower in may_see
    if place.model:
        return place.model in may_see
    return not place.permission or request.user.has_perm(place.permission)


def _link(place: Place, request: HttpRequest, counts: dict[str, str]) -> Link:
    if place.queue:
        url = BY_TITLE[place.queue].url
    elif place.model:
        url = reverse(f"admin:{place.model.replace('.', '_')}_changelist")
    else:
        url = reverse(f"admin:{place.url_name}")
    return Link(place.label, url, _added(counts, place.counts or (place.queue,)), is_current=False)


def _added(counts: dict[str, str], names: Sequence[str]) -> str:
    """What waits at all of these queues, as short as it is known."""
    found = [counts.get(name, "") for name in names]
    total = sum(int(each.rstrip("+")) for each in found if each not in QUIET)
    return f"{total}{'+' if any(each.endswith('+') for each in found) else ''}" if total else ""


def _mark(sections: list[Section], request: HttpRequest) -> None:
    """Mark the place that leads here: the one with this address, else the list that the page is within."""
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
