from __future__ import annotations

from typing import Any

import factory
from django.db import transaction

from accounts.actors import Actor, ActorKind
from inventory.models import MovementKind, StockLevel, StockMovement, Warehouse
from tests.factories.accounts import SupplierFactory
from tests.factories.base import ModelFactory
from tests.factories.catalog import VariantFactory


class WarehouseFactory(ModelFactory[Warehouse]):
    class Meta:
        model = Warehouse

    supplier = factory.SubFactory(SupplierFactory)
    name = factory.Sequence(lambda n: f"Warehouse {n}")


class StockLevelFactory(ModelFactory[StockLevel]):
    class Meta:
        model = StockLevel

    variant = factory.SubFactory(VariantFactory)
    warehouse = factory.SubFactory(WarehouseFactory, supplier=factory.SelfAttribute("..variant.supplier"))

    @classmethod
    def _create(cls, model_class: type[StockLevel], *args: Any, **fields: Any) -> StockLevel:
        with transaction.atomic():
            level: StockLevel = super()._create(model_class, *args, **fields)
            _opening(level).save()
        return level

    @classmethod
    def create_in_bulk(cls, size: int, **fields: object) -> list[StockLevel]:
        levels = super().create_in_bulk(size, **fields)
        StockMovement.objects.bulk_create([_opening(level) for level in levels])
        return levels


TESTS = Actor(ActorKind.SYSTEM, "system:tests")


def _opening(level: StockLevel) -> StockMovement:
    return StockMovement.of(
        level,
        MovementKind.OPENING,
        on_hand_change=level.on_hand,
        reserved_change=level.reserved,
        by=TESTS,
    )


def set_stock(*, on_hand: int | None = None, reserved: int | None = None, **of: Any) -> None:
    """Set the matching stock rows to these numbers, and write the movements that the ledger needs."""
    with transaction.atomic():
        for level in StockLevel.objects.filter(**of).select_for_update().order_by("pk"):
            before = level.on_hand, level.reserved
            level.on_hand = before[0] if on_hand is None else on_hand
            level.reserved = before[1] if reserved is None else reserved
            level.save(update_fields=["on_hand", "reserved"])
            StockMovement.of(
                level,
                MovementKind.ADJUST,
                on_hand_change=level.on_hand - before[0],
                reserved_change=level.reserved - before[1],
                by=TESTS,
            ).save()
