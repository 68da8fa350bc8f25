"""Paths with which tests check the shared parts of the API, without the views of the apps."""

from __future__ import annotations

from typing import Any

from django.urls import include, path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Retailer
from accounts.scopes import Scope
from accounts.viewsets import SupplierViewSet
from api.bodies import Body, json_of, read
from api.errors import InvalidTransition, NotFound, Unavailable
from api.fields import Date, Exact, Flag, Id, Integer, Moment, Optional, Text


class LineBody(Body):
    sku = Text()
    quantity = Integer(min_value=1)


class ProbeBody(Body):
    name = Text(max_length=50)
    note = Optional()
    price = Exact(required=False)
    count = Integer(required=False)
    thing_id = Id(required=False)
    gift = Flag(required=False)
    day = Date(required=False)
    moment = Moment(required=False)
    lines = serializers.ListField(child=LineBody(), required=False)


class ProbeViewSet(SupplierViewSet):
    """A view whose POST creates a retailer, and then fails if the retailer's name asks for a failure."""

    read_scope, write_scope = Scope.CATALOG_READ, Scope.CATALOG_WRITE

    def find(self) -> None:
        if self.kwargs.get("probe_id") == 0:
            raise NotFound

    def show(self, request: Request, **_: Any) -> Response:
        return Response({"query": request.query_params.dict()})

    def make(self, request: Request, **_: Any) -> Response:
        body = read(ProbeBody, request)
        made = Retailer.objects.create(name=body["name"])
        if body["name"] == "conflict":
            raise InvalidTransition("It is in a state that forbids this.")
        if body["name"] == "down":
            raise Unavailable("Not now.")
        if body["name"] == "die":
            raise MemoryError
        return Response({"id": made.pk, "price": body.get("price")}, 201, headers={"Location": f"/{made.pk}"})

    def echo(self, request: Request, **_: Any) -> Response:
        return Response({"body": json_of(request)})


urlpatterns = [
    path("v3/suppliers/<id:supplier_id>/probe", ProbeViewSet.as_view({"get": "show", "post": "make"})),
    path("v3/suppliers/<id:supplier_id>/probe/<id:probe_id>", ProbeViewSet.as_view({"put": "echo"})),
    path("", include("config.urls")),
]

handler400 = "api.errors.bad_request"
handler404 = "api.errors.page_not_found"
handler500 = "api.errors.server_error"
