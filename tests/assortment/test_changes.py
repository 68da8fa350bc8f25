"""`updated_since` and `ETag` of the pull: a client gets every change, even if it was committed late."""

from __future__ import annotations

import json
import re
import threading
from datetime import UTC, datetime

import pytest
from django.db import connection, transaction

from accounts.actors import Actor
from accounts.models import Partnership
from backoffice.suspending.services import resume, suspend
from catalog import snapshot
from catalog.models import Variant
from inventory.models import StockLevel

pytestmark = pytest.mark.django_db(transaction=True)


def groups(answer):
    assert answer.status_code == 200, answer.content
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return {group["model"]: group["variants"] for group in json.loads(body)}


@pytest.fixture
def client(shop, client_for):
    return client_for(shop)


@pytest.fixture
def changes(client):
    """Return a function that polls: each call returns the changes since the previous call."""
    last: dict[str, str] = {}

    def poll():
        params = {"service_type": "ecommerce"}
        if last:
            params["updated_since"] = last["at"]
        answer = client.get("variants", params)
        found = groups(answer)
        last["at"] = answer["Updated-Since"]
        return found

    return poll


def test_the_groups_of_a_suspended_supplier_disappear_and_return(acme, rival, shop, changes, a_variant):
    lantern, theirs = a_variant(acme, "A-1", stock=5), a_variant(rival, "R-1")
    assert changes() == {"A-1": [lantern.pk], "R-1": [theirs.pk]}
    by = Actor.system("test")
    suspension = suspend(acme, reason="They moved", until=None, by=by)
    assert changes() == {"A-1": []}
    assert changes() == {}
    resume(suspension, by=by)
    assert changes() == {"A-1": [lantern.pk]}
    assert changes() == {}


def test_each_kind_of_change_is_listed_once(acme, rival, shop, boutique, client_for, changes, a_variant):
    shirt = a_variant(acme, "A-1", model="TS", stock=5)
    a_variant(acme, "A-2", stock=5)
    theirs = a_variant(rival, "R-1")
    assert changes() == {"TS": [shirt.pk], "A-2": [shirt.pk + 1], "R-1": [theirs.pk]}
    assert changes() == {}

    supplier = client_for(acme)
    supplier.request("PATCH", f"variants/{shirt.pk}", {"retail_price": 5})
    assert changes() == {"TS": [shirt.pk]}

    level = StockLevel.objects.get(variant=shirt)
    body = {"warehouse_id": level.warehouse_id, "inventories": [{"id": "A-1", "amount": 1}]}
    supplier.post("inventory", body)
    assert changes() == {"TS": [shirt.pk]}
    supplier.post("inventory", body)
    assert changes() == {}

    StockLevel.objects.filter(pk=level.pk).update(reserved=1)
    assert changes() == {"TS": [shirt.pk]}

    created = supplier.post("variants", {"sku": "A-3", "title": "New", "retail_price": 1}).json()
    assert changes() == {"A-3": [created["id"]]}
    assert changes() == {}

    Partnership.objects.filter(retailer=boutique).update(is_active=False)
    assert changes() == {"R-1": [theirs.pk]}  # Rival's group has one retailer less

    Partnership.objects.filter(retailer=shop).update(retailer_shipper_account="other")
    assert changes() == {}

    acme.safety_stock = 1
    acme.save(update_fields=["safety_stock"])
    assert set(changes()) == {"TS", "A-2", "A-3"}


def test_a_removed_group_is_listed_without_variants(acme, rival, shop, changes, a_variant):
    shirt, other = a_variant(acme, "A-1", model="TS"), a_variant(acme, "A-2", model="TS")
    bare, theirs = a_variant(acme, "A-3"), a_variant(rival, "R-1")
    changes()

    Variant.objects.filter(pk=bare.pk).update(listed=False)
    assert changes() == {"A-3": []}
    Variant.objects.filter(pk=bare.pk).update(listed=True)
    assert changes() == {"A-3": [bare.pk]}

    Variant.objects.filter(pk=shirt.pk).update(listed=False)
    assert changes() == {"TS": [other.pk]}

    Variant.objects.filter(pk=other.pk).update(model="TS-2")
    assert changes() == {"TS": [], "TS-2": [other.pk]}

    other.delete()
    assert changes() == {"TS-2": []}

    Partnership.objects.filter(retailer=shop, supplier=rival).update(service_types=["wholesale"])
    assert changes() == {"R-1": []}
    Partnership.objects.filter(retailer=shop, supplier=rival).update(service_types=["ecommerce"])
    assert changes() == {"R-1": [theirs.pk]}
    Partnership.objects.filter(retailer=shop, supplier=rival).delete()
    assert changes() == {"R-1": []}
    assert changes() == {}


