from __future__ import annotations

import factory

from catalog.models import Variant
from tests.factories.accounts import SupplierFactory
from tests.factories.base import ModelFactory


class VariantFactory(ModelFactory[Variant]):
    class Meta:
        model = Variant

    supplier = factory.SubFactory(SupplierFactory)
    sku = factory.Sequence(lambda n: f"SKU-{n}")
    title = factory.LazyAttribute(lambda variant: f"{variant.supplier.name} {variant.sku}")
    retail_price = "19.99"
