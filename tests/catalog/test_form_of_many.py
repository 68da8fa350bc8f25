"""A variant's form keeps concurrent changes, and shows a message when a save changed nothing."""

from decimal import Decimal

import pytest
from django.contrib.messages import get_messages

from accounts.actors import Actor
from catalog.models import VariantChange

pytestmark = pytest.mark.django_db


def said(answer):
    return [str(each) for each in get_messages(answer.wsgi_request)]


def test_a_price_that_a_file_changes_while_the_form_is_open_stays(save, lantern):
    send = save()
    lantern.change({"retail_price": Decimal(25)}, by=Actor.system("import"))

    assert send(title="Lamp").status_code == 302

    lantern.refresh_from_db()
    assert (lantern.title, lantern.retail_price) == ("Lamp", 25)
    assert VariantChange.objects.latest("id").changed == {"title": {"from": "Acme LAN-1", "to": "Lamp"}}


def test_a_field_that_both_changed_is_shown_and_saved_only_at_a_second_save(save, lantern):
    send = save()
    lantern.change({"retail_price": Decimal(25)}, by=Actor.system("import"))

    answer = send(retail_price="21")

    assert "Someone changed &#x27;19.99&#x27; to &#x27;25&#x27; in the meantime." in answer.text
    lantern.refresh_from_db()
    assert lantern.retail_price == 25
    shown = answer.context["adminform"].form["retail_price"].as_hidden(only_initial=True)
    assert 'value="25"' in shown
    assert send(**{"retail_price": "21", "initial-retail_price": "25"}).status_code == 302
    lantern.refresh_from_db()
    assert lantern.retail_price == 21


def test_a_form_that_changes_nothing_says_so(save, lantern):
    assert said(save()()) == ["Nothing was changed: the form has no new values."]
    assert not VariantChange.objects.exists()
