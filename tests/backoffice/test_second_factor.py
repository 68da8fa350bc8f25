"""Signing in with a second factor: asked of whoever has one, and of groups that must."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, User

from accounts.rates import Counter
from backoffice.groups import OPERATORS
from events.models import Event
from tests.backoffice.second_factors import PASSWORD, SECOND, Person, app_code
from tests.factories import StaffFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Person:
    StaffFactory.create(username="ada", password=PASSWORD, group=OPERATORS)
    return Person("ada")


@pytest.fixture
def root() -> Person:
    StaffFactory.create(username="root", password=PASSWORD, is_superuser=True)
    root = Person("root")
    root.sign_in()
    return root


@pytest.fixture
def _must(root) -> None:
    """The operators must use one: said on their group's page."""
    group = Group.objects.get(name=OPERATORS)
    form = {"name": group.name, "second_factor_required": "on", "permissions": permissions(group)}
    answer = root.client.post(f"/admin/auth/group/{group.pk}/change/", form)
    assert answer.status_code == 302, answer.content


def permissions(group: Group) -> list[int]:
    return list(group.permissions.values_list("pk", flat=True))


def test_whoever_has_an_app_is_asked_for_its_code_and_goes_where_he_wanted(ada):
    assert ada.sign_in().headers["Location"] == "/admin/orders/order/"
    ada.set_up()

    assert ada.sign_in().headers["Location"] == SECOND
    assert not ada.sees_orders()
    assert ada.enter("000000").status_code == 200
    assert not ada.sees_orders()
    assert ada.enter(app_code(ada.secret)).headers["Location"] == "/admin/orders/order/"
    assert ada.sees_orders()


def test_a_code_is_good_for_one_sign_in(ada):
    ada.sign_in()
    ada.set_up()
    code = app_code(ada.secret)
    ada.sign_in()
    assert ada.enter(code).status_code == 302

    ada.sign_in()
    assert b"already used" in ada.enter(code).content
    assert ada.enter(app_code(ada.secret, 1)).status_code == 302


def test_a_recovery_code_lets_in_once(ada):
    ada.sign_in()
    first, *_ = ada.set_up()
    ada.sign_in()
    assert ada.enter(f" {first.upper()} ").status_code == 302

    ada.sign_in()
    assert ada.enter(first).status_code == 200


def test_who_guesses_codes_is_refused_though_the_next_is_right(ada, caplog):
    ada.sign_in()
    ada.set_up()
    ada.sign_in()
    for guess in range(20):
        ada.enter(f"{guess:06}")

    assert b"Too many tries" in ada.enter(app_code(ada.secret)).content
    assert "a second factor of operator 'ada' from 127.0.0.1 was wrong" in caplog.text


def test_without_redis_codes_are_taken_once(ada, monkeypatch):
    monkeypatch.setattr("backoffice.sign_in.counter", lambda: Counter("redis://127.0.0.1:1/0"))
    ada.sign_in()
    ada.set_up()
    ada.sign_in()
    assert ada.enter(code := app_code(ada.secret)).status_code == 302
    ada.sign_in()
    assert ada.enter(code).status_code == 200


def test_secrets_of_apps_are_not_readable_in_the_database(ada):
    ada.sign_in()
    ada.set_up()
    stored = Authenticator.objects.get(type="totp")
    assert ada.secret not in str(stored.data)


@pytest.mark.usefixtures("_must")
def test_who_must_use_one_and_has_none_can_do_nothing_else(ada):
    ada.sign_in()
    for path in ("/admin/", "/admin/orders/order/", "/admin/imports/importjob/1/do/approve/"):
        for answer in (ada.client.get(path), ada.client.post(path)):
            assert answer.headers["Location"] == "/admin/second-factor/"
    assert b"Your group requires a second factor" in ada.client.get("/admin/second-factor/").content

    ada.set_up()
    assert ada.sees_orders()


@pytest.mark.usefixtures("_must")
def test_that_a_group_must_use_one_is_recorded_and_can_be_taken_back(ada, root):
    group = Group.objects.get(name=OPERATORS)
    assert group.permissions.exists()
    root.client.post(
        f"/admin/auth/group/{group.pk}/change/", {"name": group.name, "permissions": permissions(group)}
    )

    said = [
        event.data["second_factor_required"]["new"] for event in Event.objects.filter(type="group.updated")
    ]
    assert said == [True, False]
    ada.sign_in()
    assert ada.sees_orders()


def test_another_operator_resets_a_lost_one_with_a_reason(ada, root):
    ada.sign_in()
    ada.set_up()
    page = f"/admin/auth/user/{User.objects.get(username='ada').pk}/"
    assert b"TOTP Authenticator since" in root.client.get(f"{page}change/").content
    assert root.client.post(f"{page}reset-second-factor/", {"reason": ""}).status_code == 200

    root.client.post(f"{page}reset-second-factor/", {"reason": "She called from her desk"})

    assert ada.sign_in().headers["Location"] == "/admin/orders/order/"
    event = Event.objects.get(type="operator.second_factor_reset")
    assert (event.actor, event.data["operator"], event.data["reason"]) == (
        "user:root",
        "ada",
        "She called from her desk",
    )


def test_nobody_resets_his_own_nor_a_superusers_without_being_one(ada, root):
    ada.sign_in()
    path = "/admin/auth/user/{}/reset-second-factor/"
    root_id = User.objects.get(username="root").pk
    assert root.client.post(path.format(root_id), {"reason": "x"}).status_code == 403
    assert ada.client.post(path.format(root_id), {"reason": "x"}).status_code == 403


def test_what_becomes_of_a_second_factor_is_recorded(ada, django_capture_on_commit_callbacks):
    ada.sign_in()
    with django_capture_on_commit_callbacks(execute=True):
        ada.set_up()
    ada.client.post("/admin/second-factor/totp/deactivate/")

    types = list(Event.objects.filter(area="accounts").order_by("id").values_list("type", "data__factor"))
    assert types == [
        ("operator.second_factor_added", "totp"),
        ("operator.second_factor_added", "recovery_codes"),
        ("operator.second_factor_removed", "totp"),
        ("operator.second_factor_removed", "recovery_codes"),
    ]
    assert ada.sign_in().headers["Location"] == "/admin/orders/order/"


def test_somebody_who_is_no_operator_any_more_stays_out_at_the_second_step(ada):
    ada.sign_in()
    ada.set_up()
    ada.sign_in()
    User.objects.update(is_staff=False)
    ada.enter(app_code(ada.secret))
    assert not ada.sees_orders()


def test_whoever_signed_in_a_while_ago_is_asked_again_before_he_changes_it(ada, monkeypatch):
    ada.sign_in()
    ada.set_up()
    monkeypatch.setattr("backoffice.second_factor.adapters.ASKED_AGAIN_AFTER", -1.0)
    path = "/admin/second-factor/totp/deactivate/"
    asked = ada.client.post(path).headers["Location"]
    assert asked.startswith("/admin/reauthenticate/")

    assert b"incorrect" in ada.client.post(asked, {"password": "wrong"}).content.lower()
    ada.client.post(asked, {"password": PASSWORD})
    assert not Authenticator.objects.exists()