def test_a_former_partner_sees_removed_groups_but_no_names_from_later(acme, shop, changes, a_variant):
    kept, renamed, left = (a_variant(acme, sku) for sku in ("KEPT", "OLD", "LEFT"))
    hidden = a_variant(acme, "HIDDEN", listed=False)
    changes()
    Partnership.objects.filter(retailer=shop, supplier=acme).update(is_active=False)
    for sku in ("SECRET-1", "SECRET-2"):
        Variant.objects.filter(pk=renamed.pk).update(sku=sku)
    Variant.objects.filter(pk=left.pk).update(listed=False)
    for sku in ("SECRET-3", "SECRET-4"):
        Variant.objects.filter(pk=a_variant(acme, sku).pk).update(listed=False)
    Variant.objects.filter(pk=hidden.pk).update(listed=True)
    Variant.objects.filter(pk=kept.pk).update(retail_price=7)

    assert changes() == {"KEPT": [], "OLD": [], "LEFT": []}


def test_a_group_that_was_never_shown_is_not_listed(
    acme, rival, shop, boutique, client_for, changes, a_variant
):
    changes()

    a_variant(acme, "SECRET", listed=False)
    Variant.objects.filter(sku="SECRET").update(title="Still secret")
    assert changes() == {}

    Partnership.objects.filter(retailer=shop, supplier=rival).update(is_active=False)
    a_variant(rival, "AFTERWARDS")
    assert changes() == {}
    Partnership.objects.filter(retailer=shop, supplier=rival).update(retailer_erp_id="7")
    assert changes() == {}


def test_delisting_a_bare_sku_keeps_the_group_of_the_model_with_that_name(acme, changes, a_variant):
    of_model, bare = a_variant(acme, "A-1", model="X"), a_variant(acme, "X")
    changes()

    Variant.objects.filter(pk=bare.pk).update(listed=False)

    assert changes() == {"X": [of_model.pk]}


def test_a_client_may_use_its_own_clock_and_gets_only_the_changes(acme, client, client_for, a_variant):
    supplier = client_for(acme)
    for sku in ("A", "B"):
        supplier.post("variants", {"sku": sku, "title": sku, "retail_price": 1})
    then = datetime.now(UTC).isoformat()
    changed = Variant.objects.get(sku="B")
    supplier.request("PATCH", f"variants/{changed.pk}", {"title": "News"})

    assert groups(client.get("variants", {"service_type": "ecommerce", "updated_since": then})) == {
        "B": [changed.pk]
    }


def test_a_client_from_before_the_first_snapshot_gets_everything(acme, client, a_variant):
    variant = a_variant(acme, "A")

    found = client.get("variants", {"service_type": "ecommerce", "updated_since": "2001-01-01"})

    assert groups(found) == {"A": [variant.pk]}


def write_late(variant, begun: threading.Event, commit: threading.Event) -> None:
    """Change a variant in a transaction that commits when `commit` is set."""
    try:
        with transaction.atomic():
            Variant.objects.filter(pk=variant.pk).update(title="Late")
            begun.set()
            assert commit.wait(60)
    finally:
        connection.close()


def test_a_change_that_commits_late_is_not_missed(acme, client, changes, a_variant):
    late, quick = a_variant(acme, "LATE"), a_variant(acme, "QUICK")
    changes()
    begun, commit = threading.Event(), threading.Event()
    writer = threading.Thread(target=write_late, args=(late, begun, commit))
    writer.start()
    assert begun.wait(60)
    Variant.objects.filter(pk=quick.pk).update(title="Quick")
    tag = client.get("variants", {"service_type": "ecommerce"})["ETag"]

    assert changes() == {"QUICK": [quick.pk]}
    own_clock = datetime.now(UTC).isoformat()
    commit.set()
    writer.join()

    assert changes() == {"LATE": [late.pk]}
    assert changes() == {}
    # The late row has a time before `own_clock`, but its transaction committed after `own_clock`. A filter by
    # the time of the row would miss it.
    assert "LATE" in groups(client.get("variants", {"service_type": "ecommerce", "updated_since": own_clock}))
    again = client.get("variants", {"service_type": "ecommerce"}, If_None_Match=tag)
    assert again.status_code == 200


