"""The event feed of both sides (contract 9 and 12)."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from .http_client import fault, unique, well
from .steps import TIME, bring_to, import_lines, one_fulfillment


def last(party):
    """Return the id of the newest event."""
    after = 0
    while found := well(party.get("events", {"after": after, "limit": 500}))["results"]:
        after = found[-1]["id"]
    return after


def since(party, after, enough, seconds=15, **query):
    """Read the events after an id until `enough` accepts them, and return them.

    An event gets its id a moment after its change. After `seconds`, return the events found so far.
    """
    until = time.monotonic() + seconds
    while True:
        found = []
        bound = after
        while page := well(party.get("events", {"after": bound, "limit": 500} | query))["results"]:
            found += page
            bound = page[-1]["id"]
        if enough(found) or time.monotonic() > until:
            return found
        time.sleep(0.2)


def test_both_sides_read_the_events_of_an_order(acme, shop):
    """Contract 9: both sides read `GET /v3/{suppliers|retailers}/{id}/events?after=<id>`.

    Contract 12 lists the fields of an event.
    """
    suppliers, retailers = last(acme), last(shop)
    order, held = one_fulfillment(acme, shop)
    bring_to("shipped", acme, shop, order, held["id"])
    for party, after in ((acme, suppliers), (shop, retailers)):
        mine = since(
            party,
            after,
            lambda found: len([each for each in found if each.get("order_id") == order["id"]]) >= 3,
        )
        mine = [event for event in mine if event.get("order_id") == order["id"]]
        assert len(mine) >= 3, mine
        for event in mine:
            assert isinstance(event["id"], int)
            assert isinstance(event["type"], str)
            assert TIME.match(event["occurred_at"])
            assert isinstance(event["data"], dict)
        assert {event["fulfillment_id"] for event in mine if event.get("fulfillment_id")} == {held["id"]}
        ids = [event["id"] for event in mine]
        assert ids == sorted(set(ids))


def test_an_import_is_an_event(acme):
    """Contract 12: an event of an import has an `import_id`."""
    after = last(acme)
    job = import_lines(acme, "sku,title,retail_price", f"{unique('EV')},x,1")
    found = since(acme, after, lambda found: any(each.get("import_id") == job["id"] for each in found))
    assert job["id"] in [event.get("import_id") for event in found]


def test_events_have_pages_and_are_filtered_by_type(acme, shop):
    """Contract 12: the parameters are `after`, `type` and `limit`; the answer has `results` and `next`."""
    after = last(acme)
    for _ in range(2):
        one_fulfillment(acme, shop)
    found = since(acme, after, lambda found: len(found) >= 2)
    body = well(acme.get("events", {"after": after, "limit": 1}))
    assert set(body) >= {"results", "next"}
    assert len(body["results"]) == 1
    following = well(acme.get(body["next"]))
    assert following["results"][0]["id"] > body["results"][0]["id"]
    kind = found[0]["type"]
    assert {event["type"] for event in since(acme, after, bool, type=kind)} == {kind}


@pytest.mark.parametrize("value", ["x", "-1", "1.5", "9" * 40])
def test_an_after_that_is_no_number_is_refused(acme, value):
    """Contract, head: unclear input gets a clear error."""
    answer = acme.get("events", {"after": value})
    assert answer.status == 400, answer
    fault(answer, 400, ("validation_error", "invalid_filter", "invalid_cursor"))


def test_an_unknown_type_is_reported(acme):
    """Contract, head: the service neither guesses the meaning of unclear input nor ignores it silently."""
    answer = acme.get("events", {"type": "no.such.type"})
    if answer.status == 200:
        assert answer.json["results"] == []
    else:
        fault(answer, 400, ("validation_error", "invalid_filter"))


def test_parties_read_only_their_own_events(acme, rival, shop, boutique):
    """Contract 1: a party reads no data of another party."""
    bounds = {party: last(party) for party in (rival, boutique)}
    order, _ = one_fulfillment(acme, shop)
    time.sleep(1)
    for party, after in bounds.items():
        assert order["id"] not in [event.get("order_id") for event in since(party, after, lambda _: True)]


def test_no_reader_misses_an_event_that_is_committed_late(acme, shop):
    """Contract 9: events get ascending ids, so no event with a lower id can appear later."""
    after = last(shop)
    seen: list[int] = []
    orders: list[int] = []
    with ThreadPoolExecutor(3) as pool:
        writers = [pool.submit(one_fulfillment, acme, shop) for _ in range(6)]
        while not all(writer.done() for writer in writers):
            for event in well(shop.get("events", {"after": seen[-1] if seen else after}))["results"]:
                seen.append(event["id"])
                orders.append(event.get("order_id"))
        made = {writer.result()[0]["id"] for writer in writers}
    rest = since(
        shop,
        seen[-1] if seen else after,
        lambda found: made <= set(orders) | {e.get("order_id") for e in found},
    )
    assert made <= set(orders) | {event.get("order_id") for event in rest}
    again = since(shop, after, lambda _: True)
    assert seen == [event["id"] for event in again][: len(seen)]
