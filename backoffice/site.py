"""The operators' site: Django's admin with its own home, menu, desk, search and imports."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, cast

from django.conf import settings
from django.contrib.admin import AdminSite, ModelAdmin, ShowFacets
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.decorators import method_decorator
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.operating.second_operator import waiting_for
from accounts.sign_in import SignInView
from backoffice import activity
from backoffice.app_names import NAMES
from backoffice.comments import comment_page
from backoffice.contacts.pages import messages_page
from backoffice.desk.gathering import DeskFilter, gather
from backoffice.desk.group_pages import act_on_group
from backoffice.desk.kinds import kinds_for
from backoffice.desk.live import changes_page
from backoffice.desk.pages import desk, keep_note, rows_context
from backoffice.exporting.views import export
from backoffice.forms import ActivityForm, SignInForm
from backoffice.gallery import gallery_page
from backoffice.importing.corrections import corrections_page
from backoffice.importing.pages import draft_page, keep_upload_chunk, preview_part, upload_page
from backoffice.lists.columns import ListMixin
from backoffice.lists.plain_choices import PlainChoicesMixin
from backoffice.lists.stale_forms import StaleFormMixin
from backoffice.lists.unchanged import UnchangedMixin
from backoffice.lists.views import save_view
from backoffice.market import cached_market
from backoffice.navigation.menu import navigation
from backoffice.paginator import CappedPaginator
from backoffice.partners.performance import performance_page
from backoffice.presence import presence_page
from backoffice.search.views import search_hits, search_page
from backoffice.service_status import service_status

ROWS_ON_HOME = 10


class ExchangeAdminSite(AdminSite):
    """The admin site, with the pages that belong to no single model."""

    site_header = "The Exchange"
    site_title = "The Exchange"
    index_title = "Home"
    site_url = "/v3/docs"
    enable_nav_sidebar = True

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        # Operators deactivate rows instead of deleting them: a bulk delete would delete dependent rows, too.
        self.disable_action("delete_selected")

    def register(
        self,
        model_or_iterable: type[Model] | Iterable[type[Model]],
        admin_class: type[ModelAdmin[Any]] | None = None,
        **options: object,
    ) -> None:
        """Register models with the mixins of all lists and forms. Lists never count a whole table.

        Skip allauth's own admin pages: they would show secrets.
        """
        if admin_class is not None and admin_class.__module__.startswith("allauth."):
            return
        own = admin_class or ModelAdmin
        bases = (ListMixin, StaleFormMixin, UnchangedMixin, PlainChoicesMixin, own)
        admin_class = type(own.__name__, bases, {"__module__": own.__module__})
        options.setdefault("paginator", CappedPaginator)
        options.setdefault("show_full_result_count", False)
        options.setdefault("show_facets", ShowFacets.NEVER)
        super().register(model_or_iterable, admin_class, **options)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[dict[str, object]]:
        """Return the apps in the order of `app_names.NAMES`."""
        listed = super().get_app_list(request, app_label)
        order = {label: number for number, label in enumerate(NAMES)}
        return sorted(listed, key=lambda app: order.get(app["app_label"], len(order)))

    def each_context(self, request: HttpRequest) -> dict[str, object]:
        context = super().each_context(request)
        return {**context, "navigation": navigation(self, request) if context["has_permission"] else []}

    def _desk_urls(self) -> list[object]:
        pages = {"desk": desk, "desk_changes": changes_page, "desk_note": keep_note}
        group = self.admin_view(require_POST(partial(act_on_group, self)))
        return [
            *(
                path(f"{name.replace('_', '/')}/", self.admin_view(partial(page, self)), name=name)
                for name, page in pages.items()
            ),
            path("desk/group/", group, name="desk_group"),
        ]

    def get_urls(self) -> list[Any]:
        own = [
            path("activity/", self.admin_view(self.activity), name="activity"),
            path(
                "<slug:app_label>/<slug:model_name>/export.<slug:kind>",
                self.admin_view(partial(export, self)),
                name="export",
            ),
            path(
                "<slug:app_label>/<slug:model_name>/view/",
                self.admin_view(partial(save_view, self)),
                name="save_view",
            ),
            path("performance/", self.admin_view(partial(performance_page, self)), name="performance"),
            path(
                "performance.csv",
                self.admin_view(partial(performance_page, self, kind="csv")),
                name="performance_csv",
            ),
            path("search/", self.admin_view(partial(search_page, self)), name="search"),
            path("search/hits/", self.admin_view(partial(search_hits, self)), name="search_hits"),
            path("ui/", self.admin_view(partial(gallery_page, self)), name="ui"),
            path("status/", self.admin_view(self.status), name="status"),
            *self._desk_urls(),
            path("import-file/", self.admin_view(partial(upload_page, self)), name="import_upload"),
            path(
                "import-file/chunk/",
                self.admin_view(require_POST(keep_upload_chunk)),
                name="import_chunk",
            ),
            path("import-file/<int:pk>/", self.admin_view(partial(draft_page, self)), name="import_draft"),
            path(
                "imports/importjob/<int:job_id>/correct/",
                self.admin_view(partial(corrections_page, self)),
                name="import_correct",
            ),
            path(
                "import-file/<int:pk>/preview/",
                self.admin_view(partial(preview_part, self)),
                name="import_preview",
            ),
            path(
                "<slug:app_label>/<slug:model_name>/<int:pk>/message/",
                self.admin_view(partial(messages_page, self)),
                name="messages",
            ),
            path(
                "<slug:app_label>/<slug:model_name>/<int:pk>/comment/",
                self.admin_view(require_POST(partial(comment_page, self))),
                name="comment",
            ),
            path(
                "<slug:app_label>/<slug:model_name>/<int:pk>/looking/",
                self.admin_view(partial(presence_page, self)),
                name="looking",
            ),
        ]
        return [*own, *super().get_urls()]

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        """Return the choices of a select box. Refuse NUL characters, for which PostgreSQL raises an error."""
        if "\0" in request.GET.get("term", ""):
            raise BadRequest("The search term contains a zero character. Remove it.")
        return super().autocomplete_view(request)

    def activity(self, request: HttpRequest) -> TemplateResponse:
        """Show the audit log."""
        if not request.user.has_perm("events.view_event"):
            raise PermissionDenied
        form = ActivityForm(request.GET)
        filters = form.filters()
        shown, after = activity.page(filters)
        context = {
            **self.each_context(request),
            "title": "Audit log",
            "form": form,
            "entries": shown,
            "next": urlencode(filters.url(after)) if after else "",
        }
        return TemplateResponse(request, "admin/activity.html", context)

    def status(self, request: HttpRequest) -> TemplateResponse:
        """Show the parts of the service on each host, and the waiting work."""
        context = {**self.each_context(request), "title": "System status", "status": service_status()}
        return TemplateResponse(request, "admin/status.html", context)

    @method_decorator(never_cache)
    @method_decorator(login_not_required)
    def login(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        """Ask for name and password. `backoffice.second_factor` adds the second step."""
        if request.method == "GET" and self.has_permission(request):
            return HttpResponseRedirect(reverse("admin:index", current_app=self.name))
        context = {
            **self.each_context(request),
            "title": "Sign in",
            "app_path": request.get_full_path(),
            "username": request.user.get_username(),
            "vouching": settings.OPENID_APPS,
            **(extra_context or {}),
        }
        if REDIRECT_FIELD_NAME not in {**request.GET, **request.POST}:
            context[REDIRECT_FIELD_NAME] = reverse("admin:index", current_app=self.name)
        request.current_app = self.name
        view = SignInView.as_view(
            extra_context=context, authentication_form=SignInForm, template_name="admin/login.html"
        )
        return cast(HttpResponse, view(request))

    def index(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> TemplateResponse:
        gathered = gather(kinds_for(request.user), DeskFilter(), ROWS_ON_HOME, exact=True)
        context = rows_context(request, gathered)
        context["approvals"] = waiting_for(request.user)
        if request.user.has_perms(["accounts.view_supplier", "orders.view_order"]):
            context["market"] = cached_market()
        return super().index(request, {**context, **(extra_context or {})})
