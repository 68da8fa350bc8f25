"""The slip template of a retailer or of a partnership: its page, with a preview of a real order."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse

from accounts.models import Partnership, Retailer
from accounts.operating.admin_base import operator_of
from accounts.operating.record_panels import Panel
from api.errors import ApiError
from backoffice.partners.tabs import tab_url
from events.changes import add_recorded, change_recorded
from events.models import ACCOUNTS
from fulfillments.models import Fulfillment, SlipTemplate
from fulfillments.slips.documents import make_document
from fulfillments.slips.forms import SlipTemplateForm
from fulfillments.slips.selectors import read_slips, sample_slip
from fulfillments.slips.views import pdf_answer
from orders.models import Order

VIEW, CHANGE = "fulfillments.view_sliptemplate", "fulfillments.change_sliptemplate"
# Headers that allow the form's page to show the preview in a frame.
FRAMED = {"Content-Security-Policy": "frame-ancestors 'self'", "X-Frame-Options": "SAMEORIGIN"}
NEWEST = 20


def retailer_slip_page(site: AdminSite, request: HttpRequest, retailer_id: int) -> HttpResponse:
    """Show and save the template of a retailer."""
    retailer = Retailer.objects.filter(pk=retailer_id).first()
    if retailer is None:
        raise Http404
    template = SlipTemplate.objects.of_retailer(retailer).first() or SlipTemplate(retailer=retailer)
    return _page(site, request, template)


def partnership_slip_page(site: AdminSite, request: HttpRequest, partnership_id: int) -> HttpResponse:
    """Show and save the template of a partnership. A new template begins as a copy of the retailer's."""
    partnership = Partnership.objects.select_related("retailer", "supplier").filter(pk=partnership_id).first()
    if partnership is None:
        raise Http404
    template = SlipTemplate.objects.filter(partnership=partnership).first()
    if template is None:
        template = SlipTemplate.objects.of_retailer(partnership.retailer).first() or SlipTemplate()
        template.pk, template._state.adding = None, True
        template.retailer, template.partnership = partnership.retailer, partnership
    return _page(site, request, template)


def _page(site: AdminSite, request: HttpRequest, template: SlipTemplate) -> HttpResponse:
    may_change = request.user.has_perm(CHANGE)
    if not request.user.has_perm(VIEW) or (request.method == "POST" and not may_change):
        raise PermissionDenied
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = SlipTemplateForm(*sent, instance=template)
    if "preview" in request.GET:
        return _preview(request, form)
    if sent and form.is_valid():
        _save(form, operator_of(request))
        messages.success(request, "The packing slip was saved.")
        return HttpResponseRedirect(request.path)
    context = {
        **site.each_context(request),
        "title": "Packing slip",
        "form": form,
        "template": template,
        "may_change": may_change,
        "retailer_url": tab_url(template.retailer, "terms"),
    }
    return TemplateResponse(request, "admin/partner/slip_form.html", context, status=400 if sent else 200)


def _save(form: SlipTemplateForm, by: Any) -> None:
    """Save a new template, or the changed fields of a template: a colleague may have changed the others."""
    template = form.instance
    parties: dict[str, object] = {"area": ACCOUNTS, "retailer": template.retailer}
    if template.partnership:
        parties["supplier"] = template.partnership.supplier
    data = {"language": template.language, "wanted": template.wanted}
    if template._state.adding:
        add_recorded(template, "slip_template", by=by, data=data, **parties)
    else:
        change_recorded(template, form.changed_columns, "slip_template", by=by, data=data, **parties)


def _preview(request: HttpRequest, form: SlipTemplateForm) -> HttpResponse:
    """Return the slip of a real order as PDF, with the design that the form has, saved or not.

    For a retailer without orders, the slip has invented data.
    """
    if form.is_bound and not form.is_valid():
        return _no_preview(request, [str(error) for errors in form.errors.values() for error in errors])
    template = form.instance
    template.wanted = True
    fulfillments = _fulfillments(template)
    named = form.cleaned_data.get("previewed") if form.is_bound else None
    newest = fulfillments.filter(order__in=_newest_orders(template)).order_by("-id")
    shown = named or newest.values_list("pk", flat=True).first()
    try:
        batch = read_slips(fulfillments, [shown], template=template) if shown else sample_slip(template)
        return _framed(pdf_answer(make_document(batch), "packing-slip"))
    except ApiError as error:
        return _no_preview(request, [error.message])


def _fulfillments(template: SlipTemplate) -> Any:
    if template.partnership:
        return Fulfillment.objects.filter(partnership=template.partnership)
    return Fulfillment.objects.filter(order__retailer=template.retailer)


def _newest_orders(template: SlipTemplate) -> list[int]:
    orders = Order.objects.for_retailer(template.retailer).order_by("-created_at")
    return [*orders.values_list("pk", flat=True)[:NEWEST]]


def _no_preview(request: HttpRequest, errors: list[str]) -> HttpResponse:
    page = render_to_string("admin/partner/slip_errors.html", {"errors": errors}, request)
    return _framed(HttpResponse(page, status=400))


def _framed(answer: HttpResponse) -> HttpResponse:
    for name, value in FRAMED.items():
        answer[name] = value
    return answer


def _panel(retailer: Retailer, request: HttpRequest) -> str:
    overriding = SlipTemplate.objects.filter(retailer=retailer).exclude(partnership=None)
    context = {
        "template": SlipTemplate.objects.of_retailer(retailer).defer("logo").first(),
        "overriding": overriding.defer("logo").select_related("partnership__supplier"),
        "url": reverse("admin:accounts_retailer_packing_slip", args=[retailer.pk]),
        "may_change": request.user.has_perm(CHANGE),
    }
    return render_to_string("admin/partner/slip.html", context, request)


PANEL = Panel[Retailer]("packing_slip", "Packing slip", _panel, 30, "terms", VIEW)
