"""Webhooks of suppliers and retailers (contract 13): who hears of events at which address."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import Access
from accounts.models import Retailer, Supplier
from accounts.scopes import Role, scopes_of
from accounts.viewsets import PartyViewSet, RetailerViewSet, SupplierViewSet
from api import envelope
from api.bodies import read
from api.envelope import ResultJson
from api.errors import Invalid, NotFound
from api.pagination import Keyset, listing
from api.schema import CURSOR, LIMIT, answers
from api.spelling import closest_match
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
from events.webhooks.types import types_of


class WebhooksOfParty(PartyViewSet):
    """A key sees the webhooks that send no more than its own scopes cover, and may change those."""

    @property
    def party(self) -> Supplier | Retailer:
        return self.key.party

    @property
    def areas(self) -> frozenset[str]:
        """The areas of events that this request's key may see."""
        assert isinstance(self.request.auth, Access)  # admitted
        return areas_of(self.request.auth.scopes)

    def webhooks(self) -> WebhookQuerySet:
        return Webhook.objects.present().for_party(self.party).in_areas(self.areas)

    def check_types(self, types: list[str], areas: frozenset[str]) -> None:
        """Raise Invalid for a type that there is not, or that a key with these scopes does not hear of."""
        known, heard = types_of(self.role, areas_of(scopes_of(self.role))), types_of(self.role, areas)
        for index, name in enumerate(types):
            if name in heard:
                continue
            if name in known:
                raise Invalid.at(f"types[{index}]", "The scopes of the key do not cover this type.", "scope")
            raise Invalid.at(f"types[{index}]", _unheard(name, known, self.role), "unknown")


def _unheard(name: str, known: list[str], role: Role) -> str:
    """What to say of a type that a party of this role does not hear of, whatever its key's scopes."""
    other = Role.RETAILER if role == Role.SUPPLIER else Role.SUPPLIER
    if name in types_of(other, areas_of(scopes_of(other))):
        new = "; of a new order you hear by fulfillment.created" if name == "order.created" else ""
        return f"Only {other}s hear of this type{new}."
    near = closest_match(name, known)
    hint = f"Did you mean {near}?" if near else "/v3/docs/api-guide#events lists them."
    return f"There is no such type of event. {hint}"


class WebhooksViewSet(WebhooksOfParty):
    """`…/webhooks`"""

    @extend_schema(
        summary="List webhooks",
        description="Those that send no more than the key's scopes cover.",
        parameters=[LIMIT, CURSOR],
        responses={200: answers(WebhooksJson, "A page of webhooks, in the order of their ids.")},
    )
    def list(self, request: Request, **ids: int) -> Response:
        page = Keyset("id").page(self.webhooks(), request)
        found = backlogs([each.pk for each in page.items])
        return Response(listing(page, lambda webhook: webhook_json(webhook, found[webhook.pk])))

    @extend_schema(
        summary="Have events sent to an address of your own",
        description="What happens from now on of the kinds that the key's scopes cover, or of `types` alone. "
        "The payload is the event of the feed, with the same `id`; it is signed as Standard Webhooks say.",
        request=WebhookBody,
        responses={201: answers(WebhookJson, "The webhook, with its `secret`: it is shown this once.")},
    )
    def create(self, request: Request, **ids: int) -> Response:
        fields = read(WebhookBody, request)
        self.check_types(fields.get("types", []), self.areas)
        webhook, secret = services.create(self.party, self.areas, fields, by=self.actor)
        location = request.build_absolute_uri(f"{request.path.rstrip('/')}/{webhook.pk}")
        return Response(shown(webhook, secret), status=201, headers={"Location": location, **NOT_STORED})


class WebhookViewSet(WebhooksOfParty):
    """`…/webhooks/{webhook_id}` and what is below it."""

    webhook: Webhook

    def find(self) -> None:
        found = self.webhooks().filter(pk=self.kwargs["webhook_id"]).first()
        if found is None:
            raise NotFound
        self.webhook = found

    def lock(self) -> None:
        Webhook.objects.select_for_update().filter(pk=self.webhook.pk).first()

    @extend_schema(
        summary="Read a webhook, and how its receiver has answered lately",
        responses={200: answers(WebhookJson, "The webhook, without its secret.")},
    )
    def retrieve(self, request: Request, **ids: int) -> Response:
        return Response(shown(self.webhook))

    @extend_schema(
        summary="Change a webhook",
        description="What waits goes to the new URL. The secret stays.",
        request=WebhookBody(partial=True),
        responses={200: answers(WebhookJson, "The webhook as it is now.")},
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
        description="At once, with what waits for it. The feed still has all events.",
        responses={200: answers(ResultJson, "`webhook_removed`.")},
    )
    def destroy(self, request: Request, **ids: int) -> Response:
        if not services.remove(self.webhook, by=self.actor):
            raise NotFound
        return Response(envelope.result("webhook_removed", "The webhook was removed; nothing more is sent."))

    @extend_schema(
        summary="Give a webhook a new secret",
        description="For 24 hours deliveries bear the signatures of both, the new one and the one before.",
        request=None,
        responses={200: answers(WebhookJson, "The webhook, with its new `secret`: it is shown this once.")},
    )
    def rotate(self, request: Request, **ids: int) -> Response:
        secret = services.rotate(self.webhook, by=self.actor)
        return Response(shown(self.webhook, secret), headers=NOT_STORED)

    @extend_schema(
        summary="Send a webhook an event to try it out",
        description="Of the type `webhook.tested`, which stands in no feed. Its delivery says how it went.",
        request=None,
        responses={202: answers(DeliveryJson, "The delivery; it is on its way.")},
    )
    def test(self, request: Request, **ids: int) -> Response:
        return Response(delivery_json(services.send_test(self.webhook, by=self.actor)), status=202)

    @extend_schema(
        summary="Send a stretch of the feed once more",
        description="All events of it that the webhook wants, whether they were sent before or not. Each has "
        f"the `id` that it had before. At most {services.MOST_REPLAYED} at once.",
        request=ReplayBody,
        responses={202: answers(ReplayJson, "`replayed`: how many deliveries are on their way.")},
    )
    def replay(self, request: Request, **ids: int) -> Response:
        stretch = read(ReplayBody, request)
        count = services.replay(self.webhook, stretch["after"], stretch.get("until"), by=self.actor)
        body: ReplayJson = {
            **envelope.result("replayed", f"Deliveries: {count}."),
            "deliveries": count,
        }
        return Response(body, status=202)

    @extend_schema(
        summary="List the deliveries of a webhook",
        parameters=[
            OpenApiParameter("status", enum=DeliveryStatus.values, description="In this state."),
            LIMIT,
            CURSOR,
        ],
        responses={200: answers(DeliveriesJson, "A page of deliveries, the newest event first.")},
    )
    def deliveries(self, request: Request, **ids: int) -> Response:
        found = DeliveryFilter.apply(request, Delivery.objects.filter(webhook=self.webhook))
        return Response(listing(Keyset("-event_id").page(found, request), delivery_json))


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


def shown(webhook: Webhook, secret: str = "") -> dict[str, Any]:
    return dict(webhook_json(webhook, backlogs([webhook.pk])[webhook.pk], secret))
