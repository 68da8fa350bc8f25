"""Parts of the service that fell silent: their page, and what operators say of them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from accounts.actors import Actor
from accounts.operating.admin_actions import RecordAdmin
from accounts.operating.operator_actions import AdminAction, Reason
from backoffice.models import ServicePart


def _take_away(part: ServicePart, by: Actor, answers: dict[str, Any]) -> str:
    part.taken_away_at = timezone.now()
    part.save(update_fields=["taken_away_at"])
    return f"{part} is not missed any more, unless it comes back and falls silent again."


def _is_away(part: ServicePart) -> str:
    away = part.taken_away_at is not None and part.taken_away_at >= part.heard_at
    return "It was taken away already." if away else ""


@admin.register(ServicePart)
class ServicePartAdmin(RecordAdmin[ServicePart]):
    """What fell silent; a page of its own shows how all the others are."""

    page_template = "admin/backoffice/servicepart/page.html"
    list_display = ("name", "host", "heard_at", "taken_away_at")
    record_actions = (
        AdminAction[ServicePart](
            "taken-away",
            "It was taken away",
            _take_away,
            _is_away,
            lambda part: f"The desk says no more of {part}.",
            help_text="For a host that is no longer used. Where it is only down, put the row off instead.",
            reason=Reason.OPTIONAL,
            undo="It comes back by itself once it gives a sign of life and falls silent again.",
        ),
    )

    def has_act_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("backoffice.change_servicepart")
