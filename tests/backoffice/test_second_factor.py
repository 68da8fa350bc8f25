"""Sign-in with a second factor: for users who have one, and for groups that require it."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, Permission, User

from accounts.rates import Counter
from backoffice.groups import OPERATORS, SUPPORT
from backoffice.models import lacks_second_factor
from events.models import Event
from tests.backoffice.second_factors import PASSWORD, SECOND, Person, app_code
from tests.factories import StaffFactory
from tools.demo import cast
from tools.launcher import programs

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
    """Require a second factor from all operators. The superuser sets this on the operators' group."""
    group = Group.objects.get(name=OPERATORS)
    form = {"name": group.name, "second_factor_required": "on", "permissions": permissions(group)}
    answer = root.client.post(f"/admin/auth/group/{group.pk}/change/", form)
    assert answer.status_code == 302, answer.content


def permissions(group: Group) -> list[int]:
    return list(group.permissions.values_list("pk", flat=True))


def test_a_user_with_an_app_enters_its_code_and_gets_the_wanted_page(ada):
    assert ada.sign_in().headers["Location"] == "/admin/orders/order/"
    ada.set_up()

    assert ada.sign_in().headers["Location"] == SECOND
    assert not ada.sees_orders()
    assert ada.enter("000000").status_code == 200
    assert not ada.sees_orders()
    assert ada.enter(app_code(ada.secret)).headers["Location"] == "/admin/orders/order/"
    assert ada.sees_orders()


def test_a_code_is_accepted_for_only_one_sign_in(ada):
    ada.sign_in()
    ada.set_up()
    code = app_code(ada.secret)
    ada.sign_in()
    assert ada.enter(code).status_code == 302

    ada.sign_in()
    assert b"already used" in ada.enter(code).content
    assert ada.enter(app_code(ada.secret, 1)).status_code == 302


def test_a_recovery_code_is_accepted_once(ada):
    ada.sign_in()
    first, *_ = ada.set_up()
    ada.sign_in()
    assert ada.enter(f" {first.upper()} ").status_code == 302

    ada.sign_in()
    assert ada.enter(first).status_code == 200


def test_after_wrong_codes_even_the_right_one_is_refused(ada, caplog):
    ada.sign_in()
    ada.set_up()
    ada.sign_in()
    for guess in range(20):
        ada.enter(f"{guess:06}")

    assert b"Too many tries" in ada.enter(app_code(ada.secret)).content
    assert "a second factor of operator 'ada' from 127.0.0.1 was wrong" in caplog.text


def test_without_redis_a_code_is_still_accepted_only_once(ada, monkeypatch):
    monkeypatch.setattr("accounts.sign_in.counter", lambda: Counter("redis://127.0.0.1:1/0"))
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
def test_a_user_without_the_required_factor_can_only_set_it_up(ada):
    ada.sign_in()
    for path in ("/admin/", "/admin/orders/order/", "/admin/imports/importjob/1/do/approve/"):
        for answer in (ada.client.get(path), ada.client.post(path)):
            assert answer.headers["Location"] == "/admin/second-factor/"
    assert b"Your group requires a second factor" in ada.client.get("/admin/second-factor/").content

    ada.set_up()
    assert ada.sees_orders()


@pytest.mark.usefixtures("_must")
def test_a_groups_required_factor_is_recorded_and_can_be_removed(ada, root):
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


def test_another_operator_resets_a_lost_factor_with_a_reason(ada, root):
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


def test_no_operator_resets_their_own_factor_or_the_factor_of_a_superuser(ada, root):
    ada.sign_in()
    path = "/admin/auth/user/{}/reset-second-factor/"
    root_id = User.objects.get(username="root").pk
    assert root.client.post(path.format(root_id), {"reason": "x"}).status_code == 403
    assert ada.client.post(path.format(root_id), {"reason": "x"}).status_code == 403


def test_changes_of_a_second_factor_are_recorded(ada, django_capture_on_commit_callbacks):
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


def test_a_user_who_is_no_operator_any_more_cannot_finish_signing_in(ada):
    ada.sign_in()
    ada.set_up()
    ada.sign_in()
    User.objects.update(is_staff=False)
    ada.enter(app_code(ada.secret))
    assert not ada.sees_orders()


def test_an_old_session_must_sign_in_again_to_change_the_factor(ada, monkeypatch):
    ada.sign_in()
    ada.set_up()
    monkeypatch.setattr("backoffice.second_factor.adapters.ASKED_AGAIN_AFTER", -1.0)
    path = "/admin/second-factor/totp/deactivate/"
    asked = ada.client.post(path).headers["Location"]
    assert asked.startswith("/admin/reauthenticate/")

    assert b"incorrect" in ada.client.post(asked, {"password": "wrong"}).content.lower()
    ada.client.post(asked, {"password": PASSWORD})
    assert not Authenticator.objects.exists()


@pytest.fixture
def _by_default(settings) -> None:
    settings.SECOND_FACTOR = "required"


@pytest.mark.usefixtures("_by_default")
@pytest.mark.parametrize("rights", [{"group": OPERATORS}, {"group": "Order desk"}, {"is_superuser": True}])
def test_by_default_each_user_who_may_act_first_sets_up_a_second_factor(rights):
    StaffFactory.create(username="ada", password=PASSWORD, **rights)
    ada = Person("ada")
    ada.sign_in()

    answer = ada.client.get("/admin/orders/order/", follow=True)

    assert answer.status_code == 200
    assert answer.redirect_chain[-1][0] == "/admin/second-factor/"
    ada.set_up()
    assert ada.sees_orders()


@pytest.mark.usefixtures("_by_default")
def test_a_permission_given_directly_to_a_user_also_requires_a_factor():
    user = StaffFactory.create(username="ada", password=PASSWORD, group=SUPPORT)
    ada = Person("ada")
    ada.sign_in()
    assert ada.sees_orders()

    user.user_permissions.add(Permission.objects.get(codename="change_order"))
    assert not ada.sees_orders()


@pytest.mark.usefixtures("_by_default")
def test_an_exempt_operator_needs_no_second_factor(ada, settings):
    settings.SECOND_FACTOR_EXEMPT = ["ada"]
    ada.sign_in()
    assert ada.sees_orders()


@pytest.mark.usefixtures("_by_default")
def test_a_person_with_a_second_factor_costs_one_query(ada, django_assert_num_queries):
    ada.sign_in()
    ada.set_up()
    user = User.objects.get(username="ada")
    with django_assert_num_queries(1):  # the query of the second factors
        assert not lacks_second_factor(user)


@pytest.mark.parametrize(("demo", "exempt"), [(True, "operator"), (False, None)])
def test_only_a_run_with_demo_data_exempts_its_operator(monkeypatch, demo, exempt):
    monkeypatch.setattr(programs, "DEMO", demo)
    monkeypatch.delenv("SECOND_FACTOR_EXEMPT", raising=False)
    assert programs.service_environment({}).get("SECOND_FACTOR_EXEMPT") == exempt
    assert cast.OPERATOR == "operator"
