"""The form of the action *Route order again*. The user may choose a supplier that routing asks again."""

from __future__ import annotations

from django import forms

from fulfillments.models import Rejection
from fulfillments.states import State
from orders.models import Order


class RouteAgainForm(forms.Form):
    """A form with the suppliers that refused units of the order, or lost units in a reassignment."""

    supplier = forms.TypedChoiceField(
        required=False,
        coerce=int,
        empty_value=None,
        label="Ask this supplier again",
        help_text="Routing asks the chosen supplier again, although it refused these units or lost them to a "
        "reassignment. It gets the units that it has in stock and lists.",
    )

    @classmethod
    def of(cls, order: Order, sent: dict[str, object] | None) -> RouteAgainForm:
        form = cls(sent)
        refused = Rejection.objects.filter(fulfillment__order=order, ended_at=None)
        refused = refused.exclude(reason=State.WRONG_ADDRESS)
        suppliers = refused.values_list("fulfillment__supplier_id", "fulfillment__supplier__name")
        choices = sorted(set(suppliers), key=lambda supplier: (supplier[1], supplier[0]))
        form.fields["supplier"].choices = [("", "no supplier"), *choices]  # type: ignore[attr-defined]
        if not choices:
            del form.fields["supplier"]
        return form
