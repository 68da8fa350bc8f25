"""The base viewsets. They find the party of the key before any other query.

The faults of a request are reported in the contract's order: 401, 429, 403, 404, 405, 406, 415, an unreadable
body, fields, state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import failed_keys
from accounts.actors import Actor
from accounts.authentication import Access, client_address
from accounts.idempotency import idempotently
from accounts.models import ApiKey, Retailer, Supplier
from accounts.scopes import Role, Scope
from api import caller
from api.errors import Forbidden, Unauthorized
from api.etags import has_condition, refuse_changed, with_etag
from api.filters import refuse_near_misses, refuse_repeated, refuse_undecodable
from api.negotiation import OnlyAnswer, refuse_unacceptable
from api.openapi.parameters import query_parameters
from api.request_id import current_party, name_party


class KeyViewSet(ViewSet):
    """The base of every path that needs a key. It checks key, scope and rate limit, and adds idempotency."""

    content_negotiation_class = OnlyAnswer
    # With None, every key of the party is allowed. A write scope does not include its read scope (ADR 82).
    read_scope: ClassVar[Scope | None] = None
    write_scope: ClassVar[Scope | None] = None
    # Operation names in the OpenAPI schema that cannot be derived from action and path (api.openapi.naming).
    operation_ids: ClassVar[Mapping[str, str]] = {}
    # The errors that GET requests of an action have in addition to the common errors (api.schema).
    more_errors: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    # A path that answers with a CSV or PDF file ignores the Accept header (contract 12). Errors are JSON.
    answers_file: ClassVar[bool] = False
    # Actions with one transaction for each element of the body, so that no element waits for another's locks.
    piecemeal: ClassVar[frozenset[str]] = frozenset()
    key: ApiKey
    actor: Actor

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        """Replace DRF's dispatch: a fixed order of checks, and idempotency after `initial` (ADR 44)."""
        self.args, self.kwargs = args, kwargs
        self.request = self.initialize_request(request, *args, **kwargs)
        self.headers = self.default_response_headers
        try:
            self.initial(self.request, *args, **kwargs)
            piecemeal = self.action in self.piecemeal
            response = idempotently(self.request, current_party(), self._handle, piecemeal=piecemeal)
        except Exception as error:  # noqa: BLE001 - every fault is answered, by the one handler
            response = self.handle_exception(error)
        self.response = self._finish(response)
        return with_etag(self.request, self.response)

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        access = request.auth
        if not isinstance(access, Access):
            raise Unauthorized("Send your API key: Authorization: Bearer <key>.")
        self.key, self.actor = access.key, Actor.of_key(access.key)
        party = f"{self.key.role}:{self.key.party.pk}"
        name_party(party)
        caller.accept(party)
        self.check_throttles(request)
        self.admit(access, kwargs)

    def admit(self, access: Access, kwargs: Mapping[str, object]) -> None:
        """Refuse a key of the wrong role, scope or party. Raises Forbidden."""
        needed = self.needed_scope()
        if needed is not None and needed not in access.scopes:
            raise Forbidden(f"This needs the scope {needed.value}, which this key does not have.")

    def needed_scope(self) -> Scope | None:
        return self.read_scope if self.request.method in ("GET", "HEAD", "OPTIONS") else self.write_scope

    def find(self) -> None:
        """Find the object that the path names. Raises NotFound, also for an object of another party."""

    def check_throttles(self, request: Request) -> None:
        self.throttles = self.get_throttles()
        for throttle in self.throttles:
            if not throttle.allow_request(request, self):
                self.throttled(request, throttle.wait() or 1.0)

    def options(self, request: HttpRequest, *args: object, **kwargs: object) -> Response:
        """Return 204. The Allow header, which every response has, lists the methods of the path."""
        return Response(status=204)

    def handler(self) -> Callable[..., Response]:
        """Return the method that handles this request. Raises MethodNotAllowed."""
        method = (self.request.method or "").lower()
        if method not in self.action_map and method != "options":
            allowed = ", ".join(self.allowed_methods)
            raise MethodNotAllowed(method, f"{self.request.path} takes {allowed}, not {self.request.method}.")
        handler: Callable[..., Response] = getattr(self, method)
        return handler

    def _handle(self) -> Response:
        try:
            self.find()
            handler = self.handler()
            if not self.answers_file:
                refuse_unacceptable(self.request)
            if self.request.method in ("GET", "HEAD"):
                self.check_parameters()
            if has_condition(self.request):
                return self._finish(self._if_unchanged(handler))
            response: Response = handler(self.request, *self.args, **self.kwargs)
        except Exception as error:  # noqa: BLE001 - every fault is answered, by the one handler
            response = self.handle_exception(error)
        return self._finish(response)

    def check_parameters(self) -> None:
        """Refuse a read with a repeated, misspelled or unreadable parameter: its answer would be wrong."""
        known = query_parameters(self)
        refuse_undecodable(self.request, known)
        refuse_repeated(self.request, known)
        refuse_near_misses(self.request.query_params.dict(), known)

    def lock(self) -> None:
        """Lock the object that the path names, if it exists. Changes of the object take the same lock."""
        # Every viewset whose object can be changed overrides this method, and a test checks this.
        raise NotImplementedError

    def _if_unchanged(self, handler: Callable[..., Response]) -> Response:
        """Lock the object, compare its ETag, and handle the request. Raises PreconditionFailed."""
        _ = self.request.data  # refuse an unreadable body before locking
        retrieve: Callable[..., Response] = getattr(self, "retrieve")  # noqa: B009 - subclasses with an object have it
        with transaction.atomic():
            self.lock()
            self.find()  # read the object again: another request may have changed it before `lock`
            refuse_changed(self.request, self._finish(retrieve(self.request, *self.args, **self.kwargs)))
            return handler(self.request, *self.args, **self.kwargs)

    def _finish(self, response: Response) -> Response:
        """Finalize a response and add the headers of the rate limit. A second call changes nothing."""
        self.finalize_response(self.request, response, *self.args, **self.kwargs)
        if not hasattr(self, "throttles"):  # no key was accepted, so the request was not counted
            failed_keys.show_limit(response, client_address(self.request))
        for throttle in getattr(self, "throttles", ()):
            for name, value in throttle.headers.items():
                response[name] = value
        return response


class PartyViewSet(KeyViewSet):
    """The base of every path below `/v3/{suppliers|retailers}/{id}/`. It refuses keys of other parties."""

    role: ClassVar[Role]

    def admit(self, access: Access, kwargs: Mapping[str, object]) -> None:
        in_path = access.key.role == self.role and access.key.party.pk == kwargs[f"{self.role}_id"]
        if not in_path:
            owner = f"{access.key.role} {access.key.party.pk}"
            raise Forbidden(
                f"This key does not belong to the {self.role} in the path. It belongs to {owner}."
            )
        super().admit(access, kwargs)


class SupplierViewSet(PartyViewSet):
    """The base of every path below `/v3/suppliers/{supplier_id}/`."""

    role = Role.SUPPLIER

    @property
    def supplier(self) -> Supplier:
        assert self.key.supplier is not None  # `admit` refuses keys of retailers
        return self.key.supplier


class RetailerViewSet(PartyViewSet):
    """The base of every path below `/v3/retailers/{retailer_id}/`."""

    role = Role.RETAILER

    @property
    def retailer(self) -> Retailer:
        assert self.key.retailer is not None  # `admit` refuses keys of suppliers
        return self.key.retailer
