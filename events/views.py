"""The event feed of each party: `GET …/events?after=&type=&limit=` (contract 9 and 12)."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import Access
from accounts.scopes import Role, Scope
from accounts.viewsets import RetailerViewSet, SupplierViewSet
from api.errors import Invalid
from api.fields import CONTROL, INTEGER
from api.filters import refuse_too_long
from api.links import same_url
from api.pagination import read_limit
from api.schema import LIMIT, answers
from api.spelling import closest_match
from events.models import Event, EventQuerySet, areas_of
from events.serializers import EventsJson, event_json
from events.webhooks.types import types_of

MOST_TYPES = 50
PARAMETERS = frozenset({"after", "type", "limit"})
AFTER = OpenApiParameter(
    "after",
    {"type": "integer", "format": "int64", "minimum": 0, "maximum": 10**18 - 1, "default": 0},
    description="The id of the last event that you have. The answer contains the events after it.",
)
TYPE = OpenApiParameter(
    "type",
    str,
    description=f"Only events of these types, comma-separated, at most {MOST_TYPES}. A misspelled type is "
    "refused.",
)
documented = extend_schema(
    summary="Read events in order, without gaps",
    description="The events of the party that the scopes of the key cover. An event that appears later has a "
    "higher id, so a client that stores the last id misses nothing.",
    parameters=[AFTER, TYPE, LIMIT],
    responses={200: answers(EventsJson, "A page of the feed.")},
)


class SupplierEventsViewSet(SupplierViewSet):
    """`GET /v3/suppliers/{supplier_id}/events`."""

    @documented
    def list(self, request: Request, supplier_id: int) -> Response:
        return feed(request, Event.objects.for_supplier(self.supplier), self.role)


class RetailerEventsViewSet(RetailerViewSet):
    """`GET /v3/retailers/{retailer_id}/events`."""

    @documented
    def list(self, request: Request, retailer_id: int) -> Response:
        return feed(request, Event.objects.for_retailer(self.retailer), self.role)


def feed(request: Request, events: EventQuerySet, reader: Role) -> Response:
    """Return the requested page of a party's events. Raises Invalid."""
    refuse_too_long(request.query_params.dict(), PARAMETERS)
    after, limit = _read_after(request), read_limit(request)
    types = _read_types(request, reader)
    Event.publish()
    assert isinstance(request.auth, Access)  # the viewset refuses requests without a credential
    newer = events.published().in_scopes(request.auth.scopes).filter(number__gt=after)
    page = [event_json(event, reader) for event in _first(newer.order_by("number"), types, limit + 1)]
    results = page[:limit]
    more = same_url(request, after=str(results[-1]["id"])) if len(page) > limit else None
    body: EventsJson = {"results": results, "next": more}
    return Response(body)


def _first(events: EventQuerySet, types: list[str], most: int) -> EventQuerySet:
    """Return the first `most` of these events. Each requested type costs one index scan."""
    if not types:
        return events[:most]
    looks = [events.filter(type=name).values_list("number", flat=True)[:most] for name in types]
    numbers = looks[0].union(*looks[1:], all=True) if looks[1:] else looks[0]
    first = sorted(number for number in numbers if number is not None)[:most]
    return Event.objects.filter(number__in=first).order_by("number")


def _read_types(request: Request, reader: Role) -> list[str]:
    names = (name.strip() for name in request.query_params.get("type", "").split(","))
    types = list(dict.fromkeys(name for name in names if name))
    if len(types) > MOST_TYPES:
        raise Invalid.at("type", f"Has {len(types)} types; the maximum is {MOST_TYPES}.")
    if any(map(CONTROL.search, types)):
        raise Invalid.at("type", "Must not hold a control character.", "control")
    if types:
        _refuse_misspelled(types, reader)
    return types


def _refuse_misspelled(types: list[str], reader: Role) -> None:
    """Refuse a misspelled type, which no event has. Other unknown types may be of a later version."""
    known = {name for role in Role for name in types_of(role, areas_of(Scope))}
    for name in types:
        if name not in known and (near := closest_match(name, types_of(reader, areas_of(Scope)))):
            raise Invalid.at("type", f"Unknown type of event {name[:60]}. Did you mean {near}?", "unknown")


def _read_after(request: Request) -> int:
    text = request.query_params.get("after", "")
    if not text:
        return 0
    if not INTEGER.fullmatch(text) or len(text) > 18 or text.startswith("-"):
        raise Invalid.at("after", "Must be the id of an event, or 0 for the beginning.")
    return int(text)
