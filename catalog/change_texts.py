"""The changes of a variant as people read them."""

from __future__ import annotations

from catalog.models import VariantChange


def old_and_new(change: VariantChange) -> list[tuple[str, str, str]]:
    """Return each changed field with its old and new value; an empty value is shown as a dash."""
    return [
        (name.replace("_", " "), *(_text(values.get(side)) for side in ("from", "to")))
        for name, values in change.changed.items()
    ]


def _text(value: object) -> str:
    return {None: "–", "": "–", True: "yes", False: "no", "true": "yes", "false": "no"}.get(
        value if isinstance(value, str | bool | None) else str(value), str(value)
    )
