"""The pull: its groups, with their suppliers and the sums of their stock (endpoint 14, contract 5)."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from accounts.models import Partnership
from accounts.scopes import Scope
from inventory.models import Warehouse
from tests.factories import StockLevelFactory, set_stock

ECOMMERCE = {"service_type": "ecommerce"}


def read(answer):
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return json.loads(body, parse_float=Decimal)


@pytest.fixture
def pull(shop, client_for):
    client = client_for(shop)

    def get(**params):
        answer = client.get("variants", {**ECOMMERCE, **params})
        assert answer.status_code == 200, answer.content
        return read(answer)

    return get


def models(groups):
    return [group["model"] for group in groups]


def test_variants_of_one_model_are_one_group(acme, pull, a_variant):
    first = a_variant(
        acme,
        "TS-S",
        model="TS",
        title="Shirt S",
        description="Old text",
        description_extra="Soft\n\n Warm \n",
        retail_price="19.99",
        wholesale_price="8.5",
        images="https://i.example/1.jpg|https://i.example/2.jpg",
        special_sale_price_start="2026-02-01T00:00:00Z",
        special_sale_price_end="2026-02-10T00:00:00Z",
        stock=5,
    )
    second = a_variant(
        acme,
        "TS-L",
        model="TS",
        retail_price="24.5",
        images="https://i.example/2.jpg|https://i.example/3.jpg",
        special_sale_price_start="2026-01-01T00:00:00Z",
        special_sale_price_end="2026-02-05T00:00:00Z",
        stock=2,
    )

    assert pull() == [
        {
            "model": "TS",
            "supplier_id": acme.pk,
            "special_sale_price_start": "2026-01-01T00:00:00.000000Z",
            "special_sale_price_end": "2026-02-10T00:00:00.000000Z",
            "available_inventory": 7,
            "expected_at": None,
            "retailers_count": 1,
            "currency": "USD",
            "retail_price_min": Decimal("19.99"),
            "retail_price_max": Decimal("24.5"),
            "wholesale_price_min": Decimal("8.5"),
            "wholesale_price_max": Decimal("8.5"),
            "title": "Shirt S",
            "description": "Old text",
            "description_extra": "Soft\n\n Warm \n",
            "description_bullets": ["Soft", "Warm"],
            "images": ["https://i.example/1.jpg", "https://i.example/2.jpg", "https://i.example/3.jpg"],
            "variants": [first.pk, second.pk],
        }
    ]


def test_a_variant_without_a_model_is_its_own_group_under_its_sku(acme, pull, a_variant):
    a_variant(acme, "A-1")
    a_variant(acme, "A-2")

    assert models(pull()) == ["A-1", "A-2"]


def test_a_model_equal_to_another_variants_sku_is_a_separate_group(acme, pull, a_variant):
    of_model, bare = a_variant(acme, "A-1", model="X"), a_variant(acme, "X")

    groups = pull()

    assert [(group["model"], group["variants"]) for group in groups] == [
        ("X", [of_model.pk]),
        ("X", [bare.pk]),
    ]


def test_one_model_of_two_suppliers_is_two_groups(acme, rival, pull, a_variant):
    a_variant(acme, "A-1", model="TS")
    a_variant(rival, "R-1", model="TS")

    assert [(group["model"], group["supplier_id"]) for group in pull()] == [("TS", acme.pk), ("TS", rival.pk)]


def test_a_missing_price_is_null_and_given_bullets_stay_unchanged(acme, pull, a_variant):
    a_variant(acme, "A", description_bullets=["One", "Two"], description_extra="Three")

    (group,) = pull()
    assert (group["wholesale_price_min"], group["wholesale_price_max"]) == (None, None)
    assert (group["special_sale_price_start"], group["images"]) == (None, [])
    assert group["description_bullets"] == ["One", "Two"]


def test_only_listed_variants_count(acme, pull, a_variant):
    a_variant(acme, "TS-S", model="TS", listed=False, stock=5, title="Delisted", retail_price="1")
    kept = a_variant(acme, "TS-L", model="TS", stock=2)
    a_variant(acme, "OLD", listed=False)

    (group,) = pull()
    assert (group["variants"], group["available_inventory"], group["title"]) == ([kept.pk], 2, "Acme TS-L")
    assert group["retail_price_min"] == Decimal("19.99")


def test_available_stock_is_the_sum_over_warehouses_and_never_negative(acme, pull, a_variant):
    variant = a_variant(acme, "A", stock=10)
    set_stock(reserved=3)
    west = Warehouse.objects.get(supplier=acme, is_default=False)
    StockLevelFactory.create(variant=variant, warehouse=west, on_hand=1, reserved=9)
    acme.safety_stock = 2
    acme.save(update_fields=["safety_stock"])

    assert pull()[0]["available_inventory"] == 10 - 3 - 2


def test_only_active_partners_with_the_service_type_are_pulled(acme, rival, shop, pull, a_variant):
    a_variant(acme, "A")
    a_variant(rival, "R")
    terms = Partnership.objects.filter(retailer=shop, supplier=rival)

    assert models(pull()) == ["A", "R"]
    terms.update(service_types=["wholesale"])
    assert models(pull()) == ["A"]
    assert models(pull(service_type="wholesale")) == ["A", "R"]
    terms.update(is_active=False)
    assert models(pull(service_type="wholesale")) == ["A"]


def test_retailers_count_is_the_number_of_partners_that_can_sell_it(rival, shop, boutique, pull, a_variant):
    a_variant(rival, "R")
    assert pull()[0]["retailers_count"] == 2

    Partnership.objects.filter(retailer=boutique).update(is_active=False)
    assert pull()[0]["retailers_count"] == 1


@pytest.mark.parametrize(
    ("query", "code", "field"),
    [
        ({}, "missing_parameter", "service_type"),
        ({"service_type": ""}, "missing_parameter", "service_type"),
        ({"service_type": "barter"}, "validation_error", "service_type"),
        ({"service_type": "e\0"}, "validation_error", "service_type"),
        ({**ECOMMERCE, "updated_since": "yesterday"}, "validation_error", "updated_since"),
        ({**ECOMMERCE, "updated_since": ""}, "validation_error", "updated_since"),
        ({**ECOMMERCE, "update_since": "2026-01-01"}, "invalid_filter", "update_since"),
        ([("service_type", "ecommerce"), ("service_type", "wholesale")], "invalid_filter", "service_type"),
        ({**ECOMMERCE, "limit": "0"}, "validation_error", "limit"),
        ({**ECOMMERCE, "limit": "501"}, "validation_error", "limit"),
        ({**ECOMMERCE, "cursor": "x"}, "invalid_cursor", None),
        ({**ECOMMERCE, "cursor": "WzEsMl0"}, "invalid_cursor", None),
        ({**ECOMMERCE, "cursor": "WyJncm91cHMiLCAxLCAiXHUwMDAwIl0"}, "invalid_cursor", None),
        ({**ECOMMERCE, "cursor": "WyJncm91cHMiLCAiYSIsICJiIl0"}, "invalid_cursor", None),
    ],
)
def test_an_unclear_pull_is_refused(shop, client_for, query, code, field):
    answer = client_for(shop).get("variants", query)

    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert [each["field"] for each in answer.json().get("errors", [])] == ([field] if field else [])


def test_the_answer_to_an_unknown_service_type_names_the_known_ones(shop, client_for):
    for query in ({}, {"service_type": "barter"}):
        message = client_for(shop).get("variants", query).json()["message"]
        assert all(each in message for each in ("ecommerce", "marketplace", "wholesale"))


def test_unknown_parameters_are_ignored(acme, pull, a_variant):
    a_variant(acme, "A")

    assert models(pull(_="1700000000000")) == ["A"]


def test_the_pages_together_contain_every_group(acme, rival, shop, client_for, pull, a_variant):
    for number in range(4):
        a_variant(acme, f"A-{number}")
        a_variant(rival, f"R-{number}", model="M" if number < 2 else "")
    client = client_for(shop)
    url: str | None
    url, pages = f"{client.base}/variants?service_type=ecommerce&limit=3", []
    while url:
        answer = client.get(url)
        pages.append(read(answer))
        link = answer.get("Link", "")
        url = link.split(">")[0].removeprefix("<http://testserver") if link else None

    assert [len(page) for page in pages] == [3, 3, 1]
    assert sum(pages, []) == pull()


def test_each_cursor_works_for_any_text_of_a_group(acme, shop, client_for, a_variant):
    texts = ["A\u00a0A", "B\tB", "C\u200bC", "D\U0010fffdD", "E" * 100]
    created = [a_variant(acme, f"S-{number}", model=text) for number, text in enumerate(texts)]
    created += [a_variant(acme, text) for text in texts]
    client, seen = client_for(shop), []
    url = f"{client.base}/variants?service_type=ecommerce&limit=1"
    while url:
        answer = client.get(url)
        assert answer.status_code == 200, answer.content
        seen += [pk for group in read(answer) for pk in group["variants"]]
        url = answer.get("Link", "").split(">")[0].removeprefix("<http://testserver")

    assert sorted(seen) == [variant.pk for variant in created]


def test_other_keys_cannot_pull(acme, shop, boutique, client_for):
    path = f"/v3/retailers/{shop.pk}/variants?service_type=ecommerce"

    assert client_for(boutique).get(path).status_code == 403
    assert client_for(acme).get(path).status_code == 403
    assert client_for(shop, scopes=[Scope.ORDERS_READ]).get("variants", ECOMMERCE).status_code == 403


def test_a_retailer_without_partners_gets_no_groups(client_for, shop, pull):
    assert pull() == []
