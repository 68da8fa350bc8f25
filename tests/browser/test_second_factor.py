"""A second factor in a real browser, with a virtual authenticator of Chromium."""

import pytest
from django.contrib.auth.models import Group

from backoffice.groups import OPERATORS
from backoffice.models import SignInRule
from tests.backoffice.second_factors import app_code

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FINGER = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def finger(browser):
    """Add a virtual fingerprint reader that always recognizes the user."""
    devices = browser.page.context.new_cdp_session(browser.page)
    devices.send("WebAuthn.enable")
    return devices, devices.send("WebAuthn.addVirtualAuthenticator", {"options": FINGER})["authenticatorId"]


@pytest.fixture
def _must(browser):
    SignInRule(group=Group.objects.get(name=OPERATORS), second_factor_required=True).save()


def heading(browser):
    return browser.page.locator("#content h1").first.inner_text()


def sign_out(browser):
    browser.page.locator(".ui-person summary").click()
    with browser.page.expect_navigation():
        browser.page.locator("#logout-form button").click()


@pytest.mark.usefixtures("finger", "_must")
def test_an_operator_is_led_to_add_a_passkey_and_signs_in_with_it_alone(browser):
    browser.log_in("olga")
    assert "Your group requires a second factor" in browser.page.locator(".ui-note").inner_text()
    browser.press("Add passkey")
    browser.click("#mfa_webauthn_add")
    assert heading(browser) == "Recovery codes"
    assert browser.page.locator(".bo-codes li").count() == 10
    browser.press("Done")
    assert heading(browser) == "Home"

    sign_out(browser)
    browser.open("/admin/login/")
    browser.click("#passkey_login")
    assert heading(browser) == "Home"

    sign_out(browser)
    browser.log_in("olga")
    assert heading(browser) == "Second factor"
    browser.click("#mfa_passkey")
    assert heading(browser) == "Home"


def test_an_app_is_set_up_by_its_key_and_required_at_the_next_sign_in(browser):
    browser.log_in("olga")
    browser.open("/admin/second-factor/")
    browser.press("Set up app")
    assert browser.page.locator(".bo-qr").evaluate("image => image.naturalWidth") > 0
    secret = browser.page.locator("#authenticator_secret").inner_text()
    # Each code is accepted once, so set up the app with the current code, and sign in with the next code. The
    # service accepts codes of the neighboring half minutes, too.
    browser.page.fill("#id_code", app_code(secret))
    browser.click(".submit-row [type=submit]")
    assert heading(browser) == "Recovery codes"

    sign_out(browser)
    browser.log_in("olga")
    browser.page.fill("#id_code", app_code(secret, 1))
    browser.click("[type=submit]")
    assert heading(browser) == "Home"


def test_an_error_of_a_passkey_is_shown_on_the_page(browser, finger):
    devices, authenticator = finger
    devices.send("WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": False})
    browser.open("/admin/login/")
    browser.page.click("#passkey_login")
    trouble = browser.page.locator("#passkey-trouble")
    trouble.wait_for()
    assert "Try again" in trouble.inner_text()


def test_pages_of_the_second_factor_are_not_wider_than_the_window(browser):
    browser.start_as("olga")
    for width in (1280, 420):
        browser.page.set_viewport_size({"width": width, "height": 900})
        for path in ("", "totp/activate/", "webauthn/add/"):
            browser.open(f"/admin/second-factor/{path}")
            assert browser.page.evaluate("document.documentElement.scrollWidth") <= width
