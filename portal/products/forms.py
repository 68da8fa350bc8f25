"""Forms of a supplier's products. They keep typed values if a file or a colleague was faster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from accounts.actors import Actor
from api.errors import ApiError
from catalog.forms import VariantForm
from catalog.models import Variant


class ProductForm(VariantForm):
    """The values that a list of products edits in place."""

    class Meta:
        model = Variant
        fields: ClassVar[Any] = ("title", "retail_price", "wholesale_price")

    def __init__(self, variant: Variant, sent: Mapping[str, object] | None = None) -> None:
        super().__init__(sent, instance=variant, prefix=str(variant.pk))
        for name, field in self.fields.items():
            field.widget.attrs["aria-label"] = f"{field.label} of {variant.sku}"
            if name != "title":
                field.widget.attrs |= {"inputmode": "decimal", "step": "any"}

    def save_values(self, *, by: Actor) -> bool:
        """Save the changed values; return whether any changed. Faults become errors of the form."""
        if not self.is_valid():
            return False
        try:
            return self.apply(by=by)
        except ApiError as error:
            self.add_error(None, error.message)
            return False


class ProductPageForm(ProductForm):
    """The values that the page of a product edits."""

    class Meta(ProductForm.Meta):
        fields: ClassVar[Any] = ("title", "retail_price", "wholesale_price", "special_sale_price")
