"""The variant pull (endpoint 14, contract 5)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from datetime import datetime
from functools import partial
from itertools import chain, islice

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import ServiceType
from accounts.scopes import Scope
from accounts.viewsets import RetailerViewSet
from api.errors import Invalid, MissingParameter, field_error
from api.fields import parse_moment
from api.filters import refuse_too_long
from api.links import same_url
from api.openapi.parameters import MOST
from api.pagination import read_limit
from api.renderers import encode, iso
from api.schema import CURSOR, IF_NONE_MATCH, answers, moment_parameter
from assortment.pull import Chunk, Position, Pull
from assortment.serializers import GroupJson
from assortment.validators import began_at, cursor_of, etag, held_tags, older_than_held, position_in
from catalog.snapshot import Snapshot, StoredSnapshot, replicated_snapshot, seen_at, take_snapshot
from fastdb.standbys.choosing import is_on_standby
from fastdb.standbys.reads import TooOld, continued, reads_from_standby

PARAMETERS = frozenset({"service_type", "updated_since", "limit", "cursor"})
GROUPS_AT_ONCE = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": 1, "maximum": MOST},
    description="The maximum number of groups. Without it, one array has all groups.",
)


class AssortmentViewSet(RetailerViewSet):
    """`/v3/retailers/{retailer_id}/variants`"""

    read_scope, write_scope = Scope.CATALOG_READ, Scope.CATALOG_WRITE

    @extend_schema(
        summary="Pull variants",
        description="The variant groups of your active partners: one array, streamed; in pages with `limit`."
        " `updated_since` returns only changes; a group without `variants` is gone. Send the `Updated-Since`"
        " header of your last pull, or the time at which that pull began. `If-None-Match` with the last"
        " `ETag` answers 304 while nothing has changed.",
        parameters=[
            OpenApiParameter(
                "service_type", str, enum=ServiceType.values, required=True, description="How you will sell."
            ),
            moment_parameter("updated_since", "Only groups that changed since then."),
            IF_NONE_MATCH,
            OpenApiParameter("ETag", str, OpenApiParameter.HEADER, response=[200, 304]),
            OpenApiParameter("Updated-Since", str, OpenApiParameter.HEADER, response=[200, 304]),
            GROUPS_AT_ONCE,
            CURSOR,
        ],
        responses={
            200: answers(GroupJson, "Variant groups, in a stable order.", many=True),
            304: OpenApiResponse(description="Nothing has changed since that ETag."),
        },
    )
    @reads_from_standby
    def pull(self, request: Request, retailer_id: int) -> HttpResponseBase:
        refuse_too_long(request.query_params.dict(), PARAMETERS)
        service_type = read_service_type(request)
        limit = read_limit(request) if request.query_params.get("limit") else None
        after = position_in(request.query_params.get("cursor", ""))
        moment = read_updated_since(request)
        # Take the snapshot before any read, so that commits during the pull count as not seen.
        on_standby = is_on_standby()
        seen = (
            snapshot_on_standby(request, moment)
            if on_standby
            else take_snapshot(durable="If-None-Match" not in request.headers)
        )
        pull = Pull(self.retailer, service_type)
        headers = {"Updated-Since": iso(began_at(request, seen)), "Cache-Control": "private, no-cache"}
        for tag, snapshot in held_tags(request, seen.epoch):
            if snapshot.xmax <= seen.snapshot.xmax and not pull.changed(snapshot):
                return HttpResponse(status=304, headers={**headers, "ETag": tag})
        # With If-None-Match, the first snapshot is not durable: it was only compared with the client's tags.
        # The answer names a snapshot, so take a durable snapshot now.
        if "If-None-Match" in request.headers and not on_standby:
            seen = take_snapshot(durable=True)
            headers["Updated-Since"] = iso(began_at(request, seen))
        headers["ETag"] = etag(request, seen)
        since = seen_at(moment) if moment else None
        if limit is None:
            return streamed(continued(partial(pull.read, since), after, last_position), headers)
        return paged(request, pull, since, after, limit, headers, seen)


def snapshot_on_standby(request: Request, moment: datetime | None) -> StoredSnapshot:
    """Return the snapshot of an answer from a standby. Raises TooOld if the client has a later answer."""
    seen = replicated_snapshot()
    if seen is None or older_than_held(request, seen, moment):
        raise TooOld
    return seen


def read_service_type(request: Request) -> ServiceType:
    """Return the `service_type` parameter. Raises MissingParameter, or Invalid for an unknown value."""
    text = request.query_params.get("service_type", "")
    known = ", ".join(ServiceType.values)
    if not text:
        message = f"Is required; one of {known}."
        raise MissingParameter(f"service_type: {message}", [field_error("service_type", message, "required")])
    try:
        return ServiceType(text.lower())
    except ValueError:
        raise Invalid.at("service_type", f"Must be one of {known}.", "unknown") from None


def read_updated_since(request: Request) -> datetime | None:
    """Return the `updated_since` parameter. Raises Invalid if it is no date-time."""
    text = request.query_params.get("updated_since")
    if text is None:
        return None
    moment = parse_moment(text)
    if moment is None:
        raise Invalid.at("updated_since", "Must be a date-time such as 2026-01-31T12:00:00Z.")
    return moment


def last_position(chunk: Chunk) -> Position | None:
    """Return the position of the last group of a chunk."""
    return Position(chunk.supplier_id, chunk.keys[-1]) if chunk.keys else None


def paged(
    request: Request,
    pull: Pull,
    since: Snapshot | None,
    after: Position,
    limit: int,
    headers: dict[str, str],
    seen: StoredSnapshot,
) -> Response:
    """Return one page, with a link to the next page if there is one."""
    chunks = pull.read(since, after, chunk=limit + 1)
    groups = list(islice(chain.from_iterable(chunk.with_positions() for chunk in chunks), limit + 1))
    if len(groups) > limit:
        cursor = cursor_of(groups[limit - 1][0], seen, began_at(request, seen))
        following = same_url(request, cursor=cursor)
        headers["Link"] = f'<{following}>; rel="next"'
    return Response([group for _, group in groups[:limit]], headers=headers)


def streamed(chunks: Generator[Chunk], headers: dict[str, str]) -> StreamingHttpResponse:
    """Return an answer that streams one array: each chunk is sent while the next chunk is read."""
    # Read the first chunk here, because a failure before the first byte can still get an error answer.
    first = list(islice(chunks, 1))
    body = as_array(first, chunks)
    return StreamingHttpResponse(body, content_type="application/json", headers=headers)


def as_array(first: list[Chunk], others: Generator[Chunk]) -> Iterator[bytes]:
    """Yield a JSON array, one chunk of groups at a time."""
    opening = b"["
    with closing(others):  # free the prefetcher's thread if the client disconnects
        for chunk in chain(first, others):
            if chunk.groups:
                yield opening + encode(chunk.groups)[1:-1]
                opening = b","
    yield b"[]" if opening == b"[" else b"]"
