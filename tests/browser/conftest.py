"""A real browser for tests. Errors in its console and requests to other hosts make the test fail."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from backoffice.groups import OPERATORS, SUPPORT
from tests.factories import StaffFactory

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PASSWORD = "long enough for anybody"


@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    """Start Chromium once for all tests of the package, with a cache for styles and scripts.

    Chromium and Playwright end after these tests, because Playwright keeps an event loop in this thread.
    """
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM} here")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    # Because of the event loop, Django would refuse the queries of the tests as asynchronous.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(120_000)  # a busy machine needs more time than the default
        yield context
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@dataclass
class AdminBrowser:
    """A page of the browser. It records errors and loaded addresses, and counts clicks."""

    page: Any
    base: str
    complaints: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    inside: list[str] = field(default_factory=list)
    clicks: int = 0

    def watch(self) -> None:
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._asked)

    def start_as(self, username: str) -> None:
        """Sign in as this user without the login page."""
        client = Client()
        client.force_login(User.objects.get(username=username))
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        self.page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": self.base}])

    def log_in(self, username: str) -> None:
        self.page.goto(f"{self.base}/admin/")
        self.page.fill("#id_username", username)
        self.page.fill("#id_password", PASSWORD)
        self.click("[type=submit]")

    def open(self, path: str) -> None:
        self.page.goto(f"{self.base}{path}")

    def press(self, label: str) -> None:
        """Press a button, or a link that looks like a button, and wait for the next page.

        An action in a menu takes another click, which opens the menu.
        """
        found = f'.ui-button:text("{label}"), .submit-row input[value="{label}"]'
        hidden = self.page.locator(".ui-menu", has=self.page.locator(f'.ui-item:text("{label}")'))
        if self.page.locator(found).count() == 0 and hidden.count() > 0:
            self.clicks += 1
            hidden.locator("summary").first.click()
            found = f'.ui-item:text("{label}")'
        self.click(found)

    def click(self, selector: str) -> None:
        """Click the first matching element, and wait for the next page."""
        self.clicks += 1
        with self.page.expect_navigation():
            self.page.locator(selector).first.click()

    def messages(self) -> list[str]:
        return [str(text) for text in self.page.locator(".ui-messages li").all_inner_texts()]

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _asked(self, request: Any) -> None:
        if request.url.startswith(("data:", "blob:")):
            return
        (self.inside if request.url.startswith(self.base) else self.elsewhere).append(request.url)


@pytest.fixture
def browser(chromium: Any, live_server: Any) -> Iterator[AdminBrowser]:
    """Return a new page of the browser without a session. Check the recorded errors after the test."""
    for name, group in (("olga", OPERATORS), ("sam", SUPPORT)):
        StaffFactory.create(username=name, password=PASSWORD, group=group)
    browser = AdminBrowser(chromium.new_page(), live_server.url)
    browser.watch()
    yield browser
    browser.page.close()
    chromium.clear_cookies()
    assert browser.inside, "the browser loaded nothing from the service"
    assert (browser.complaints, browser.elsewhere) == ([], [])
