"""The admin action that changes a party's currency."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Q
from django.db.models.functions import Floor
from django.template.defaultfilters import pluralize

from accounts.actors import Actor
from accounts.models import Retailer, Supplier
from accounts.operating.operator_actions import AdminAction, NothingChanged, Reason, details_paragraph
from api.currencies import CURRENCIES
from catalog.models import PRICE_FIELDS, Variant
from events.changes import change_recorded
from events.models import ACCOUNTS
from fulfillments.models import Fulfillment
from fulfillments.states import UNFINISHED
from orders.models import Order
from orders.processing_state import FINISHED


class CurrencyForm(forms.Form):
    """The form of *Change currency*."""

    currency = forms.ChoiceField(
        choices=[(code, code) for code in sorted(CURRENCIES)],
        help_text="Prices keep their numbers: nothing is converted.",
    )

    @classmethod
    def of(cls, party: Supplier | Retailer, sent: dict[str, object] | None) -> CurrencyForm:
        return cls(sent, initial={"currency": party.currency})


def _change(party: Supplier | Retailer, by: Actor, answers: dict[str, Any]) -> str:
    before, party.currency = party.currency, answers["currency"]
    role = party.role.value
    fields: dict[str, Any] = {"area": ACCOUNTS, "data": {"name": party.name}, role: party}
    if not change_recorded(party, ["currency"], role, by=by, **fields):
        raise NothingChanged(f"The currency of {party} is already {party.currency}.")
    return f"The currency of {party} is {party.currency}. Orders that were placed before keep {before}."


def _effect(party: Supplier | Retailer) -> str:
    kept = "New orders get" if isinstance(party, Retailer) else "Prices keep their numbers in"
    return f"{kept} the new currency. Open orders keep {party.currency}."


def _affected(party: Supplier | Retailer) -> str:
    """Show the affected rows outside the effect, because each new order changes them.

    A changed effect makes the preview stale.
    """
    if isinstance(party, Retailer):
        orders = Order.objects.filter(retailer=party).exclude(processing_state__in=FINISHED)
        return details_paragraph(_keeping(orders.count(), party))
    variants = Variant.objects.filter(supplier=party)
    prices = sum(variants.exclude(**{name: None}).count() for name in PRICE_FIELDS)
    fractions = variants.filter(Q(*_has_fraction(), _connector=Q.OR)).count()
    work = Fulfillment.objects.filter(supplier=party, state__in=UNFINISHED)
    orders_kept = work.values("order_id").distinct().count()
    count = variants.count()
    return details_paragraph(
        f"{prices} price{pluralize(prices)} of {count} variant{pluralize(count)} will have the same number "
        "in the new currency; "
        f"{fractions} variant{pluralize(fractions, ' has,s have')} prices with a fraction. "
        f"{_keeping(orders_kept, party)}"
    )


def _keeping(orders: int, party: Supplier | Retailer) -> str:
    return f"{orders} open order{pluralize(orders, ' keeps,s keep')} {party.currency}."


def _has_fraction() -> list[Q]:
    return [Q(**{f"{name}__gt": Floor(name)}) for name in PRICE_FIELDS]


ACTION = AdminAction[Any](
    "currency",
    "Change currency",
    _change,
    lambda party: "",
    _effect,
    form=CurrencyForm.of,
    details=_affected,
    help_text="The currency of prices, and of orders without a currency of their own.",
    reason=Reason.REQUIRED,
    undo="Change the currency back. Orders that were placed in between keep the new currency.",
)
