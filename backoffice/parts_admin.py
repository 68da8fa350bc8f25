"""Admin page of silent parts of the service."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from accounts.actors import Actor
from accounts.operating.admin_actions import RecordAdmin
from accounts.operating.operator_actions import AdminAction, Reason
from backoffice.models import ServicePart
from events.models import ACCOUNTS
from events.recording import record


def _take_away(part: ServicePart, by: Actor, answers: dict[str, object]) -> str:
    part.taken_away_at = timezone.now()
    part.save(update_fields=["taken_away_at"])
    record("service_part.removed", by=by, area=ACCOUNTS, data={"part": str(part)})
    return f"{part} is marked as removed. It returns to the desk if it starts and falls silent again."


def _is_away(part: ServicePart) -> str:
    away = part.taken_away_at is not None and part.taken_away_at >= part.heard_at
    return "This part is already marked as removed." if away else ""


@admin.register(ServicePart)
class ServicePartAdmin(RecordAdmin[ServicePart]):
    """The admin of silent parts. The system status page shows all parts."""

    page_template = "admin/backoffice/servicepart/page.html"
    list_display = ("name", "host", "heard_at", "taken_away_at")
    record_actions = (
        AdminAction[ServicePart](
            "taken-away",
            "Mark part as removed",
            _take_away,
            _is_away,
            lambda part: f"The desk no longer shows {part}.",
            help_text="Use this for a host that is no longer in use. If it is down, snooze the row instead.",
            reason=Reason.OPTIONAL,
            undo="The row returns by itself if the part starts and falls silent again.",
        ),
    )

    def has_act_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("backoffice.change_servicepart")
