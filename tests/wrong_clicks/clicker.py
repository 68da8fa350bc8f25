"""A person who follows random links, and sends forms with random answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http.response import HttpResponseBase
from django.test import Client

from tests.wrong_clicks.pages import Form, Page

TYPED = (
    *("", " ", "0", "-1", "1", "3", "2147483648", "99999999999999999999", "1e400", "NaN", "1,5", "٣"),
    *("x" * 5_000, "\x00", "\ud7ff", "💥", "<b>&amp;", "'; --", "%s %(a)s", "{0}", "..", "/", "\r\nX: y"),
    *("2026-02-30", "0000-00-00", "9999-12-31", "2026-11-24", "25:61", "2026-11-24T10:00:00+99:00"),
    *("a@b", "http://[::1", "https://example.com/a", "null", "[]", "{", "true", "LAN-1", "*", "^", "("),
)
FILES = (b"", b"\x00\xff", b"sku,quantity\nLAN-1,x\n", b'{"a": [', b"PK\x03\x04 no zip", b"\xef\xbb\xbfsku\n")
NEVER = re.compile(r"/(logout|sign-out)/|/jsi18n/")


class Clicker:
    """A source of random clicks below the path `home`. It keeps the clicks for the report of a failure."""

    def __init__(self, client: Client, home: str, random: Random, sign_in: Callable[[], None]) -> None:
        self.client, self.home, self.random, self.sign_in = client, home, random, sign_in
        self.way: list[str] = []
        self.page = Page("")
        self.path = home

    def click(self) -> HttpResponseBase:
        """Follow a link or send a form of the current page, and return the answer."""
        forms, links = list(self.page.forms.values()), list(self._links())
        if self.random.random() < 0.1 or not (forms or links):
            return self._open(self.home, "get", {})
        if forms and (not links or self.random.random() < 0.5):
            return self._send(self.random.choice(forms))
        return self._open(self._changed(self.random.choice(links)), "get", {})

    def _links(self) -> Iterator[str]:
        for link in self.page.links:
            target = urljoin(self.path, link)
            if target.startswith(self.home) and not NEVER.search(target):
                yield target

    def _changed(self, link: str) -> str:
        """Return the link, sometimes with another value in its query."""
        parts = urlsplit(link)
        query = parse_qsl(parts.query, keep_blank_values=True)
        if not query or self.random.random() < 0.7:
            return link
        name, _ = self.random.choice(query)
        return parts._replace(query=urlencode([*query, (name, self._typed())], errors="replace")).geturl()

    def _send(self, form: Form) -> HttpResponseBase:
        answers: dict[str, Any] = {}
        for name, kind, values in form.fields:
            if (answer := self._answer(name, kind, values)) is not None:
                answers.setdefault(name, []).append(answer)
        button = self.random.choice(form.buttons) if form.buttons else {}
        if button.get("name"):
            answers.setdefault(button["name"], []).append(button.get("value", ""))
        target = urljoin(self.path, button.get("formaction") or form.action or self.path)
        method = button.get("formmethod", form.method).lower()
        if not target.startswith(self.home) or NEVER.search(target):
            return self._open(self.home, "get", {})
        return self._open(target, method, answers)

    def _answer(self, name: str, kind: str, values: list[str]) -> Any:
        chance = self.random.random()
        if kind == "file":
            return SimpleUploadedFile("a.csv", self.random.choice(FILES)) if chance < 0.7 else None
        if kind in ("checkbox", "radio"):
            return (values or ["on"])[0] if chance < 0.5 else None
        if kind == "hidden":
            return (values or [""])[0] if chance < 0.95 else self._typed()
        if kind == "select" and values and chance < 0.9:
            return self.random.choice(values)
        if chance < 0.5:
            return (values or ["3"])[0]
        return None if chance < 0.55 else self._typed()

    def _typed(self) -> str:
        return self.random.choice(TYPED)

    def _open(self, target: str, method: str, answers: dict[str, Any]) -> HttpResponseBase:
        self.way.append(f"{method} {target} {answers or ''}"[:2_000])
        send = self.client.post if method == "post" else self.client.get
        response = send(target, answers, follow=True)
        if not response.request["PATH_INFO"].startswith(self.home):
            self.sign_in()
        self.path = response.request["PATH_INFO"]
        html = not response.streaming and response.headers.get("Content-Type", "").startswith("text/html")
        self.page = Page(response.text if html else "")
        return response
