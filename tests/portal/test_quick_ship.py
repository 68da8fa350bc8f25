"""Quick ship: many rows are checked first, and then each good row is shipped once."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.member_roles import MemberRole
from fulfillments.models import Fulfillment
from orders.models import Order
from portal.supplying.quick_ship import read_rows
from tests.factories import PartnershipFactory
from tests.portal.conftest import browser_of

PATH = "/portal/quick-ship/"


@pytest.fixture
def works(acme, shop, a_variant, pushed):
    """Push three orders of one lamp each; return their fulfillments."""
    a_variant(acme, "LAMP", stock=10)
    return [pushed(shop, {"sku": "LAMP", "quantity": 1}).fulfillments.get() for _ in range(3)]


def number(work):
    return work.order.retailer_order_id


def preview(client, text="", **typed):
    return client.post(PATH, {"rows": text, **typed})


def ship(client, page):
    """Press the button of a preview. Return the page of results, and the data that was sent."""
    text = page.content.decode()
    [form_id] = re.findall(r'name="form_id" value="([^"]+)"', text)
    sent = {"ship": "1", "form_id": form_id, "rows": page.context["pasted"]}
    return client.post(PATH, sent), sent


def shipped(works):
    return [work.shipments.count() for work in works]


def problems(page, name="preview"):
    return [row.problem for row in page.context[name]]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("{}\t1Z999AA10123456784\tUPS", "more than two columns"),
        ("{},1Z999AA10123456784,UPS", "more than two columns"),
        ("{}\t1Z999AA1\x1b0123456784", "a control character"),
        ("{}\t9.40011E+21", "A spreadsheet rounded this long number."),
    ],
)
def test_a_row_that_is_no_pair_is_not_shipped(ana, works, row, problem):
    [found] = problems(preview(ana, row.format(number(works[0]))))

    assert problem in found


def test_pasted_rows_are_checked_and_then_shipped(ana, works):
    first, second, third = works
    page = preview(ana, f"{number(first)}\t1Z1\n{second.pk}, 1Z2\n{number(third)} 1Z3")
    assert "Ship 3 orders" in page.content.decode()
    assert shipped(works) == [0, 0, 0]

    result, _ = ship(ana, page)

    assert shipped(works) == [1, 1, 1]
    assert "3 of 3 rows" in result.content.decode()
    assert {Fulfillment.objects.get(pk=work.pk).state for work in works} == {"shipped"}


def test_tracking_numbers_typed_beside_the_orders_are_shipped_too(ana, works):
    page = preview(ana, **{f"tracking_{works[0].pk}": "1Z1", f"tracking_{works[1].pk}": ""})

    ship(ana, page)

    assert shipped(works) == [1, 0, 0]


def test_each_wrong_row_says_why_and_the_others_ship(ana, rival, shop, a_variant, pushed, works):
    first, second, third = works
    a_variant(rival, "MAT", stock=5)
    foreign = pushed(shop, {"sku": "MAT", "quantity": 1}).fulfillments.get()
    Order.objects.filter(pk=third.order_id).update(held=True)
    rows = [
        f"{number(first)}\t1Z1",
        "unknown\t1Z2",
        f"#{foreign.pk}\t1Z3",
        f"{number(second)}\t1Z1",
        f"{number(third)}\t1Z5",
        f"{number(second)}",
        f"{number(second)}\t{'x' * 101}",
        f"{number(first)}\t1Z8",
    ]

    page = preview(ana, "\n".join(rows))

    said = problems(page)
    assert said[0] == ""
    assert said[1] == said[2] == "You have no order with this number."
    assert said[3] == "Row 1 has this tracking number, too. Correct one row."
    assert "An operator holds the order" in said[4]
    assert "tracking number is missing" in said[5]
    assert "more than 100 characters" in said[6]
    assert said[7] == "Row 1 ships this order, too. Remove one of the two rows."
    result, _ = ship(ana, page)
    assert shipped(works) == [1, 0, 0]
    assert result.context["pasted"].splitlines() == rows[1:]


def test_the_number_of_a_shipped_order_ships_no_other_order_whose_id_it_is(ana, shop, works, pushed):
    other = works[1]
    pushed(shop, {"sku": "LAMP", "quantity": 1}, retailer_order_id=str(other.pk))
    first = f"{other.pk}\t1Z999AA10123456784"
    assert "Several orders have this number." in problems(preview(ana, first))[0]
    order = Order.objects.get(retailer_order_id=str(other.pk)).fulfillments.get()
    ship(ana, preview(ana, f"#{order.pk}\t1Z999AA10123456784"))
    assert shipped([order, other]) == [1, 0]

    [problem] = problems(preview(ana, f"{other.pk}\t1Z12345E0205271688"))

    assert problem.startswith("Several orders have this number.")
    assert f"#{other.pk}" in problem
    assert problems(preview(ana, f"#{other.pk}\t1Z12345E0205271688")) == [""]


def test_a_form_that_is_sent_twice_ships_once(ana, works):
    _, sent = ship(ana, preview(ana, f"{number(works[0])}\t1Z1"))

    again = ana.post(PATH, sent)

    assert problems(again, "results") == [""]
    assert shipped(works) == [1, 0, 0]


def test_a_form_that_is_sent_twice_ships_no_row_that_had_a_problem(
    ana, works, acme, boutique, a_variant, pushed
):
    PartnershipFactory.create(retailer=boutique, supplier=acme)
    same = pushed(boutique, {"sku": "LAMP", "quantity": 1}, retailer_order_id=number(works[0]))
    _, sent = ship(ana, preview(ana, f"{number(works[0])}\t1Z1\n#{same.fulfillments.get().pk}\t1Z2"))
    assert shipped(works) == [0, 0, 0]

    again = ana.post(PATH, sent)

    assert "this form was sent before" in problems(again, "results")[0]
    assert shipped(works) == [0, 0, 0]


def test_an_order_that_was_shipped_meanwhile_is_a_result_at_its_row(ana, works):
    ship(ana, preview(ana, f"{number(works[0])}\t1Z1"))

    page = preview(ana, f"{number(works[0])}\t1Z9")

    assert problems(page) == ["All units are shipped."]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("\n".join(f"{row}\tZ{row}" for row in range(51)), "There are 51 rows."),
        ("", "no row"),
    ],
)
def test_too_many_or_no_rows_are_refused_with_the_text_kept(ana, works, text, error):
    page = preview(ana, text).content.decode()
    assert error in page
    assert not text or "50\tZ50" in page


def test_numbers_typed_beside_the_orders_are_kept_with_too_many_pasted_rows(ana, works):
    rows = "\n".join(f"{row}\tZ{row}" for row in range(50))

    page = preview(ana, rows, **{f"tracking_{works[0].pk}": "1Z1"})

    assert "There are 51 rows." in page.text
    assert page.context["pasted"] == f"{rows}\n#{works[0].pk}\t1Z1"


def test_a_viewer_cannot_ship(acme, member_of, works):
    viewer = browser_of(member_of(acme, MemberRole.VIEWER))
    assert "You need the role Orders" in viewer.get(PATH).content.decode()
    assert viewer.post(PATH, {"rows": f"{number(works[0])}\t1Z1"}).status_code == 403


def test_checking_takes_the_same_queries_for_any_number_of_rows(ana, works):
    def count(rows):
        with CaptureQueriesContext(connection) as captured:
            preview(ana, "\n".join(f"{number(work)}\t1Z{work.pk}" for work in rows))
        return len(captured)

    assert count(works[:1]) == count(works)


@pytest.mark.parametrize("line", ["A-1\t1Z 9", "A-1 , 1Z 9", "A-1;1Z 9"])
def test_rows_are_read_with_any_common_separator(line):
    [row] = read_rows(line)
    assert (row.order, row.tracking_number) == ("A-1", "1Z 9")


def test_a_doubtful_number_is_marked_and_ships_only_when_it_is_confirmed(ana, works):
    text = f"{number(works[0])}\t1Z999AA10123456785\n{number(works[1])}\t1Z999AA10123456784"
    page = preview(ana, text)
    assert [bool(row.warning) for row in page.context["preview"]] == [True, False]
    assert [row.carrier for row in page.context["preview"]] == ["UPS", "UPS"]
    text = page.content.decode()
    assert "Also ship the 1" in text
    assert ">Ship orders</button>" in text  # without a number, because the tick changes it

    result, sent = ship(ana, page)
    assert shipped(works) == [0, 1, 0]
    assert "confirm it" in problems(result, "results")[0]

    ana.post(PATH, {**sent, "doubtful": "1"})
    assert shipped(works) == [1, 1, 0]
