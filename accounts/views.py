"""The token endpoint, and the profile of each party."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import failed_keys
from accounts.authentication import client_address
from accounts.models import AccessToken, Retailer, Supplier
from accounts.oauth import OAuthError, entitled
from accounts.serializers import (
    RetailerJson,
    SupplierJson,
    TokenBody,
    TokenErrorJson,
    TokenJson,
    retailer_json,
    supplier_json,
)
from accounts.throttling import KeyThrottle
from accounts.viewsets import RetailerViewSet, SupplierViewSet
from api.field_selection import field_selection, fields_of
from api.negotiation import OnlyAnswer, refuse_unacceptable
from api.schema import answers

# The RFC 6749 error codes for HTTP statuses of errors that DRF handles. Other statuses get invalid_request.
FRAMEWORK_ERRORS = {429: "slow_down", 500: "server_error", 503: "temporarily_unavailable"}
NOT_STORED = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class TokenView(APIView):
    """`POST /oauth/token` (contract 1)."""

    authentication_classes = ()
    throttle_classes = ()
    content_negotiation_class = OnlyAnswer
    operation_ids: ClassVar[dict[str, str]] = {"token": "create_token"}

    @extend_schema(
        summary="Exchange a client's id and secret for an access token",
        description="A repeated request gets another token. `Idempotency-Key` has no effect here: a stored "
        "answer would show a token that ends earlier than its `expires_in`.",
        request={"application/x-www-form-urlencoded": TokenBody, "application/json": TokenBody},
        responses={
            200: answers(TokenJson, "The token. It ends after `expires_in` seconds, or with its key."),
            400: answers(TokenErrorJson, "invalid_request, unsupported_grant_type or invalid_scope."),
            401: answers(TokenErrorJson, "invalid_client."),
            415: answers(TokenErrorJson, "The body is neither a form nor JSON."),
            429: answers(TokenErrorJson, "Too many wrong secrets, or tokens."),
        },
    )
    def post(self, request: Request) -> Response:
        refuse_unacceptable(request)
        key, scopes = entitled(request)
        throttle = KeyThrottle()
        allowed = throttle.allow_key(key)
        self.rate_headers = throttle.headers
        if not allowed:
            self.throttled(request, throttle.wait() or 1.0)
        token, secret = AccessToken.issue(key, scopes, settings.OAUTH_TOKEN_LIFETIME)
        body: TokenJson = {
            "access_token": secret,
            "token_type": "Bearer",
            "expires_in": token.seconds_left,
            "scope": " ".join(sorted(token.scopes or [])),
        }
        return Response(body)

    def options(self, request: HttpRequest, *args: object, **kwargs: object) -> Response:
        """Return 204 instead of DRF's description of the view, as every other path does."""
        return Response(status=204)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, OAuthError):
            return Response(exc.body(), status=exc.http_status, headers=exc.http_headers)
        response = super().handle_exception(exc)
        error = FRAMEWORK_ERRORS.get(response.status_code, "invalid_request")
        response.data = {"error": error, "error_description": response.data["message"], **response.data}
        return response

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        rate_headers: dict[str, str] = getattr(self, "rate_headers", {})  # empty before the key is known
        for name, value in {**NOT_STORED, **rate_headers}.items():
            response[name] = value
        if not rate_headers:
            failed_keys.show_limit(response, client_address(request))
        return super().finalize_response(request, response, *args, **kwargs)


class SupplierProfileViewSet(SupplierViewSet):
    """`GET /v3/suppliers/{supplier_id}` (contract 10)."""

    @extend_schema(
        summary="Read a supplier's own profile",
        description="The profile shows the supplier's currency and its trading partners.",
        parameters=[fields_of(SupplierJson)],
        responses={200: answers(SupplierJson, "The supplier and its trading partners.")},
    )
    def retrieve(self, request: Request, supplier_id: int) -> Response:
        return Response(
            field_selection(request, SupplierJson)(supplier_json(Supplier.objects.get(pk=supplier_id)))
        )


class RetailerProfileViewSet(RetailerViewSet):
    """`GET /v3/retailers/{retailer_id}`: the retailer's own profile, with its trading partners."""

    @extend_schema(
        summary="Read a retailer's own profile",
        parameters=[fields_of(RetailerJson)],
        responses={200: answers(RetailerJson, "The retailer and its trading partners.")},
    )
    def retrieve(self, request: Request, retailer_id: int) -> Response:
        return Response(
            field_selection(request, RetailerJson)(retailer_json(Retailer.objects.get(pk=retailer_id)))
        )
