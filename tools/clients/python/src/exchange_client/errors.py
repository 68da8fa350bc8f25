"""The exceptions of the client."""

from __future__ import annotations

from dataclasses import dataclass

import httpx


class ExchangeError(Exception):
    """The base class of all exceptions that a call raises."""


class NotReached(ExchangeError):
    """No attempt got an answer: the connection failed or timed out.

    The service may have carried out the request. Repeat the request with the same idempotency key.
    """


@dataclass(frozen=True)
class FieldError:
    """An error of one field; `field` is a path such as `order_lines[2].quantity`."""

    field: str
    code: str
    message: str


class ApiError(ExchangeError):
    """An answer that reports an error.

    `code` is for programs, `message` for people, and `errors` names the fields. `docs` is the address of a
    page that explains how to correct the error. `retry_after` is the pause in seconds that the service
    requests, or None. Quote `request_id` when you ask for help.
    """

    def __init__(self, response: httpx.Response, retry_after: float | None = None) -> None:
        try:
            said = response.json()
        except ValueError:  # the answer is a proxy's page, not JSON
            said = None
        said = said if isinstance(said, dict) else {}
        faults = said.get("errors")
        self.status = response.status_code
        self.code = str(said.get("code") or "unknown")
        self.message = str(said.get("message") or response.reason_phrase)
        self.request_id = str(said.get("request_id") or response.headers.get("X-Request-Id", ""))
        self.docs = str(response.url.join(str(said["docs"]))) if said.get("docs") else ""
        self.retry_after = retry_after
        self.errors = [
            FieldError(str(each.get("field", "")), str(each.get("code", "")), str(each.get("message", "")))
            for each in (faults if isinstance(faults, list) else [])
            if isinstance(each, dict)
        ]
        fields = "".join(f"; {self._said_of(each)}" for each in self.errors)
        super().__init__(f"{self.status} {self.code}: {self.message}{fields} (request {self.request_id})")

    def _said_of(self, fault: FieldError) -> str:
        """Return a field with its message, or only the field if the error has the same message."""
        return fault.field if fault.message == self.message else f"{fault.field}: {fault.message}"
