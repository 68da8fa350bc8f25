"""Template tags of the design system. They are builtins: templates do not load them."""

from __future__ import annotations

from datetime import datetime

from django import template
from django.forms import BaseForm
from django.template.context import Context
from django.templatetags.static import static
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ui import badges

register = template.Library()


@register.simple_tag
def icon(name: str) -> SafeString:
    """Return an icon, hidden from screen readers: the text beside the icon has the same meaning."""
    url = f"{static('ui/icons.svg')}#{name}"
    return format_html('<svg class="ui-icon" aria-hidden="true"><use href="{}"/></svg>', url)


@register.simple_tag
def badge(state: object, meaning: str = "") -> SafeString:
    return badges.badge(state, meaning)


@register.filter(expects_localtime=True)
def moment(value: datetime | None) -> str:
    """Format a moment with its time. Add the year if it is not the current year."""
    if not value:
        return ""
    is_this_year = value.year == timezone.localdate().year
    return date_format(value, "j M, H:i" if is_this_year else "j M Y, H:i")


@register.simple_tag
def plain_labels(form: BaseForm | str | None) -> str:
    """Remove the colon after each label of the form. Templates have no other way to set `label_suffix`."""
    if isinstance(form, BaseForm):  # a page of an action may have no form
        form.label_suffix = ""
    return ""


@register.simple_block_tag(takes_context=True)
def ui(context: Context, content: str, component: str, **values: object) -> SafeString:
    """Render `templates/ui/<component>.html` around the content: `{% ui "card" %}…{% endui %}`."""
    assert context.template is not None  # Django sets it while a template is rendered
    file = context.template.engine.get_template(f"ui/{component}.html")
    return file.render(context.new({**values, "body": content}))
