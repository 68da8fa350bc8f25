"""The text of a form is kept when the form is sent after the end of the session."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from unittest import mock

import pytest
from django.core import signing
from django.core.signing import b62_encode
from django.test import Client
from django.utils import timezone

from accounts.models import TypedDraft
from accounts.tasks import expire
from accounts.typed_drafts import AUTHOR, KEPT, LARGEST, MOST
from orders.models import Order
from tests.factories import StaffFactory

PAGE = "/admin/search/?q=x"


@pytest.fixture
def olga(db):
    return StaffFactory.create(username="olga", group="Operators")


@pytest.fixture
def browser(olga) -> Client:
    """Return a browser in which Olga is signed in and has opened the page."""
    client = Client(enforce_csrf_checks=True, headers={"referer": f"http://testserver{PAGE}"})
    client.force_login(olga)
    client.get(PAGE)
    return client


def send(client: Client, path: str = "/admin/desk/note/", **fields: str | list[str]):
    client.cookies["csrftoken"] = "a" * 32
    return client.post(path, {"text": "Asked Acme", "csrfmiddlewaretoken": "a" * 32, **fields})


def end_session(client: Client) -> None:
    del client.cookies["sessionid"]


def kept(client: Client) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = client.get(PAGE).context["kept_text"].fields
    return dict(fields)


def test_text_is_shown_again_after_the_session_was_over(browser, olga):
    end_session(browser)
    answer = send(browser)
    assert answer["Location"] == "/admin/login/?next=%2Fadmin%2Fsearch%2F%3Fq%3Dx"
    assert "Acme" not in answer["Location"]
    assert "Acme" not in TypedDraft.objects.get().fields

    browser.force_login(olga)
    page = browser.get(PAGE)
    assert "Your text was kept. It is not sent yet." in page.text
    assert page.context["kept_text"].fields == {"text": ["Asked Acme"]}


def signed_in_before(olga, seconds: int) -> str:
    """Return the cookie of an author that was made this number of seconds ago."""
    begun = b62_encode(int(time.time()) - seconds)
    with mock.patch.object(signing.TimestampSigner, "timestamp", return_value=begun):
        return signing.dumps(olga.pk, salt=AUTHOR)


def test_text_is_kept_when_the_session_has_ended_by_its_age(browser, olga, settings):
    lifetime = settings.SESSION_COOKIE_AGE + 3_600
    assert browser.cookies[AUTHOR]["max-age"] > lifetime
    browser.cookies[AUTHOR] = signed_in_before(olga, lifetime)
    end_session(browser)

    send(browser)

    assert TypedDraft.objects.get().user == olga


def test_the_cookie_of_an_author_is_renewed_each_day(browser, olga):
    for age, is_renewed in ((3_600, False), (90_000, True)):
        browser.cookies[AUTHOR] = signed_in_before(olga, age)
        assert (AUTHOR in browser.get(PAGE).cookies) is is_renewed


def test_text_is_kept_when_the_token_of_the_form_is_too_old(browser):
    answer = browser.post("/admin/desk/note/", {"text": "Asked Acme", "csrfmiddlewaretoken": "b" * 32})
    assert answer.status_code == 403
    assert KEPT in answer.text
    assert f'href="{PAGE}"' in answer.text
    assert kept(browser) == {"text": ["Asked Acme"]}


def test_a_malformed_referer_is_no_page(browser):
    browser.defaults["HTTP_REFERER"] = "http://[testserver/admin/search/"
    refused = browser.post("/admin/search/", {"text": "Asked Acme", "csrfmiddlewaretoken": "b" * 32})
    assert refused.status_code == 403
    assert TypedDraft.objects.get().path == "/admin/search/"


def test_forged_names_of_fields_are_no_error(browser):
    end_session(browser)
    assert send(browser, **{"initial-initial-x": "1", "initial-x": "1", "x": "1"}).status_code == 302
    assert TypedDraft.objects.get().path == PAGE


def test_another_person_does_not_see_the_kept_text(browser):
    end_session(browser)
    send(browser)
    browser.force_login(StaffFactory.create(username="bert", group="Operators"))
    assert kept(browser) == {}


def test_secrets_and_files_are_never_kept(browser):
    end_session(browser)
    send(browser, password1="hunter2", client_secret="s", new_token="t", api_key="k")
    assert TypedDraft.objects.count() == 1
    for path in ("/admin/auth/user/1/password/", "/admin/second-factor/totp/activate/"):
        TypedDraft.objects.all().delete()
        send(browser, path)
        assert not TypedDraft.objects.exists()


def test_only_the_names_of_harmless_fields_are_stored(browser, olga):
    end_session(browser)
    send(browser, password1="hunter2", client_secret="s", new_token="t", api_key="k")
    browser.force_login(olga)
    assert kept(browser) == {"text": ["Asked Acme"]}


@pytest.mark.parametrize("name", ["zip_code", "key_name", "host_key", "public_keys"])
def test_fields_that_only_sound_secret_are_kept(browser, olga, name):
    end_session(browser)
    send(browser, **{name: "99999"})
    browser.force_login(olga)
    assert kept(browser) == {"text": ["Asked Acme"], name: ["99999"]}


@pytest.mark.parametrize(
    ("shown", "sent", "is_kept"),
    [
        ("5", ["5"], False),
        ("5", ["6"], True),
        ("", [""], False),
        ("5", [""], True),
        ("True", ["on"], False),
        ("True", [], True),
        ("False", [], False),
        ("False", ["on"], True),
        ('["2", "1"]', ["1", "2"], False),
        ('["2", "1"]', ["1"], True),
        ("[]", [], False),
    ],
)
def test_a_field_is_kept_with_its_shown_value_if_its_author_changed_it(browser, olga, shown, sent, is_kept):
    end_session(browser)
    send(browser, **{"initial-field": shown, "field": sent})
    browser.force_login(olga)
    fields = kept(browser)
    assert fields.pop("text") == ["Asked Acme"]
    assert fields == ({"initial-field": [shown], "field": sent} if is_kept else {})


@pytest.mark.parametrize("name", ["code", "0-code", "key", "pin", "otp_token", "private_key", "oldpassword"])
def test_codes_and_keys_for_signing_in_are_never_kept(browser, olga, name):
    end_session(browser)
    send(browser, **{name: "123456"})
    browser.force_login(olga)
    assert kept(browser) == {"text": ["Asked Acme"]}


def test_nothing_is_kept_for_a_browser_in_which_no_one_had_signed_in(db):
    send(Client(enforce_csrf_checks=True))
    assert not TypedDraft.objects.exists()


def test_the_size_and_the_number_of_kept_texts_are_limited(browser):
    end_session(browser)
    send(browser, text="x" * LARGEST)
    assert not TypedDraft.objects.exists()
    for number in range(MOST + 2):
        browser.defaults["HTTP_REFERER"] = f"http://testserver/admin/search/?q={number}"
        send(browser)
    assert TypedDraft.objects.count() == MOST


def test_kept_text_is_deleted_on_request_and_after_a_day(browser, olga):
    end_session(browser)
    send(browser)
    browser.force_login(olga)
    page = browser.get(PAGE)
    token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert token is not None
    forget = {"forget_typed_text": "1", "csrfmiddlewaretoken": token[1]}
    assert browser.post(PAGE, forget)["Location"] == PAGE
    assert kept(browser) == {}

    send(browser, csrfmiddlewaretoken="b" * 32)
    TypedDraft.objects.update(created_at=timezone.now() - timedelta(days=1))
    assert kept(browser) == {}
    expire()
    assert not TypedDraft.objects.exists()


def test_pages_without_a_draft_take_no_more_queries(browser, django_assert_num_queries):
    browser.get(PAGE)
    with django_assert_num_queries(5):
        browser.get("/admin/search/")
    assert Order.objects.count() == 0
