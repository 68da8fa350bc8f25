"""Forms of a supplier's products.

If a file or a colleague changed the same value while the form was open, the form shows both values and saves
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from api.form_fields import UNSEPARATED
from catalog.forms import VariantForm
from catalog.models import Variant
from portal.row_forms import RowForm


class ProductForm(RowForm, VariantForm):
    """The form of a product in the list, which edits some values in place."""

    description_bullets = None  # type: ignore[assignment]  # Django removes a field that is None
    """Remove the operators' field. Without the stored bullets, it looked empty, and a save replaced them."""

    class Meta:
        model = Variant
        fields: ClassVar[Any] = ("title", "retail_price", "wholesale_price")

    def __init__(self, variant: Variant, sent: Mapping[str, object] | None = None) -> None:
        super().__init__(sent, instance=variant, prefix=str(variant.pk))
        self.leave_out_hidden()
        for name, field in self.fields.items():
            field.widget.attrs["aria-label"] = f"{field.label} of {variant.sku}"
            if name != "title":
                field.widget.attrs |= {"inputmode": "decimal", "step": "any"}
                field.error_messages["invalid"] = f"Enter a number. {UNSEPARATED}"


class ProductPageForm(ProductForm):
    """The form on the page of a product."""

    class Meta(ProductForm.Meta):
        fields: ClassVar[Any] = ("title", "retail_price", "wholesale_price", "special_sale_price")
