"""The changes of the desk since a page was shown: the counts, and the rows whose HTML has changed."""

from __future__ import annotations

import hashlib
import re

from django.contrib.admin import AdminSite
from django.http import HttpRequest, JsonResponse
from django.template.loader import render_to_string

from backoffice.desk.filter_form import DeskForm
from backoffice.desk.gathering import gather
from backoffice.desk.kinds import kinds_for
from backoffice.desk.pages import PAGE, rows_context

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"')
"""The CSRF token of a form. It differs in each response, so digests of rows leave it out."""
ON_HOME = 10


def changes_page(site: AdminSite, request: HttpRequest) -> JsonResponse:
    """Return the counts, and the keys of the page's rows in order, with the HTML of new and changed rows."""
    form = DeskForm(request.GET)
    wanted = form.wanted(request.user.get_username())
    count = ON_HOME if "home" in request.GET else PAGE
    gathered = gather(kinds_for(request.user), wanted, count, request.GET.get("start", ""), exact=True)
    known = dict(part.rpartition(":")[::2] for part in request.GET.get("have", "").split(",") if ":" in part)
    context = rows_context(request, gathered) | {"here": request.GET.get("here", "/admin/desk/")}
    rows = []
    for item in gathered.items:
        html = render_to_string("admin/desk_row.html", {**context, "item": item}, request)
        digest = hashlib.sha256(TOKEN.sub("", html).encode()).hexdigest()[:12]
        row = {"key": item.key, "digest": digest}
        rows.append(row if known.get(item.key) == digest else {**row, "html": html})
    counts = {kind.name: count for kind, count in gathered.counts if count >= 0}
    return JsonResponse({"total": gathered.total, "counts": counts, "rows": rows})
