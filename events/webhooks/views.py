"""Webhooks of suppliers and retailers (contract 13)."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import Access
from accounts.models import Retailer, Supplier
from accounts.scopes import scopes_of
from accounts.viewsets import PartyViewSet, RetailerViewSet, SupplierViewSet
from api import envelope
from api.bodies import read
from api.envelope import ResultJson
from api.errors import Invalid, NotFound
from api.pagination import Keyset, listing
from api.schema import CURSOR, LIMIT, answers
from events.models import Delivery, Webhook, WebhookQuerySet, areas_of
from events.states import DeliveryStatus
from events.webhooks import services
from events.webhooks.filters import DeliveryFilter
from events.webhooks.selectors import backlogs
from events.webhooks.serializers import (
    DeliveriesJson,
    DeliveryJson,
    ReplayBody,
    ReplayJson,
    WebhookBody,
    WebhookJson,
    WebhooksJson,
    delivery_json,
    webhook_json,
)
from events.webhooks.types import types_of, unknown_type


class WebhooksOfParty(PartyViewSet):
    """The base of the views of webhooks. A key has access to webhooks whose areas its own scopes cover."""

    @property
    def party(self) -> Supplier | Retailer:
        return self.key.party

    @property
    def areas(self) -> frozenset[str]:
        """Return the areas of events that this request's key may see."""
        assert isinstance(self.request.auth, Access)  # the viewset refuses requests without a key
        return areas_of(self.request.auth.scopes)

    def webhooks(self) -> WebhookQuerySet:
        return Webhook.objects.present().for_party(self.party).in_areas(self.areas)

    def check_types(self, types: list[str], areas: frozenset[str]) -> None:
        """Raise Invalid for an unknown type, or for a type outside these areas."""
        known, allowed = types_of(self.role, areas_of(scopes_of(self.role))), types_of(self.role, areas)
        for index, name in enumerate(types):
            if name in allowed:
                continue
            if name in known:
                raise Invalid.at(f"types[{index}]", "The scopes of the key do not cover this type.", "scope")
            raise Invalid.at(f"types[{index}]", unknown_type(name, known, self.role), "unknown")


class WebhooksViewSet(WebhooksOfParty):
    """`…/webhooks`"""

    @extend_schema(
        summary="List webhooks",
        description="Only webhooks whose areas the scopes of the key cover.",
        parameters=[LIMIT, CURSOR],
        responses={200: answers(WebhooksJson, "A page of webhooks, ordered by id.")},
    )
    def list(self, request: Request, **ids: int) -> Response:
        page = Keyset("id").page(self.webhooks(), request)
        backlog_by_id = backlogs([webhook.pk for webhook in page.items])
        return Response(listing(page, lambda webhook: webhook_json(webhook, backlog_by_id[webhook.pk])))

    @extend_schema(
        summary="Create a webhook",
        description="From now on, the service sends all events that the key's scopes cover, or only `types`. "
        "The payload is the event of the feed, with the same `id`, signed as Standard Webhooks requires.",
        request=WebhookBody,
        responses={201: answers(WebhookJson, "The webhook with its `secret`, which is shown only now.")},
    )
    def create(self, request: Request, **ids: int) -> Response:
        fields = read(WebhookBody, request)
        self.check_types(fields.get("types", []), self.areas)
        webhook, secret = services.create(self.party, self.areas, fields, by=self.actor)
        location = request.build_absolute_uri(f"{request.path.rstrip('/')}/{webhook.pk}")
        return Response(shown(webhook, secret), status=201, headers={"Location": location, **NOT_STORED})


