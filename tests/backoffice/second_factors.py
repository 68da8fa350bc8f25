"""An operator with an authenticator app, for tests of the second factor."""

from __future__ import annotations

import base64
import hmac
import struct
import time
from dataclasses import dataclass, field
from typing import Any

import time_machine
from django.test import Client

PASSWORD = "correct horse battery"
SIGN_IN, SECOND, SET_UP = (
    "/admin/login/",
    "/admin/second-factor/authenticate/",
    "/admin/second-factor/totp/activate/",
)


def app_code(secret: str, later: int = 0) -> str:
    """Return the code that the app shows (RFC 6238). `later` is a number of half minutes from now."""
    step = int(time.time()) // 30 + later
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", step), "sha1")
    at = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[at : at + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


@dataclass
class Person:
    """A user with a browser, and with the secret of the authenticator app."""

    name: str
    client: Client = field(default_factory=Client)
    secret: str = ""

    def sign_in(self) -> Any:
        """Send the name and the password in a new browser, and return the answer."""
        self.client = Client()
        form = {"username": self.name, "password": PASSWORD, "next": "/admin/orders/order/"}
        return self.client.post(SIGN_IN, form)

    def enter(self, code: str) -> Any:
        """Send the code of the second factor, and return the answer."""
        return self.client.post(SECOND, {"code": code})

    def set_up(self) -> list[str]:
        """Set up the app for the signed-in user, and return the recovery codes."""
        self.secret = self.client.get(SET_UP).context["form"].secret
        # Each code is accepted once. Use the code of the previous half minute, so that the test can use the
        # current code next. The previous code is valid until the current half minute ends, so stop the clock.
        with time_machine.travel(time.time(), tick=False):
            page = self.client.post(SET_UP, {"code": app_code(self.secret, -1)}, follow=True)
        return list(page.context["unused_codes"])

    def sees_orders(self) -> bool:
        return bool(self.client.get("/admin/orders/order/").status_code == 200)
