"""Wrong passwords of operators are limited for each name and address, and logged."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.rates import Counter
from tests.factories import StaffFactory

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


@pytest.fixture
def _ada() -> None:
    StaffFactory.create(username="ada", password=PASSWORD)


def signed_in(name: str = "ada", password: str = PASSWORD, address: str = "203.0.113.9") -> bool:
    form = {"username": name, "password": password, "next": "/admin/"}
    return Client().post("/admin/login/", form, REMOTE_ADDR=address).status_code == 302


@pytest.mark.usefixtures("_ada")
def test_correct_sign_ins_do_not_count_as_tries():
    assert all(signed_in() for _ in range(11))


@pytest.mark.usefixtures("_ada")
def test_after_ten_wrong_passwords_even_the_right_one_is_refused():
    assert not any(signed_in(password=f"guess {n}") for n in range(10))

    assert not signed_in()
    assert signed_in(address="203.0.113.10"), "ada can sign in from another address"


@pytest.mark.usefixtures("_ada")
def test_many_names_from_one_address_are_refused():
    assert not any(signed_in(name=f"name {n}", password="x") for n in range(60))

    assert not signed_in()


@pytest.mark.usefixtures("_ada")
def test_the_addresses_of_an_ipv6_network_count_as_one_address():
    assert not any(signed_in(name=f"name {n}", password="x", address=f"2001:db8::{n:x}") for n in range(60))

    assert not signed_in(address="2001:db8::ffff")
    assert signed_in(address="2001:db8:0:1::1")


@pytest.mark.usefixtures("_ada")
def test_a_failure_is_logged_with_name_and_address_and_without_the_password(caplog):
    signed_in(password="not this one")

    (line,) = [each.getMessage() for each in caplog.records if "sign-in" in each.getMessage()]
    assert "'ada'" in line
    assert "203.0.113.9" in line
    assert "not this one" not in caplog.text


@pytest.mark.usefixtures("_ada")
def test_without_redis_operators_sign_in(monkeypatch):
    monkeypatch.setattr("accounts.sign_in.counter", lambda: Counter("redis://127.0.0.1:1/0"))
    assert signed_in()


def test_an_operator_changes_the_password_on_a_page_of_the_design_system(operator):
    page = operator.get("/admin/password_change/").text
    assert 'class="ui-button ui-primary">Change password<' in page
    assert "style=" not in page
    wrong = operator.post("/admin/password_change/", {"old_password": "no"}).text
    assert "Please correct the marked fields." in wrong
