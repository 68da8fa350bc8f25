"""Save the form of a product once, however often it is sent."""

from __future__ import annotations

from uuid import UUID, uuid5

from accounts.actors import Actor
from accounts.models import Result
from accounts.operating.bulk_actions import record_single
from accounts.operating.operator_actions import AdminAction, NothingChanged
from catalog.models import Variant
from portal.products.forms import ProductForm

NOTHING = "Nothing was changed: the form has no new values."


def save_product(form: ProductForm, *, by: Actor, form_id: UUID | None) -> tuple[Result, str]:
    """Save the changed values of a product in its own transaction. An ApiError becomes a form error.

    If the same page is sent again, nothing changes.
    """
    if not form.is_valid():
        return Result.REFUSED, ""
    if not form.has_changed():
        return Result.UNCHANGED, NOTHING
    variant = form.instance
    once = uuid5(form_id, str(variant.pk)) if form_id else None  # a page has several products
    result, message = record_single(SAVE, variant, by=by, answers={"form": form}, form_id=once)
    if result is Result.REFUSED:
        form.add_error(None, message)
    return result, message


def _save(variant: Variant, by: Actor, answers: dict[str, object]) -> str:
    form = answers["form"]
    assert isinstance(form, ProductForm)
    if not form.apply(by=by):
        raise NothingChanged(NOTHING)
    return f"{variant.sku} is changed."


def _always(variant: Variant) -> str:
    return ""


SAVE = AdminAction[Variant]("save-product", "Save product", _save, _always, undo="Enter the old values.")
