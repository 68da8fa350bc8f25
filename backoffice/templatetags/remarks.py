"""Template tags for comments and messages on the page of a record."""

from __future__ import annotations

from django import template
from django.db.models import Model
from django.template.context import Context
from django.urls import reverse

from backoffice.contacts.concerned import PARTIES, WRITABLE
from events.timeline import remark_entries

register = template.Library()


@register.inclusion_tag("admin/record/comment_form.html", takes_context=True)
def comment_form(context: Context, record: Model) -> dict[str, object]:
    """Show the form for a comment to users who may change the record."""
    meta, request = record._meta, context["request"]
    return {
        "may_comment": request.user.has_perm(f"{meta.app_label}.change_{meta.model_name}"),
        "url": reverse("admin:comment", args=[meta.app_label, meta.model_name, record.pk]),
        "looking_url": reverse("admin:looking", args=[meta.app_label, meta.model_name, record.pk]),
        "here": request.get_full_path(),
        "csrf_token": context.get("csrf_token"),
    }


@register.inclusion_tag("admin/contacts/links.html", takes_context=True)
def message_links(context: Context, record: Model) -> dict[str, object]:
    """Show the links to write a message about a record, and to record its answer."""
    meta, request = record._meta, context["request"]
    may_write = type(record) in PARTIES and request.user.has_perm(
        f"{meta.app_label}.change_{meta.model_name}"
    )
    url = reverse("admin:messages", args=[meta.app_label, meta.model_name, record.pk]) if may_write else ""
    return {"url": url, "here": request.get_full_path(), "may_write": meta.label_lower in WRITABLE}


@register.inclusion_tag("admin/record/remarks.html", takes_context=True)
def remarks_on(context: Context, record: Model) -> dict[str, object]:
    """Show the comments and messages of a record whose page has no timeline."""
    entries = remark_entries([(record._meta.label_lower, record.pk)])
    shared = {name: context.get(name) for name in ("request", "csrf_token")}
    return {**shared, "original": record, "entries": entries}
