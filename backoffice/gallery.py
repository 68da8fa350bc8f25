"""The page for developers that shows each component of `templates/ui`."""

from __future__ import annotations

from django import forms
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.template.response import TemplateResponse

from accounts.models import SavedView
from backoffice.navigation.menu import Link
from imports.states import Status
from ui.charts import Series, bar_chart

STATES = (
    "new",
    "accepted",
    "shipped",
    "held",
    Status.AWAITING_APPROVAL,
    Status.SUCCEEDED_WITH_ERRORS,
    "out_of_stock",
    "missing_sku",
    "canceled",
)
NUMBERS = (
    {"name": "Orders", "value": "345", "about": "12 more than last week"},
    {"name": "Amount", "value": "48,212.40 USD"},
    {"name": "Cancellations to answer", "value": "4", "meaning": "warn"},
    {"name": "Late", "value": "9", "about": "since yesterday", "meaning": "bad"},
)
TABS = (
    Link("All", "?", "29", is_current=True),
    Link("Overdue", "?tab=overdue", "9"),
    Link("Held", "?tab=held", ""),
)
SERIES = (Series("Acme", (4, 7, 5)), Series("Rival", (2, 3, 6)))
FACTS = (
    ("Retailer", "Shop"),
    ("Shipping", "FedEx, 2 days"),
    ("Ship until", "26 Nov"),
    ("Units", "5, 2 shipped"),
)
DAYS = (
    (
        "Today",
        (
            {
                "at": "01:14",
                "text": "Acme refused 3 × Nordic Mug: missing SKU",
                "about": "No other supplier has it",
                "meaning": "bad",
            },
            {"at": "00:52", "text": "Acme shipped 2 × Camping lantern with UPS", "meaning": "good"},
        ),
    ),
    ("Yesterday", ({"at": "23:30", "text": "Shop placed the order"},)),
)
ROWS = (
    ("SH-100685", "overdue", "Acme has not accepted it", "Acme", "19.24"),
    ("SH-100612", "wrong_address", "Postcode 04101 is not in Berlin", "Rival", "163.88"),
    ("SH-100688", "held", "Looks like fraud", "Donaudampfschifffahrtselektrizitäten GmbH", "25.29"),
)


class ExampleForm(forms.Form):
    """The form that the gallery shows as an example."""

    name = forms.CharField(max_length=60, help_text="Operators see this name.")
    kind = forms.ChoiceField(choices=[("stock", "Stock"), ("products", "Products")])
    active = forms.BooleanField(required=False)


def gallery_page(site: AdminSite, request: HttpRequest) -> TemplateResponse:
    """Show each component with an example. Only superusers may see the page."""
    if not (request.user.is_active and request.user.is_superuser):
        raise PermissionDenied
    context: dict[str, object] = {
        **site.each_context(request),
        "title": "Components",
        "subtitle": "Each part of the design system, as pages use it.",
        "states": STATES,
        "numbers": NUMBERS,
        "facts": FACTS,
        "days": DAYS,
        "rows": ROWS,
        "tabs": TABS,
        "saved_views": [(SavedView(pk=1, name="My late orders", query="tab=late"), False, True)],
        "view_team": "all operators",
        "columns_to_choose": [("order", "Order", True), ("due", "Due", False)],
        "picture": "https://pictures.example/mug.jpg",
        "form": ExampleForm(),
        "wrong": ExampleForm({}),
        "chart": bar_chart("Orders by day", ("Mon", "Tue", "Wed"), SERIES),
    }
    return TemplateResponse(request, "ui/gallery.html", context)
