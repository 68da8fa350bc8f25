"""The targets of partnerships, for operators."""

from __future__ import annotations

from django.contrib import admin

from events.admin_base import RecordedAdmin
from events.models import ACCOUNTS
from fulfillments.models import PerformanceTarget


@admin.register(PerformanceTarget)
class PerformanceTargetAdmin(RecordedAdmin[PerformanceTarget]):
    event_subject = "performance_target"
    list_display = ("valid_for", "ship_within_hours", "on_time_percent", "most_refused_percent")
    list_select_related = ("partnership__retailer", "partnership__supplier")
    autocomplete_fields = ("partnership",)

    @admin.display(description="partnership")
    def valid_for(self, target: PerformanceTarget) -> str:
        return str(target.partnership) if target.partnership else "All others"

    def event_fields(self, target: PerformanceTarget) -> dict[str, object]:
        names = ("ship_within_hours", "on_time_percent", "most_refused_percent")
        partnership = target.partnership
        parties = {"supplier": partnership.supplier, "retailer": partnership.retailer} if partnership else {}
        return {"area": ACCOUNTS, **parties, "data": {name: getattr(target, name) for name in names}}
