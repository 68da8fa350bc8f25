"""A supplier's clerk counts stock in a grid or by pasted rows, and sets restock dates."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.member_roles import MemberRole
from accounts.models import OperatorAction
from events.models import Event
from inventory.models import ExpectedStock, StockLevel, StockMovement
from tests.factories import WarehouseFactory
from tests.portal.conftest import browser_of, said

GRID, PASTE = "/portal/stock/", "/portal/stock/paste/"


@pytest.fixture
def lamp(acme, a_variant):
    a_variant(acme, "CHAIR")
    return a_variant(acme, "LAMP", stock=5)


def form_id(page):
    return re.findall(r'name="form_id" value="([^"]+)"', page.content.decode())[0]


def row(variant, shown="", shown_day="", **typed):
    pk = variant.pk
    return {
        f"initial-{pk}-on_hand": shown,
        f"initial-{pk}-expected_at": shown_day,
        f"{pk}-on_hand": typed.get("on_hand", shown),
        f"{pk}-expected_at": typed.get("expected_at", shown_day),
    }


def save(client, *rows, path=GRID):
    fields = {name: value for each in rows for name, value in each.items()}
    return client.post(path, {"form_id": form_id(client.get(path)), **fields}, follow=True)


def on_hand(variant):
    return [*StockLevel.objects.filter(variant=variant).values_list("on_hand", flat=True)]


def test_several_counts_and_a_restock_date_are_saved_at_once(ana, acme, owner, lamp):
    chair = acme.variants.get(sku="CHAIR")
    day = (timezone.now().date() + timedelta(days=9)).isoformat()
    page = save(ana, row(lamp, "5", on_hand="8"), row(chair, on_hand="3", expected_at=day))

    assert len(said(page)) == 1
    assert said(page)[0].endswith("2 counts and 1 restock date saved.")
    assert (on_hand(lamp), on_hand(chair)) == ([8], [3])
    assert str(ExpectedStock.objects.get(variant=chair).expected_at) == day
    assert StockMovement.objects.filter(kind="count", variant_id=lamp.pk).get().actor == owner.actor_name
    assert Event.objects.filter(type="inventory.updated").count() == 1


def test_a_restock_date_alone_is_no_count(ana, lamp):
    counted_at = StockLevel.objects.get(variant=lamp).counted_at
    day = (timezone.now().date() + timedelta(days=2)).isoformat()
    save(ana, row(lamp, "5", expected_at=day))

    assert StockLevel.objects.get(variant=lamp).counted_at == counted_at
    assert str(ExpectedStock.objects.get(variant=lamp).expected_at) == day
    save(ana, row(lamp, "5", shown_day=day, expected_at=""))
    assert ExpectedStock.objects.get(variant=lamp).expected_at is None


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"on_hand": "-1"}, "greater than or equal to 0"),
        ({"on_hand": "1.5"}, "Enter a whole number."),
        ({"on_hand": ""}, "Enter 0 if nothing is left."),
        ({"on_hand": "1.000"}, "Enter a whole number. Write it without separators: 1000."),
        ({"on_hand": "1,000"}, "Enter a whole number. Write it without separators: 1000."),
        ({"expected_at": "2020-01-31"}, "Enter today or later, or leave it empty."),
    ],
)
def test_a_wrong_row_stays_open_and_the_others_are_saved(ana, acme, lamp, typed, message):
    chair = acme.variants.get(sku="CHAIR")
    page = save(ana, row(lamp, "5", **typed), row(chair, on_hand="3"))

    assert message in page.content.decode()
    assert "1 product not saved." in page.content.decode()
    assert (on_hand(lamp), on_hand(chair)) == ([5], [3])


def test_a_count_that_changed_meanwhile_is_shown_first(ana, lamp):
    StockLevel.objects.filter(variant=lamp).update(on_hand=4)
    page = save(ana, row(lamp, "5", on_hand="7"))

    assert "Someone changed &#x27;5&#x27; to &#x27;4&#x27; in the meantime." in page.content.decode()
    assert on_hand(lamp) == [4]


def test_a_form_that_is_sent_twice_counts_once(ana, lamp):
    sent = {"form_id": form_id(ana.get(GRID)), **row(lamp, "5", on_hand="8")}
    ana.post(GRID, sent)
    StockLevel.objects.filter(variant=lamp).update(on_hand=5)
    page = ana.post(GRID, sent, follow=True)

    assert "done only once" in said(page)[-1]
    assert on_hand(lamp) == [5]
    assert OperatorAction.objects.filter(action="save-stock").count() == 1


def test_each_warehouse_has_its_own_grid_and_a_foreign_one_does_not_exist(ana, acme, rival, lamp):
    west = WarehouseFactory.create(supplier=acme, name="West")
    save(ana, row(lamp, on_hand="2"), path=f"{GRID}?warehouse={west.pk}")
    assert StockLevel.objects.get(variant=lamp, warehouse=west).on_hand == 2

    foreign = rival.warehouses.first()
    assert ana.post(f"{GRID}?warehouse={foreign.pk}", row(lamp, "5", on_hand="6")).status_code == 404
    assert not StockLevel.objects.filter(warehouse=foreign).exists()


def test_another_suppliers_product_is_not_counted(ana, rival, lamp, a_variant):
    foreign = a_variant(rival, "SECRET", stock=1)
    save(ana, row(foreign, "1", on_hand="0"))
    assert on_hand(foreign) == [1]


@pytest.mark.parametrize(
    ("tab", "lamp_shown", "chair_shown"),
    [("available", True, False), ("empty", False, True), ("short", False, False), ("expected", False, False)],
)
def test_tabs_filter_the_grid(ana, lamp, tab, lamp_shown, chair_shown):
    text = ana.get(GRID, {"tab": tab}).content.decode()
    assert (">LAMP<" in text, ">CHAIR<" in text) == (lamp_shown, chair_shown)


def test_pasted_counts_are_checked_and_then_saved(ana, acme, rival, a_variant, lamp):
    a_variant(rival, "SECRET")
    pasted = "LAMP\t7\nSECRET\t1\nCHAIR,x\nLAMP\t8\nCHAIR 2"
    preview = ana.post(PASTE, {"rows": pasted})
    text = preview.content.decode()
    assert "You have no product with this SKU." in text
    assert "The count must be a whole number" in text
    assert "Row 1 counts this product, too." in text
    assert "Save 2 counts<" in text
    assert on_hand(lamp) == [5]

    sent = {"rows": pasted, "save": "1", "form_id": form_id(preview)}
    left = ana.post(PASTE, sent)
    assert on_hand(lamp) == [7]
    assert "LAMP\t8" in left.context["pasted"]
    StockLevel.objects.filter(variant=lamp).update(on_hand=1)
    ana.post(PASTE, sent)
    assert on_hand(lamp) == [1]


def test_a_pasted_count_with_separators_is_refused_with_the_right_spelling(ana, lamp):
    text = ana.post(PASTE, {"rows": "LAMP\t1.000"}).content.decode()
    assert "Write it without separators: 1000." in text
    assert on_hand(lamp) == [5]


@pytest.mark.parametrize(("rows", "said_"), [(0, "There is no row."), (101, "There are 101 rows.")])
def test_a_paste_of_too_few_or_too_many_rows_is_refused_with_the_number(ana, lamp, rows, said_):
    pasted = "\n".join(f"SKU-{number}\t1" for number in range(rows))
    assert said_ in ana.post(PASTE, {"rows": pasted}).content.decode()


def test_readers_see_stock_without_a_form(acme, member_of, lamp):
    text = browser_of(member_of(acme, MemberRole.ORDERS)).get(GRID).content.decode()
    assert "LAMP" in text
    assert "Save stock" not in text


def test_the_grid_and_its_saving_take_the_same_queries_for_any_number_of_products(ana, acme, a_variant, lamp):
    def count_queries(*rows):
        ana.get(GRID)
        sent = {"form_id": form_id(ana.get(GRID)), **{k: v for each in rows for k, v in each.items()}}
        with CaptureQueriesContext(connection) as captured:
            ana.get(GRID)
            ana.post(GRID, sent)
        return len(captured)

    count_queries(row(lamp, "5", on_hand="6"))
    few = count_queries(row(lamp, "6", on_hand="7"))
    others = [a_variant(acme, f"MANY-{number}", stock=1) for number in range(5)]
    assert count_queries(*(row(each, "1", on_hand="2") for each in others)) == few


def test_counts_are_saved_in_the_shown_warehouse_even_if_another_becomes_the_default(ana, acme, lamp):
    west = WarehouseFactory.create(supplier=acme, name="West")
    page = ana.get(GRID)
    action = re.findall(r'<form method="post" action="([^"]+)" class="ui-grid"', page.text)[0]
    acme.warehouses.update(is_default=False)
    acme.warehouses.filter(pk=west.pk).update(is_default=True)

    ana.post(GRID + action, {"form_id": form_id(page), **row(lamp, "5", on_hand="8")})

    assert on_hand(lamp) == [8]
    assert not west.stock.exists()


def test_a_refused_count_saves_no_restock_date_and_says_so(ana, lamp):
    StockLevel.objects.filter(variant=lamp).update(counted_at=timezone.now() + timedelta(minutes=3))
    day = (timezone.now().date() + timedelta(days=9)).isoformat()

    page = save(ana, row(lamp, "5", on_hand="8", expected_at=day))

    assert "nothing saved. This count was taken at" in said(page)[0]
    assert not ExpectedStock.objects.exists()
