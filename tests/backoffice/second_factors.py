"""An operator with a phone, who signs in, sets up an app, and reads its codes."""

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
    """Return the code of an app (RFC 6238), of now or of a later half minute."""
    step = int(time.time()) // 30 + later
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", step), "sha1")
    at = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[at : at + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


@dataclass
class Person:
    """A user with a browser."""

    name: str
    client: Client = field(default_factory=Client)
    secret: str = ""

    def sign_in(self) -> Any:
        """Do the first step of signing in; return the next page."""
        self.client = Client()
        form = {"username": self.name, "password": PASSWORD, "next": "/admin/orders/order/"}
        return self.client.post(SIGN_IN, form)

    def enter(self, code: str) -> Any:
        """Do the second step of signing in."""
        return self.client.post(SECOND, {"code": code})

    def set_up(self) -> list[str]:
        """Set up an app for a signed-in user; return the recovery codes."""
        self.secret = self.client.get(SET_UP).context["form"].secret
        # Use the previous code, so that the present one can be used next. It is valid until this half minute
        # ends.
        with time_machine.travel(time.time(), tick=False):
            page = self.client.post(SET_UP, {"code": app_code(self.secret, -1)}, follow=True)
        return list(page.context["unused_codes"])

    def sees_orders(self) -> bool:
        return bool(self.client.get("/admin/orders/order/").status_code == 200)