class WebhookViewSet(WebhooksOfParty):
    """`…/webhooks/{webhook_id}` and the paths below it."""

    webhook: Webhook

    def find(self) -> None:
        webhook = self.webhooks().filter(pk=self.kwargs["webhook_id"]).first()
        if webhook is None:
            raise NotFound
        self.webhook = webhook

    def lock(self) -> None:
        Webhook.objects.select_for_update().filter(pk=self.webhook.pk).first()

    @extend_schema(
        summary="Read a webhook and the recent answers of its receiver",
        responses={200: answers(WebhookJson, "The webhook, without its secret.")},
    )
    def retrieve(self, request: Request, **ids: int) -> Response:
        return Response(shown(self.webhook))

    @extend_schema(
        summary="Change a webhook",
        description="Waiting deliveries go to the new URL. The secret stays the same.",
        request=WebhookBody(partial=True),
        responses={200: answers(WebhookJson, "The changed webhook.")},
    )
    def partial_update(self, request: Request, **ids: int) -> Response:
        fields = read(WebhookBody, request, instance=self.webhook, partial=True)
        self.check_types(fields.get("types", []), frozenset(self.webhook.areas))
        for name, value in fields.items():
            setattr(self.webhook, name, value)
        services.change(self.webhook, fields, by=self.actor)
        return Response(shown(self.webhook))

    @extend_schema(
        summary="Remove a webhook",
        description="The webhook and its waiting deliveries end at once. The feed still has all events.",
        responses={200: answers(ResultJson, "`webhook_removed`.")},
    )
    def destroy(self, request: Request, **ids: int) -> Response:
        if not services.remove(self.webhook, by=self.actor):
            raise NotFound
        return Response(
            envelope.result("webhook_removed", "The webhook was removed. No more events are sent to it.")
        )

    @extend_schema(
        summary="Replace the secret of a webhook",
        description="For 24 hours, deliveries carry one signature of the new and one of the old secret. "
        f"After several rotations, they carry up to {Webhook.MOST_OLD + 1} signatures, of which one must "
        "be right.",
        request=None,
        responses={200: answers(WebhookJson, "The webhook with its new `secret`, which is shown only now.")},
    )
    def rotate(self, request: Request, **ids: int) -> Response:
        secret = services.rotate(self.webhook, by=self.actor)
        return Response(shown(self.webhook, secret), headers=NOT_STORED)

    @extend_schema(
        summary="Send a test event to a webhook",
        description="Its type is `webhook.tested`, and it is in no feed. The delivery shows the result.",
        request=None,
        responses={202: answers(DeliveryJson, "The delivery, which is sent now.")},
    )
    def test(self, request: Request, **ids: int) -> Response:
        return Response(delivery_json(services.send_test(self.webhook, by=self.actor)), status=202)

    @extend_schema(
        summary="Send a range of the feed again",
        description="Sends all events of the range that the webhook wants, even events that arrived before. "
        f"Events keep their `id`. One request may replay {services.MOST_REPLAYED} events at most.",
        request=ReplayBody,
        responses={202: answers(ReplayJson, "`replayed`, with the number of deliveries.")},
    )
    def replay(self, request: Request, **ids: int) -> Response:
        fields = read(ReplayBody, request)
        count = services.replay(self.webhook, fields["after"], fields.get("until"), by=self.actor)
        body: ReplayJson = {
            **envelope.result("replayed", f"Deliveries: {count}."),
            "deliveries": count,
        }
        return Response(body, status=202)

    @extend_schema(
        summary="List the deliveries of a webhook",
        parameters=[
            OpenApiParameter("status", enum=DeliveryStatus.values, description="Only with this status."),
            LIMIT,
            CURSOR,
        ],
        responses={200: answers(DeliveriesJson, "A page of deliveries, the newest event first.")},
    )
    def deliveries(self, request: Request, **ids: int) -> Response:
        deliveries = DeliveryFilter.apply(request, Delivery.objects.filter(webhook=self.webhook))
        return Response(listing(Keyset("-event_id").page(deliveries, request), delivery_json))


class SupplierWebhooksViewSet(WebhooksViewSet, SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/webhooks`"""


class SupplierWebhookViewSet(WebhookViewSet, SupplierViewSet):
    """`/v3/suppliers/{supplier_id}/webhooks/{webhook_id}`"""

    operation_ids: ClassVar[dict[str, str]] = {"deliveries": "list_supplier_webhook_deliveries"}


class RetailerWebhooksViewSet(WebhooksViewSet, RetailerViewSet):
    """`/v3/retailers/{retailer_id}/webhooks`"""


class RetailerWebhookViewSet(WebhookViewSet, RetailerViewSet):
    """`/v3/retailers/{retailer_id}/webhooks/{webhook_id}`"""

    operation_ids: ClassVar[dict[str, str]] = {"deliveries": "list_retailer_webhook_deliveries"}


NOT_STORED = {"Cache-Control": "no-store"}


def shown(webhook: Webhook, secret: str = "") -> dict[str, object]:
    return dict(webhook_json(webhook, backlogs([webhook.pk])[webhook.pk], secret))
