"""Lists over several pages, and the event feed."""

from __future__ import annotations

import itertools

import httpx


def listing(ids, following=None):
    return httpx.Response(200, json={"results": [{"id": each} for each in ids], "next": following})


def test_all_pages_of_a_list_are_read_as_the_service_says(service, shop):
    following = "https://exchange.example/v3/retailers/7/orders?cursor=b%2Fc&limit=500"
    service.answers = [listing([1, 2], following), listing([3])]

    assert [each["id"] for each in shop.changed_orders("2026-11-21T08:30:00.000001Z")] == [1, 2, 3]

    first, second = service.asked
    assert dict(first.url.params) == {
        "updated_at__gt": "2026-11-21T08:30:00.000001Z",
        "ordering": "updated_at",
        "limit": "500",
    }
    assert str(second.url) == following


def test_arrays_name_the_next_page_in_a_header(service, shop):
    link = {"Link": '<https://exchange.example/v3/retailers/7/variants?cursor=x>; rel="next"'}
    service.answers = [httpx.Response(200, json=[{"model": "A"}], headers=link), httpx.Response(200, json=[])]

    assert [each["model"] for each in shop.iter_variants(service_type="ecommerce")] == ["A"]


def test_the_key_goes_to_no_other_address(service, shop):
    service.answers = [
        listing([1], "http://inside.example:8000/v3/retailers/7/orders?cursor=x"),
        listing([2]),
    ]

    assert [each["id"] for each in shop.iter_orders()] == [1, 2]

    assert {each.url.host for each in service.asked} == {"exchange.example"}


def test_events_are_followed_beyond_the_feeds_end(service, shop):
    service.answers = [
        listing([4, 6], "/v3/retailers/7/events?after=6"),
        listing([7]),
        listing([]),
        listing([9]),
    ]

    assert [each["id"] for each in itertools.islice(shop.follow_events(3, every=2), 4)] == [4, 6, 7, 9]

    assert [each.url.params["after"] for each in service.asked] == ["3", "6", "7", "7"]
    assert service.slept == [2, 2]
