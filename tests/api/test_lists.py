"""Pages, filters and selected fields of lists, tested with querysets of retailers."""

import base64
import json
from typing import TypedDict

import factory
import pytest
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from accounts.models import Retailer
from api.cursors import write_cursor
from api.errors import Invalid, InvalidCursor, InvalidFilter
from api.field_selection import field_selection
from api.filters import refuse_near_misses
from api.pagination import Keyset
from tests.factories import RetailerFactory

pytestmark = pytest.mark.django_db


def asking(query: str = "") -> Request:
    return Request(APIRequestFactory().get(f"/v3/things{query}"))


@pytest.fixture
def seven(db):
    return RetailerFactory.create_in_bulk(7, name=factory.Iterator([f"R{number}" for number in range(7)]))


def walk(keyset, query, step="next"):
    """Follow the `next` or `previous` links, and return the names on each page."""
    pages, url = [], query
    while url is not None:
        page = keyset.page(Retailer.objects.all(), asking(url[url.index("?") :]))
        pages.append([item.name for item in page.items])
        url = getattr(page, step)
    return pages


@pytest.mark.parametrize(
    ("order", "pages"),
    [
        ("id", [["R0", "R1", "R2"], ["R3", "R4", "R5"], ["R6"]]),
        ("-id", [["R6", "R5", "R4"], ["R3", "R2", "R1"], ["R0"]]),
        ("created_at", [["R0", "R1", "R2"], ["R3", "R4", "R5"], ["R6"]]),
    ],
)
def test_a_walk_sees_every_row_once(seven, order, pages):
    if order == "created_at":  # sort columns must be unique, so give each row its own time
        for number, retailer in enumerate(seven):
            moment = retailer.created_at.replace(microsecond=number)
            Retailer.objects.filter(pk=retailer.pk).update(created_at=moment)
    assert walk(Keyset(order), "?limit=3") == pages


def test_pages_can_be_read_backward(seven):
    last = Keyset("id").page(Retailer.objects.all(), asking("?limit=3"))
    while last.next:
        last = Keyset("id").page(Retailer.objects.all(), asking(last.next[last.next.index("?") :]))
    assert walk(Keyset("id"), last.previous, "previous") == [["R3", "R4", "R5"], ["R0", "R1", "R2"]]


def test_links_keep_the_other_parameters_and_are_absolute(seven):
    page = Keyset("id").page(Retailer.objects.all(), asking("?limit=3&colour=a%26b"))
    assert page.next is not None
    assert page.next.startswith("http://testserver/v3/things?limit=3&colour=a%26b&cursor=")
    assert page.headers == {"Link": f'<{page.next}>; rel="next"'}


def test_a_last_page_that_is_full_has_no_next(seven):
    assert Keyset("id").page(Retailer.objects.all(), asking("?limit=7")).next is None


def cursor(value) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "é",
        "%00",
        "====",
        "x" * 3000,
        cursor({}),
        cursor([]),
        cursor(["id", ">"]),
        cursor(["id", "=", "1"]),
        cursor(["name", ">", "1"]),
        cursor(["id", ">", "x"]),
        cursor(["id", ">", 1]),
        cursor(["id", ">", "9" * 40]),
        cursor(["id", ">", None]),
        cursor([["id"], ">", "1"]),
    ],
)
def test_a_forged_cursor_is_refused(text):
    with pytest.raises(InvalidCursor):
        Keyset("id").page(Retailer.objects.all(), asking(f"?cursor={text}"))


def test_a_refused_cursor_leaves_nothing_in_memory(seven):
    """An exception that is raised again collects the frames of every request."""
    foreign = write_cursor("-id", ">", "5")
    errors = []
    for _ in range(2):
        with pytest.raises(InvalidCursor) as caught:
            Keyset().page(Retailer.objects.all(), asking(f"?cursor={foreign}"))
        errors.append(caught.value)

    assert errors[0] is not errors[1]


def test_a_cursor_with_a_time_is_refused_by_a_list_sorted_by_id():
    text = cursor(["id", ">", "2026-01-31T12:00:00Z"])
    with pytest.raises(InvalidCursor):
        Keyset("id").page(Retailer.objects.all(), asking(f"?cursor={text}"))


@pytest.mark.parametrize("text", ["0", "501", "-1", "x", "1.5", "9" * 30, "%00", "٣", " 3"])
def test_a_limit_outside_its_bounds_is_refused(text):
    with pytest.raises(Invalid) as caught:
        Keyset("id").page(Retailer.objects.all(), asking(f"?limit={text}"))
    assert [error["field"] for error in caught.value.errors or []] == ["limit"]


def test_a_misspelled_parameter_is_refused_and_an_unknown_one_ignored():
    known = frozenset({"updated_at__gt", "limit"})
    refuse_near_misses({"_": "1699", "utm_source": "x", "limit": "3"}, known)
    for near in ("updated_at_gt", "Limit", "updated_at__gte"):
        with pytest.raises(InvalidFilter, match="Did you mean"):
            refuse_near_misses({near: "x"}, known)


class ThingJson(TypedDict):
    id: int
    name: str


def test_fields_select_the_fields_of_the_answer():
    thing = {"id": 1, "name": "a"}
    assert field_selection(asking(), ThingJson)(thing) == thing
    assert field_selection(asking("?fields=name"), ThingJson)(thing) == {"name": "a"}
    assert field_selection(asking("?fields=name,%20id,"), ThingJson)(thing) == thing
    with pytest.raises(Invalid, match="The fields are id, name"):
        field_selection(asking("?fields=nam"), ThingJson)
