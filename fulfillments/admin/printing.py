"""The printing of packing slips by operators, from the page of a fulfillment or from the list."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from api.errors import ApiError
from fulfillments.models import Fulfillment
from fulfillments.slips.documents import make_document
from fulfillments.slips.selectors import read_slips
from fulfillments.slips.views import MOST_SLIPS, pdf_answer


def slip_view(request: HttpRequest, fulfillment_id: int) -> HttpResponse:
    page = reverse("admin:fulfillments_fulfillment_change", args=[fulfillment_id])
    return _printed(request, [fulfillment_id], f"packing-slip-{fulfillment_id}", page)


@admin.action(description="Print packing slips", permissions=["view"])
def print_slips(
    modeladmin: object, request: HttpRequest, queryset: QuerySet[Fulfillment]
) -> HttpResponse | None:
    """Show the packing slips of the chosen fulfillments, oldest first."""
    ids = [*queryset.order_by("id").values_list("pk", flat=True)[: MOST_SLIPS + 1]]
    if len(ids) > MOST_SLIPS:
        messages.error(request, f"More than {MOST_SLIPS} fulfillments are chosen. Choose fewer of them.")
        return None
    return _printed(request, ids, "packing-slips", request.get_full_path())


def _printed(request: HttpRequest, ids: list[int], name: str, back: str) -> HttpResponse:
    try:
        return pdf_answer(make_document(read_slips(Fulfillment.objects.all(), ids)), name)
    except ApiError as error:
        messages.error(request, error.message)
        return HttpResponseRedirect(back)