def test_an_etag_answers_304_until_something_changes(acme, rival, shop, client, client_for, a_variant):
    variant = a_variant(acme, "A", stock=5)
    ask = {"service_type": "ecommerce"}
    tag = client.get("variants", ask)["ETag"]

    unchanged = client.get("variants", ask, If_None_Match=f'"other", {tag}')
    assert (unchanged.status_code, unchanged.content, unchanged["ETag"]) == (304, b"", tag)
    assert client.get("variants", {"service_type": "wholesale"}, If_None_Match=tag).status_code == 200
    assert client.get("variants", {**ask, "limit": 5}, If_None_Match=tag).status_code == 200
    assert client.get("variants", ask, If_None_Match='"nonsense"').status_code == 200

    a_variant(acme, "DRAFT", listed=False)
    assert client.get("variants", ask, If_None_Match=tag).status_code == 304
    StockLevel.objects.filter(variant=variant).update(reserved=1)
    assert client.get("variants", ask, If_None_Match=tag).status_code == 200

    tag = client.get("variants", ask)["ETag"]
    Partnership.objects.filter(retailer=shop, supplier=rival).update(is_active=False)
    assert client.get("variants", ask, If_None_Match=tag).status_code == 200


def test_changes_come_in_pages_too(acme, client, a_variant):
    for number in range(5):
        a_variant(acme, f"A-{number}")
    since = client.get("variants", {"service_type": "ecommerce"})["Updated-Since"]
    Variant.objects.exclude(sku="A-2").update(title="News")
    url: str | None
    url, found = f"{client.base}/variants?service_type=ecommerce&limit=3&updated_since={since}", []
    while url:
        answer = client.get(url)
        found += groups(answer)
        link = answer.get("Link", "")
        url = link.split(">")[0].removeprefix("<http://testserver") if link else None

    assert found == ["A-0", "A-1", "A-3", "A-4"]


def test_all_pages_of_a_pull_name_the_time_at_which_it_began(acme, client, a_variant):
    for number in range(3):
        a_variant(acme, f"A-{number}")
    first = client.get("variants", {"service_type": "ecommerce", "limit": 2})
    Variant.objects.filter(sku="A-0").update(title="News")
    last = client.get(first["Link"].split(">")[0].removeprefix("<http://testserver"))

    changed = client.get("variants", {"service_type": "ecommerce", "updated_since": last["Updated-Since"]})

    assert last["Updated-Since"] == first["Updated-Since"]
    assert [list(groups(page)) for page in (first, last, changed)] == [["A-0", "A-1"], ["A-2"], ["A-0"]]


def test_old_snapshots_are_thinned_out(acme):
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO catalog_pulse (taken_at, snapshot)
            SELECT date_trunc('minute', now()) - span, '1:1:' FROM unnest(ARRAY[
                '31 days', '2 hours', '2 hours -10 seconds', '2 hours -20 seconds', '1 minute', '59 seconds'
            ]::interval[]) AS span
            """
        )
        snapshot.thin_out()
        cursor.execute("SELECT count(*) FROM catalog_pulse")
        assert cursor.fetchone() == (3,)


def test_a_tag_of_another_epoch_never_matches(acme, client, a_variant):
    """The new epoch may lack changes that the client has seen (tests/faults/test_epochs.py)."""
    variant = a_variant(acme, "A")
    tag = client.get("variants", {"service_type": "ecommerce"})["ETag"]
    other = re.sub(r"\.[0-9a-f]{12}\.", ".0123456789ab.", tag)

    assert other != tag
    assert client.get("variants", {"service_type": "ecommerce"}, If_None_Match=tag).status_code == 304
    answer = client.get("variants", {"service_type": "ecommerce"}, If_None_Match=other)
    assert groups(answer) == {"A": [variant.pk]}
    assert answer["ETag"] != other
