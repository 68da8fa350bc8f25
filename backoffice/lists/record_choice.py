"""A field that chooses one of many records by its name."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.contrib.admin import ModelAdmin
from django.core.exceptions import ValidationError
from django.db.models import ForeignKey, Model, QuerySet
from django.forms.widgets import Script
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

Search = Callable[[QuerySet[Model], str], QuerySet[Model]]
NAMED = 5
# The typed text is an id, or "name (id 12)". No name of a record ends with "(id 12)". Only the id of the text
# counts, so a renamed record is found, too.
ID = re.compile(r"([0-9]{1,18})|.*\(id ([0-9]{1,18})\)", re.ASCII | re.DOTALL)


class RecordInput(forms.TextInput):
    """A text input for the name of a record. It proposes names while the user types."""

    choices: Any  # the form field sets this attribute to its choices, which have a `queryset`

    class Media:
        js = (Script("ui/record_choice.js", defer=True),)

    def format_value(self, value: object) -> str | None:
        """Show the name and the id of a record. Typed text stays unchanged."""
        if not str(value or "").isdecimal():
            return str(value) if value else None
        record = self.choices.queryset.filter(pk=value).first()
        return f"{record} (id {record.pk})" if record else str(value)

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        list_id = f"{name}-choices"
        box = super().render(name, value, {**(attrs or {}), "list": list_id}, renderer)
        return format_html('{}<datalist id="{}"></datalist>', box, list_id)


class RecordField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """A choice of a record by its id, by "name (id 12)", or by any text that finds only one record.

    Without JavaScript, the input proposes no names, and users type one of these texts.
    """

    widget = RecordInput

    def __init__(self, *args: Any, search: Search, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.search = search

    def to_python(self, value: object) -> Model | None:
        """Return the record, or None for an empty text.

        Raises:
            ValidationError: no record or more than one record matches the text.
        """
        text = str(value or "").replace("\0", "").strip()
        rows = cast("QuerySet[Model]", self.queryset)
        by_id = ID.fullmatch(text)
        record = rows.filter(pk=by_id[1] or by_id[2]).first() if by_id else None
        return record if record or not text else self._found(rows, text)

    def has_changed(self, initial: object, data: object) -> bool:
        """Return whether the text names another record than the initial record. Invalid text is a change."""
        try:
            record = self.to_python(data)
        except ValidationError:
            return True
        return str(self.prepare_value(initial) or "") != str(record.pk if record else "")

    def _found(self, rows: QuerySet[Model], text: str) -> Model:
        found = self._search(rows, text)
        if len(found) == 1:
            return found[0]
        kind = rows.model._meta.verbose_name
        if not found:
            raise ValidationError(f"No {kind} matches “{text}”. Type a part of its name.", code="no_match")
        names = ", ".join(f"{record} (id {record.pk})" for record in found[:NAMED])
        more = " and others" if len(found) > NAMED else ""
        raise ValidationError(
            f"“{text}” matches more than one {kind}: {names}{more}. Type one with its id.", code="many_match"
        )

    def _search(self, rows: QuerySet[Model], text: str) -> list[Model]:
        """Search for the text. If exactly one result has the text as its full name, return only this record.

        Otherwise return the first results of the search.
        """
        matching = list(self.search(rows, text)[: NAMED + 1])
        named = [record for record in matching if str(record).casefold() == text.casefold()]
        return named if len(named) == 1 else matching


def _search_of_list(
    lookup: ModelAdmin[Any], request: HttpRequest, rows: QuerySet[Model], text: str
) -> QuerySet[Model]:
    """Search like the admin list of the model. A user without the model's view permission finds nothing."""
    if not lookup.has_view_permission(request):
        return rows.none()
    found, _ = lookup.get_search_results(request, rows.order_by(*lookup.get_ordering(request)), text)
    return found


def record_field(
    db_field: ForeignKey[Any, Any], admin: ModelAdmin[Any], request: HttpRequest
) -> dict[str, Any]:
    """Return the arguments of the form field, or {} for a field that is not in `autocomplete_fields`."""
    if db_field.name not in admin.get_autocomplete_fields(request):
        return {}
    of_field = {
        "app_label": admin.opts.app_label,
        "model_name": admin.opts.model_name,
        "field_name": db_field.name,
    }
    url = f"{reverse(f'{admin.admin_site.name}:autocomplete')}?{urlencode(of_field)}"
    lookup = admin.admin_site.get_model_admin(db_field.remote_field.model)
    return {
        "form_class": RecordField,
        "widget": RecordInput({"data-choices": url, "autocomplete": "off", "class": "vTextField"}),
        "search": partial(_search_of_list, lookup, request),
    }
