"""Template filters for ages and durations."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def first_unit(age: str) -> str:
    """Return the first number of an age with its unit of time: "3 hours, 18 minutes" becomes "3 hours".

    Django's space between them never wraps. Replace this space, because a narrow card would break the word.
    """
    return age.partition(",")[0].replace("\xa0", " ")


@register.filter
def lasting(seconds: float) -> str:
    """Return a duration in days, hours, minutes or seconds: 2144 seconds become "36 min"."""
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
