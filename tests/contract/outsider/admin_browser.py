"""A small client that signs in to the admin as an operator, and presses the buttons of its pages."""

from __future__ import annotations

import re
from html import unescape
from http.cookiejar import CookieJar
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, Request, build_opener


class Operator:
    """A signed-in operator.

    Example: `Operator(demo["admin"]).press("/admin/orders/order/1/change/", "hold")`.
    """

    def __init__(self, admin: Any) -> None:
        self._base = admin["url"]
        self._cookies = CookieJar()
        self._browser = build_opener(HTTPCookieProcessor(self._cookies))
        self.open("login/")
        self.start = self.send(
            "login/", username=admin["username"], password=admin["password"], next="/admin/"
        )

    def open(self, path: str) -> str:
        return self._read(Request(urljoin(self._base, path)))

    def send(self, path: str, **fields: str) -> str:
        address = urljoin(self._base, path)
        token = next(str(cookie.value) for cookie in self._cookies if cookie.name == "csrftoken")
        body = urlencode({"csrfmiddlewaretoken": token} | fields).encode()
        return self._read(Request(address, body, {"Referer": address}))

    def _read(self, request: Request) -> str:
        try:
            with self._browser.open(request, timeout=60) as reply:
                return str(reply.read().decode())
        except HTTPError as refused:
            with refused:
                raise AssertionError(f"{request.full_url} answers {refused.code}") from refused

    def press(self, page: str, action: str, **fields: str) -> str:
        """Find the action on the page, fill in the form of the action, and send the form."""
        found = re.search(rf'(?:action|href)="([^"]*/do/{action}/)"', self.open(page))
        assert found, f"{page} offers no {action}"
        path = unescape(found[1])
        if f'href="{found[1]}"' in found[0]:
            asked = self._asked(self.open(path))
            why = {"reason": "agreed by telephone"} if asked.get("reason") == "" else {}
            fields = asked | why | fields
        return self.send(path, **fields)

    @staticmethod
    def _asked(page: str) -> dict[str, str]:
        """Return the fields of a page's form, with the shown values."""
        asked = {}
        for tag in re.findall(r"<input[^>]*>", page):
            named = dict(re.findall(r'([a-z]+)="([^"]*)"', tag))
            if named.get("type") in ("text", "email", "number", "hidden") and "name" in named:
                asked[named["name"]] = unescape(named.get("value", ""))
        return asked
