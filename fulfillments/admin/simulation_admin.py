"""The pages on which operators simulate a routing rule on past orders before they use the rule."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any, cast

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from accounts.actors import Actor
from accounts.models import Supplier
from accounts.operating.admin_actions import RecordAdmin
from accounts.operating.admin_base import operator_of
from accounts.operating.operator_actions import AdminAction
from events.models import ACCOUNTS
from events.recording import record
from fulfillments.models import RoutingSimulation
from fulfillments.simulating import running
from fulfillments.simulating.summing import SideJson, SimulationResultJson, nothing_yet

AGO = timedelta(days=30)


class SimulationForm(forms.ModelForm[RoutingSimulation]):
    """A form for the simulated values and for the range of orders."""

    most = forms.IntegerField(
        min_value=1,
        max_value=running.MOST,
        initial=10_000,
        label="Orders",
        help_text=f"The newest orders of these days, at most {running.MOST:,}.",
    )

    class Meta:
        model = RoutingSimulation
        fields = (
            *("supplier", "priority", "safety_stock", "left_out"),
            *("retailer", "first_day", "last_day", "most"),
        )
        widgets = {name: forms.DateInput({"type": "date"}) for name in ("first_day", "last_day")}

    def clean(self) -> dict[str, object]:
        given = super().clean() or {}
        supplier, left_out = given.get("supplier"), given.get("left_out")
        if not left_out and given.get("priority") is None and given.get("safety_stock") is None:
            raise forms.ValidationError(
                "Enter a priority or a safety stock, or mark the supplier as left out."
            )
        if left_out and not (given.get("priority") is None and given.get("safety_stock") is None):
            raise forms.ValidationError(
                "Leave priority and safety stock empty for a supplier that is left out."
            )
        if supplier is not None and not left_out:
            same_priority = given.get("priority") in (None, supplier.priority)
            if same_priority and given.get("safety_stock") in (None, supplier.safety_stock):
                raise forms.ValidationError(f"{supplier} has these values already. Enter other values.")
        first, last = given.get("first_day"), given.get("last_day")
        if first and last and first > last:
            self.add_error("last_day", "Must not be before the first day.")
        return given


def _stop(simulation: RoutingSimulation, by: Actor, answers: dict[str, object]) -> str:
    simulation.stopped_at = timezone.now()
    simulation.save(update_fields=["stopped_at"])
    data = {"simulation": simulation.pk}
    record("routing_simulation.stopped", by=by, area=ACCOUNTS, supplier=simulation.supplier, data=data)
    return "The simulation stops after its present page of orders."


@admin.register(RoutingSimulation)
class RoutingSimulationAdmin(RecordAdmin[RoutingSimulation]):
    """The list and the pages of simulations. Simulations never change an order."""

    page_template = "admin/fulfillments/routingsimulation/page.html"
    list_display = ("id", "supplier", "rule", "first_day", "last_day", "percent", "actor", "created_at")
    list_select_related = ("supplier",)
    list_filter = ("supplier",)
    record_actions = (
        AdminAction[RoutingSimulation](
            "stop",
            "Stop simulation",
            _stop,
            lambda simulation: (
                "The simulation has ended." if simulation.finished_at or simulation.stopped_at else ""
            ),
            lambda simulation: "The result so far is kept.",
            undo="Start another simulation.",
        ),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_act_permission(request)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Show the form. If the form is valid, save the simulation and start it."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        today = timezone.now().date()
        initial = {"first_day": today - AGO, "last_day": today, "supplier": request.GET.get("supplier")}
        form = SimulationForm(request.POST or None, initial=initial)
        if request.method == "POST" and form.is_valid():
            simulation = form.instance
            simulation.actor = operator_of(request).name
            simulation.save(force_insert=True)
            if not running.advance(simulation, seconds=running.AT_ONCE):
                running.wake(simulation.pk)
            url = reverse("admin:fulfillments_routingsimulation_change", args=[simulation.pk])
            return HttpResponseRedirect(url)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Simulate a routing rule",
            "form": form,
        }
        return TemplateResponse(request, "admin/fulfillments/routingsimulation/ask.html", context)

    def page_context(self, request: HttpRequest, simulation: RoutingSimulation) -> dict[str, object]:
        result = cast(SimulationResultJson, simulation.result or nothing_yet())
        names = _names(result)
        suppliers = [
            (names.get(pk, f"supplier {pk}"), _sides(each["before"], each["after"]))
            for pk, each in result["suppliers"].items()
        ]
        return {
            "result": result,
            "looked_at": result["orders"] - result["unlike"],
            "all": _sides(result["before"], result["after"]),
            "suppliers": sorted(suppliers),
            "examples": [
                {
                    **each,
                    "before": _units(each["before"], names),
                    "after": _units(each["after"], names),
                    "more": [(code, Decimal(more)) for code, more in each["more"].items()],
                }
                for each in result["examples"]
            ],
        }


def _names(result: SimulationResultJson) -> dict[str, str]:
    suppliers = Supplier.objects.filter(pk__in=[int(pk) for pk in result["suppliers"]])
    return {str(pk): name for pk, name in suppliers.values_list("pk", "name")}


def _units(units: dict[str, int], names: dict[str, str]) -> str:
    return ", ".join(f"{count} from {names.get(pk, pk)}" for pk, count in units.items()) or "no supplier"


ROWS: tuple[tuple[str, str], ...] = (
    ("orders", "Orders"),
    ("fulfillments", "Fulfillments"),
    ("pieces", "Units"),
    ("short", "Units short of stock"),
    ("unfilled", "Unfilled units"),
)


def _sides(before: SideJson, after: SideJson) -> list[tuple[str, Any, Any, Any]]:
    """Return the title of each measure, its values without and with the rule, and their difference."""
    then, now = cast(dict[str, object], before), cast(dict[str, Any], after)
    counts = [(title, then[name], now[name]) for name, title in ROWS]
    amounts = [
        (f"Amount in {code}", Decimal(before["amounts"].get(code, 0)), Decimal(after["amounts"].get(code, 0)))
        for code in sorted(before["amounts"].keys() | after["amounts"].keys())
    ]
    return [(title, old, new, new - old) for title, old, new in [*counts, *amounts]]
