"""Finders of the search, one per kind of record.

Each finder runs a fixed number of queries, and each query reads ranges of indexes. No query counts or sorts
many rows, so a search among ten million orders takes as long as a search among ten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model, Q, Value
from django.db.models.functions import Left
from django.urls import reverse

from accounts.models import ApiKey, Retailer, Supplier
from accounts.operating.admin_filters import list_url
from api.ids import as_id
from api.inside_search import LEAST, contains, found_in
from api.prefix_search import beginning_with, begins_with_digits, bounds, file_name
from backoffice.search.hits import MOST, Hit, HitGroup, page_of, same
from catalog.models import TITLE_FOUND_BY, Variant
from events.models import Event
from fastdb.standbys.reads import reads_from_standby
from fulfillments.models import Fulfillment, Shipment
from imports.models import ImportJob
from orders.models import Order, SearchEntry
from sftp_ingest.models import Upload

LOOKED_AT = MOST + 1  # one more than shown, to know whether more hits exist
ARTICLE_NUMBERS = ("upc", "ean", "gtin")


@dataclass(frozen=True)
class Finder:
    """The finder of one kind of record. The user needs the view permission of its `model`."""

    title: str
    model: type[Model]
    find: Callable[[str], Iterator[Hit]]

    def is_for(self, user: User | AnonymousUser) -> bool:
        meta = self.model._meta
        return user.has_perm(f"{meta.app_label}.view_{meta.model_name}")


def search(term: str, user: User | AnonymousUser) -> list[HitGroup]:
    """Return the hits that the user may see, without empty groups."""
    return _found(term, [finder for finder in FINDERS if finder.is_for(user)])


@reads_from_standby
def _found(term: str, finders: list[Finder]) -> list[HitGroup]:
    groups = [HitGroup.of(finder.title, finder.find(term)) for finder in finders]
    return [group for group in groups if group.hits]


def _orders(term: str) -> Iterator[Hit]:
    """Find orders by id, then by their rows of `SearchEntry`. Exact matches come first, from new to old."""
    first, end = bounds(term)
    entries = SearchEntry.objects.annotate(inside=Value(0))
    named = entries.filter(text=first).order_by("-order_id")[:LOOKED_AT]
    others = entries.filter(text__gt=first, text__lt=end).order_by("text", "order_id")[:LOOKED_AT]
    if len(term) >= LEAST:
        inside = SearchEntry.objects.filter(contains("text", term)).annotate(inside=Value(1))
        others = others.union(inside.order_by("text", "order_id")[:LOOKED_AT], all=True)
        others = others.order_by("inside", "text", "order_id")
    found: dict[int, SearchEntry | None] = {as_id(term): None}
    for entry in chain(named, others):
        found.setdefault(entry.order_id, entry)
    orders = Order.objects.select_related("retailer").in_bulk([*found])
    for number, by in found.items():
        if order := orders.get(number):
            yield Hit(
                order.retailer_order_id,
                page_of(order),
                found_by=f"{by.kind} {by.text}" if by and by.kind != "number" else "",
                about=f"{order.retailer}, received {order.created_at:%-d %b %Y}",
                state=order.processing_state,
                exact=by is None or same(order.retailer_order_id, term),
            )


def _fulfillments(term: str) -> Iterator[Hit]:
    """Find fulfillments by id, by a parcel's tracking number, or by the tracking number of the acceptance."""
    related = ("order__retailer", "supplier")
    for fulfillment in Fulfillment.objects.filter(pk=as_id(term)).select_related(*related):
        yield _fulfillment(fulfillment, exact=True)
    parcels = Shipment.objects.select_related(*(f"fulfillment__{each}" for each in related))
    seen = {as_id(term)}
    for parcel in found_in(parcels, "tracking_number", term, LOOKED_AT):
        seen.add(parcel.fulfillment_id)
        number = parcel.tracking_number
        yield _fulfillment(parcel.fulfillment, f"parcel {number}", exact=same(number, term))
    accepted = Fulfillment.objects.filter(~Q(tracking_number="")).select_related(*related)
    for work in beginning_with(accepted, "tracking_number", term)[:LOOKED_AT]:
        if work.pk not in seen:
            number = work.tracking_number
            yield _fulfillment(work, f"accepted with {number}", exact=same(number, term))


def _fulfillment(fulfillment: Fulfillment, found_by: str = "", *, exact: bool) -> Hit:
    order = fulfillment.order
    return Hit(
        f"Fulfillment {fulfillment.pk}",
        page_of(fulfillment),
        found_by=found_by,
        about=f"{order.retailer_order_id} of {order.retailer}, at {fulfillment.supplier}",
        state=fulfillment.state,
        exact=exact,
    )


def _variants(term: str) -> Iterator[Hit]:
    variants = Variant.objects.select_related("supplier")
    for variant in found_in(variants, "sku", term, LOOKED_AT):
        yield _variant(variant, exact=same(variant.sku, term))
    if term.isascii() and term.isdecimal():
        for name in ARTICLE_NUMBERS:
            # The condition `~Q(name="")` allows PostgreSQL to use the index of the numbers.
            found = begins_with_digits(name, term) & ~Q(**{name: ""})
            for variant in variants.filter(found).order_by(name)[:LOOKED_AT]:
                number = getattr(variant, name)
                yield _variant(variant, f"{name.upper()} {number}", exact=number == term)
    title = Left("title", TITLE_FOUND_BY)
    for variant in found_in(variants, title, term[:TITLE_FOUND_BY], LOOKED_AT):
        if term.lower() in variant.title.lower():
            yield _variant(variant, "title")


def _variant(variant: Variant, found_by: str = "", *, exact: bool = False) -> Hit:
    state = "" if variant.listed else "delisted"
    about = f"{variant.title}, {variant.supplier}"
    return Hit(variant.sku, page_of(variant), found_by=found_by, about=about, state=state, exact=exact)


def _imports(term: str) -> Iterator[Hit]:
    """Find imports by id, then by file name. If the term has folders, the path must contain the folders."""
    jobs = ImportJob.objects.select_related("supplier")
    for job in jobs.filter(pk=as_id(term)):
        yield _import(job, exact=True)
    folders, _, name = term.rpartition("/")
    if name:
        in_folders = jobs.filter(source__icontains=folders)
        for job in found_in(in_folders, file_name("source"), name, LOOKED_AT):
            yield _import(job)


def _import(job: ImportJob, *, exact: bool = False) -> Hit:
    about = f"{job.supplier}, {job.created_at:%-d %b %Y, %H:%M}"
    name = f"Import {job.pk}"
    return Hit(name, page_of(job), found_by=job.source, about=about, state=job.status, exact=exact)


def _uploads(term: str) -> Iterator[Hit]:
    folders, _, name = term.rpartition("/")
    uploads = Upload.objects.select_related("supplier")
    if name:
        named = beginning_with(uploads, file_name("path"), name).filter(path__icontains=folders)
        for upload in named[:LOOKED_AT]:
            about = f"{upload.supplier}, {upload.uploaded_at:%-d %b %Y, %H:%M}"
            yield Hit(upload.path, page_of(upload), about=about)


def _requests(term: str) -> Iterator[Hit]:
    """Find events by request id. Partners find this id in each response of the API."""
    events = Event.objects.select_related("supplier", "retailer").exclude(request_id="")
    for event in beginning_with(events, "request_id", term)[:LOOKED_AT]:
        url = f"{list_url(Event)}?q={event.request_id}"
        about = f"{event.type}, {event.actor}, {event.occurred_at:%-d %b %Y, %H:%M}"
        yield Hit(event.request_id, url, about=about, exact=same(event.request_id, term))


# Parties and keys are found without an index, because their tables have only hundreds of rows.


def _suppliers(term: str) -> Iterator[Hit]:
    return _parties(Supplier.objects.filter(name__icontains=term)[:LOOKED_AT], term)


def _retailers(term: str) -> Iterator[Hit]:
    return _parties(Retailer.objects.filter(name__icontains=term)[:LOOKED_AT], term)


def _parties(found: Iterable[Supplier | Retailer], term: str) -> Iterator[Hit]:
    for party in found:
        url = reverse(f"admin:accounts_{party.role.value}_overview", args=[party.pk])
        yield Hit(party.name, url, exact=same(party.name, term))


def _keys(term: str) -> Iterator[Hit]:
    keys = ApiKey.objects.select_related("supplier", "retailer")
    for key in keys.filter(prefix__istartswith=term)[:LOOKED_AT]:
        about = f"{key.name} of {key.party}"
        yield Hit(key.prefix, page_of(key), about=about, exact=same(key.prefix, term))


FINDERS = (
    Finder("Orders", Order, _orders),
    Finder("Fulfillments and parcels", Fulfillment, _fulfillments),
    Finder("Variants", Variant, _variants),
    Finder("Imports", ImportJob, _imports),
    Finder("Uploads", Upload, _uploads),
    Finder("Requests", Event, _requests),
    Finder("Suppliers", Supplier, _suppliers),
    Finder("Retailers", Retailer, _retailers),
    Finder("API keys", ApiKey, _keys),
)
